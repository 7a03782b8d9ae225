import { z } from 'zod';
import type { MintedKey } from '../../modules/identity/use/keys/keys.ts';
import { mintSiteConnectKey, mintSiteKey, revokeSiteKey } from '../../modules/identity/use/siteKeys.ts';
import { MINTABLE_SCOPES } from '../../modules/kernel/access/key.ts';
import { builder } from '../schema/builder.ts';
import { MintableScope } from '../schema/enums.ts';
import { KeyType } from '../types/account.ts';
import { id, line, optional, ownerMutation, TENANT_ID } from './field.ts';

const MintKeyPayload = builder.objectRef<MintedKey>('MintKeyPayload').implement({
  description: 'A key just minted.',
  fields: (t) => ({
    keyId: t.exposeID('keyId', { description: 'Names the key; it is no secret.' }),
    token: t.exposeString('token', { description: 'The key itself. It is shown this once and cannot be read again.' }),
  }),
});

ownerMutation('mintKey', {
  description: 'Mints a publisher key, at most 20 active ones a site. None has `domain.manage`: see `mintConnectKey`.',
  input: builder.inputType('MintKeyInput', {
    description: 'A key to mint.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      name: t.string({ required: true, description: 'What it is for, 1 to 100 characters.' }),
      scopes: t.field({ type: [MintableScope], required: true, description: 'What it may do: at least one.' }),
      expiresAt: t.field({ type: 'EpochMs', description: 'When it ends; left out: never.' }),
      test: t.boolean({ description: 'A test key, whose settlements never count as money; only where they are enabled.' }),
    }),
  }),
  schema: z.object({
    name: line(100),
    scopes: z.array(z.enum(MINTABLE_SCOPES)).min(1, 'is empty').max(MINTABLE_SCOPES.length, 'names a scope twice'),
    expiresAt: optional(z.number()),
    test: optional(z.boolean()),
  }),
  payload: MintKeyPayload,
  changed: { field: 'key', type: KeyType, idOf: ({ keyId }) => keyId },
  change: (deps, call, { name, scopes, expiresAt, test }) =>
    mintSiteKey(deps, call, {
      name,
      scopes,
      isTest: test ?? false,
      ...(expiresAt === undefined ? {} : { expiresAtMs: expiresAt }),
    }),
});

const MintConnectKeyPayload = builder.objectRef<MintedKey>('MintConnectKeyPayload').implement({
  description: 'A connection key just minted.',
  fields: (t) => ({
    keyId: t.exposeID('keyId', { description: 'Names the key; it is no secret.' }),
    token: t.exposeString('token', { description: 'The key itself. It is shown this once and cannot be read again.' }),
  }),
});

ownerMutation('mintConnectKey', {
  description:
    'Mints the key of the WordPress connect preset: `tenant.read` and `domain.manage` for 30 days. `domain.manage` leaves it the moment a host of the site is verified.',
  input: builder.inputType('MintConnectKeyInput', {
    description: 'A connection key to mint.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      name: t.string({ required: true, description: 'Which installation it is for, 1 to 100 characters.' }),
    }),
  }),
  schema: z.object({ name: line(100) }),
  payload: MintConnectKeyPayload,
  changed: { field: 'key', type: KeyType, idOf: ({ keyId }) => keyId },
  change: mintSiteConnectKey,
});

const RevokeKeyPayload = builder.objectRef<{ readonly keyId: string }>('RevokeKeyPayload').implement({
  description: 'A key that is revoked.',
  fields: (t) => ({ keyId: t.exposeID('keyId', { description: 'The key; every call with it is refused from now on.' }) }),
});

ownerMutation('revokeKey', {
  description: 'Revokes a key from the very next call on. Again: it stays revoked.',
  input: builder.inputType('RevokeKeyInput', {
    description: 'A key to revoke.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), keyId: t.id({ required: true, description: 'The key.' }) }),
  }),
  schema: z.object({ keyId: id('key') }),
  payload: RevokeKeyPayload,
  changed: { field: 'key', type: KeyType, idOf: ({ keyId }) => keyId },
  change: async (deps, call, { keyId }) => {
    await revokeSiteKey(deps, call, keyId);
    return { keyId };
  },
});
