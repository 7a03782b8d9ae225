import type { InputObjectRef, ObjectRef } from '@pothos/core';
import type { GraphQLSchema } from 'graphql';
import type { ZodType } from 'zod';
import { z } from 'zod';
import type { Owner } from '../../modules/identity/use/owners/authenticate.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { SiteCall } from '../../modules/tenants/use/change.ts';
import { requireAccountOwner, requireOwned, requireOwner } from '../request/access.ts';
import type { GraphqlContext, GraphqlDeps } from '../request/context.ts';
import type { Types } from '../schema/builder.ts';
import { builder } from '../schema/builder.ts';
import type { Changes } from './changed.ts';
import { about, showChange } from './changed.ts';
import { expecting, REFUSALS } from './refusals.ts';

type SchemaTypes = PothosSchemaTypes.ExtendDefaultTypes<Types>;

/** What every mutation has: what it takes, how that is checked, what it answers. */
interface Mutation<Input extends object, Checked, Payload extends object> {
  readonly description: string;
  readonly input: InputObjectRef<SchemaTypes, Input>;
  /** Checks lengths and shapes that GraphQL's types cannot; null and left out are the same unless it says otherwise. */
  readonly schema: ZodType<Checked, unknown>;
  readonly payload: ObjectRef<SchemaTypes, Payload>;
}

/** A mutation about one site; `tenantId` is a member of its input. */
interface OwnerMutation<Input extends object, Checked, Payload extends object>
  extends Mutation<Input & { tenantId?: string | null | undefined }, Checked, Payload>,
    Changes<Payload, Checked> {
  /** The service that does it; `schema` is the whole one, which no file of a mutation can import. */
  readonly change: (
    deps: GraphqlDeps,
    call: SiteCall & Pick<Owner, 'origin'>,
    input: Checked,
    schema: GraphQLSchema,
  ) => Promise<Payload>;
}

/** What every input says besides what is changed. */
interface Addressed {
  readonly tenantId?: string | null | undefined;
  readonly ifVersion?: number | null;
}

/** What each input begins with. */
export const TENANT_ID = {
  description: 'The site; may be left out by an owner of one site.',
} as const;

/** What an input of a change of prices, pages or the gate may say besides. */
export const IF_VERSION = {
  description:
    'The `version` of the site that the change was decided by: at another one nothing is changed (Conflict). Left out: any.',
} as const;

/**
 * Adds a mutation for owners: `<name>(input: <Name>Input!): <Name>Result`, a union of its payload and the refusals. A key is refused
 * (FORBIDDEN); another owner's site is not found. The audit entry is the service's, in the database transaction of the change.
 */
export function ownerMutation<Input extends object, Checked, Payload extends object>(
  name: string,
  { change, ...mutation }: OwnerMutation<Input, Checked, Payload>,
): void {
  showChange(mutation.payload, mutation);
  addMutation(name, mutation, async (context, given: Addressed, read, schema) => {
    const { userId, tenantId } = requireOwned(context, given.tenantId);
    const actor = { userId, via: context.owner?.via ?? 'token' } as const;
    const { ifVersion } = given;
    const origin = context.owner?.origin;
    const call = { actor, tenantId, ...(origin ? { origin } : {}), ...(typeof ifVersion === 'number' ? { ifVersion } : {}) };
    const input = read();
    return about(mutation, tenantId, [await change(changesOf(context), call, input, schema), input]);
  });
}

/** The same for what is about no site that is there yet. */
export function beginnerMutation<Input extends object, Checked, Payload extends object>(
  name: string,
  {
    change,
    ...mutation
  }: Mutation<Input, Checked, Payload> & {
    readonly change: (deps: GraphqlDeps, owner: Owner, input: Checked) => Promise<Payload>;
  },
): void {
  addMutation(name, mutation, async (context, _given, read) => {
    requireOwner(context);
    return await change(changesOf(context), context.owner as Owner, read());
  });
}

/** The same for the owner of a buyer account; an agent's key and callers of a site are refused (FORBIDDEN). */
export function accountMutation<Input extends object, Checked, Payload extends object>(
  name: string,
  {
    change,
    ...mutation
  }: Mutation<Input, Checked, Payload> & {
    readonly change: (deps: GraphqlDeps, accountId: string, input: Checked) => Promise<Payload>;
  },
): void {
  const authScopes = { accountOwner: true } as const;
  addMutation(name, { ...mutation, authScopes }, async (context, _given, read) => {
    const { accountId } = requireAccountOwner(context);
    return await change(changesOf(context), accountId, read());
  });
}

function addMutation<Input extends object, Checked, Payload extends object>(
  name: string,
  {
    description,
    input,
    schema,
    payload,
    authScopes = { owner: true },
  }: Mutation<Input, Checked, Payload> & { readonly authScopes?: { readonly owner: true } | { readonly accountOwner: true } },
  make: (context: GraphqlContext, given: Input, read: () => Checked, schema: GraphQLSchema) => Promise<Payload>,
): void {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  builder.mutationField(name, (t) =>
    t.field({
      type: payload,
      nullable: true,
      description,
      authScopes,
      errors: {
        types: REFUSALS,
        directResult: true,
        union: { name: `${title}Result`, description: `What became of ${name}: its payload, or why nothing was changed.` },
      },
      args: { input: t.arg({ type: input, required: true, description: `What to do; see ${title}Input.` }) },
      resolve: (_root, args, context, info) =>
        expecting(async () => {
          const given = (args as unknown as { readonly input: Input }).input;
          return await make(context, given, () => checked(schema, given), info.schema);
        }) as never,
    }),
  );
}

/** What changes run with; there is none where questions alone are answered, and the handler sends no change there. */
function changesOf({ changes }: GraphqlContext): GraphqlDeps {
  if (changes === null) throw new Error('a mutation reached the query thread');
  return changes;
}

/** Checks an input; throws invalid_parameter with the place. */
export function checked<T>(schema: ZodType<T, unknown>, input: unknown): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const parameter = issue?.path.map(String).join('.') ?? '';
  throw new ServiceError(
    'invalid_parameter',
    `${parameter === '' ? 'input' : parameter}: ${issue?.message ?? 'not as expected'}`,
    {
      parameter,
    },
  );
}

/** An id of a row of the site. What is no id at all is not found either. */
export const id = (what: string) =>
  z.string().transform((text) => {
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
    throw new ServiceError('not_found', `this site has no such ${what}`);
  });

/** Text of 1 to `max` characters without control characters; the module knows the finer rules. */
export const line = (max: number) =>
  z
    .string()
    .min(1, 'is empty')
    .max(max, `has more than ${max} characters`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come in
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'has a control character')
    .refine((text) => text.isWellFormed(), 'is not well-formed text');

/** Makes a member that may be left out or null: both are undefined afterwards. */
export const optional = <T>(schema: ZodType<T, unknown>) => schema.nullish().transform((value) => value ?? undefined);
