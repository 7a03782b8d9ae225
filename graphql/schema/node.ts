import type { ObjectRef } from '@pothos/core';
import type { Scope } from '../../modules/kernel/access/key.ts';
import { hasControlCharacter } from '../../modules/kernel/hosts/host.ts';
import { LIST_COST } from '../limits/limits.ts';
import { requireOwner, requireReader } from '../request/access.ts';
import type { GraphqlContext } from '../request/context.ts';
import type { Types } from './builder.ts';
import { builder } from './builder.ts';
import { rowId } from './inputs.ts';
import type { Site } from './site.ts';
import { findSite, siteIdOf } from './site.ts';

type SchemaTypes = PothosSchemaTypes.ExtendDefaultTypes<Types>;

/** A row that says whose it is. */
interface OfSite {
  readonly tenantId: string;
}

/** How a type's rows are told apart within their site, and found again. */
interface Identity<Row> {
  /** What a key needs to see them; `owner`: keys never do; null: everybody who sees the site does. */
  readonly reads: Scope | 'owner' | null;
  /** True: ids are those of rows, in lower case, and nothing else is looked up. */
  readonly isRowId?: true;
  readonly idOf: (row: Row) => string;
  /** The row of an id that anybody may have made up; null when the site has none of it. */
  readonly find: (context: GraphqlContext, site: Site, id: string) => Promise<Row | null> | Row | null;
}

const identities = new Map<string, Identity<never>>();

/** What has an id of its own. */
export const Node = builder.interfaceRef<OfSite>('Node').implement({
  description: 'Something with an identity: one id for as long as it exists, whatever query it is met by.',
  fields: (t) => ({
    id: t.id({
      description: 'Names it among everything there is: what caches go by, and `node` takes. Do not take it apart.',
      resolve: (row, _args, _context, info) => {
        const type = info.parentType.name;
        return nodeId(type, row.tenantId, identityOf(type).idOf(row as never));
      },
    }),
  }),
});

/** Says how rows of a type that implements `Node` are told apart and found. */
export function identified<Row extends OfSite>(type: ObjectRef<SchemaTypes, Row>, identity: Identity<Row>): void {
  identities.set(type.name, identity as unknown as Identity<never>);
}

/** The id of a row in `Node`. */
export function nodeId(type: string, tenantId: string, id: string): string {
  return Buffer.from(`${type} ${tenantId} ${id}`).toString('base64url');
}

/** A row of a site by its type and its id within the site; null when the site has none of it. Throws what access throws. */
export async function findNode(context: GraphqlContext, type: string, site: Site, id: string): Promise<OfSite | null> {
  const { reads, isRowId, find } = identityOf(type);
  if (reads === 'owner') requireOwner(context);
  else if (reads !== null) requireReader(context, reads);
  const known = isRowId ? rowId(id) : findable(id);
  return known === null ? null : await find(context, site, known);
}

/** Text that a column can be compared with. */
function findable(id: string): string | null {
  return id === '' || hasControlCharacter(id) || !id.isWellFormed() ? null : id;
}

function identityOf(type: string): Identity<never> {
  const identity = identities.get(type);
  if (!identity) throw new Error(`${type} is no node`);
  return identity;
}

builder.queryField('node', (t) =>
  t.field({
    type: Node,
    nullable: true,
    description:
      'What has this id; null when there is nothing of it, or it belongs to somebody else. Takes the scope of its type.',
    complexity: LIST_COST,
    args: { id: t.arg.id({ required: true, description: 'The `id` of any object.' }) },
    resolve: async (_root, { id }, context) => {
      const [, type = '', tenantId = '', inner = ''] =
        /^(\w+) ([0-9a-f-]{36}) (.*)$/s.exec(Buffer.from(id, 'base64url').toString()) ?? [];
      // Of what is not the caller's nothing is looked up, so that it takes no longer than what does not exist.
      if (!identities.has(type) || siteIdOf(context, tenantId) === null) return null;
      const site = await findSite(context, tenantId);
      const row = site && (await findNode(context, type, site, inner));
      return row && { ...row, __typename: type };
    },
  }),
);
