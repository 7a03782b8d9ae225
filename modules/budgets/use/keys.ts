import type { Sql, Transactional } from '../../../db/database.ts';
import type { Pepper } from '../../../platform/tokens/pepper.ts';
import { hashCredential } from '../../../platform/tokens/pepper.ts';
import type { AgentKey } from '../../identity/store/accounts.ts';
import { insertAgentKey, listAgentKeys, revokeAgentKeyRow } from '../../identity/store/accounts.ts';
import { generateToken } from '../../identity/use/keys/keys.ts';
import { ServiceError } from '../../kernel/errors.ts';

export type { AgentKey } from '../../identity/store/accounts.ts';

/** Most keys of an account that let somebody in. */
export const MAX_AGENT_KEYS = 20;

/** The keys of an account's agents, oldest first; never the secret. Throws database_unavailable. */
export async function showAgentKeys({ database }: { readonly database: Sql }, accountId: string): Promise<AgentKey[]> {
  return await listAgentKeys(database, accountId);
}

/**
 * Makes a key that buys for an account and changes nothing of it; it is in this answer and never again. Throws conflict at twenty, not_found for
 * an account that was erased, database_unavailable.
 */
export async function mintAgentKey(
  deps: { readonly database: Transactional; readonly pepper: Pepper },
  accountId: string,
  name: string,
): Promise<AgentKey & { readonly token: string }> {
  const token = generateToken('svc_buyer_');
  const { current: keyHash, pepperId } = hashCredential(deps.pepper, token);
  const key = { accountId, name, keyHash, pepperId, last4: token.slice(-4) };
  const made = await deps.database.transaction((sql) => insertAgentKey(sql, key, MAX_AGENT_KEYS));
  if (made === 'full') throw new ServiceError('conflict', `an account has at most ${MAX_AGENT_KEYS} keys; revoke one first`);
  if (made === 'no_account') throw new ServiceError('not_found', 'this account was erased');
  return { ...made, token };
}

/** Revokes a key of an account: gone in the very next call. Again: changes nothing. Throws not_found, database_unavailable. */
export async function revokeAgentKey({ database }: { readonly database: Sql }, accountId: string, keyId: string): Promise<void> {
  if (await revokeAgentKeyRow(database, accountId, keyId)) return;
  throw new ServiceError('not_found', 'this account has no such key');
}
