import type { ObjectRef } from '@pothos/core';
import { ROW_COST } from '../limits/limits.ts';
import type { Types } from '../schema/builder.ts';
import { builder } from '../schema/builder.ts';
import { findNode, nodeId } from '../schema/node.ts';
import { findSite, Tenant } from '../schema/site.ts';

type SchemaTypes = PothosSchemaTypes.ExtendDefaultTypes<Types>;

/** An object that a change was about, by its type and its id within the site. */
interface About<Payload, Checked> {
  readonly type: ObjectRef<SchemaTypes, object>;
  readonly idOf: (payload: Payload, input: Checked) => string;
}

/** What a mutation is about. */
export interface Changes<Payload, Checked> {
  /** The object it changed or made, as a field of the payload. */
  readonly changed?: About<Payload, Checked> & { readonly field: string };
  /** What it took away. */
  readonly deleted?: About<Payload, Checked>;
}

/** What a payload knows of its change besides what it shows. */
const CHANGE = Symbol('change');
interface OfChange {
  readonly [CHANGE]: { readonly tenantId: string; readonly changedId: string | null; readonly deletedId: string | null };
}

/** A payload that knows what it is about. */
export function about<Payload extends object, Checked>(
  { changed, deleted }: Changes<Payload, Checked>,
  tenantId: string,
  [payload, input]: readonly [Payload, Checked],
): Payload & OfChange {
  const changedId = changed?.idOf(payload, input) ?? null;
  const deletedId = deleted?.idOf(payload, input) ?? null;
  return { ...payload, [CHANGE]: { tenantId, changedId, deletedId } };
}

/**
 * Adds to a payload what a cache has to know: the site, and the object that was changed or the id of one that is gone. They are read after
 * the change was made, so that one that cannot be read is null and the change stands.
 */
export function showChange<Payload extends object, Checked>(
  payload: ObjectRef<SchemaTypes, Payload>,
  { changed, deleted }: Changes<Payload, Checked>,
): void {
  builder.objectFields(payload as unknown as ObjectRef<SchemaTypes, OfChange>, (t) => ({
    tenant: t.field({
      type: Tenant,
      nullable: true,
      description: 'The site as it is now: its settings, not its lists and reports.',
      complexity: ROW_COST,
      resolve: ({ [CHANGE]: { tenantId } }, _args, context) => findSite(context, tenantId),
    }),
    ...(changed && {
      [changed.field]: t.field({
        type: changed.type,
        nullable: true,
        description: 'What was changed, as it is now; null: it is not there any more.',
        complexity: ROW_COST,
        resolve: async ({ [CHANGE]: { tenantId, changedId } }, _args, context) => {
          const site = await findSite(context, tenantId);
          return site && changedId !== null ? await findNode(context, changed.type.name, site, changedId) : null;
        },
      }),
    }),
    ...(deleted && {
      deletedId: t.id({
        description: 'The `id` of what is gone, for caches to forget.',
        resolve: ({ [CHANGE]: { tenantId, deletedId } }) => nodeId(deleted.type.name, tenantId, deletedId ?? ''),
      }),
    }),
  }));
}
