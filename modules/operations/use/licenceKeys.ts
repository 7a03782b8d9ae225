import type { Database, Sql } from '../../../db/database.ts';
import type { PublishedKey } from '../../identity/store/signingKeys.ts';
import { activateSigningKey, listSigningKeys, lockSigningKeys, retireSigningKey } from '../../identity/store/signingKeys.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { changeAsOperator } from './change.ts';

/** A licence key as operators see it. */
export interface LicenceKeyReport {
  readonly kid: string;
  /** `signs`: of those that are active, the last to become so. `former` ones verify what they signed. */
  readonly state: 'next' | 'signs' | 'former' | 'retired';
  readonly activeFrom: Date;
  readonly retiredAt: Date | null;
}

/** Every licence key that was published, the latest to become active first. Throws database_unavailable. */
export async function reportLicenceKeys({ database }: { readonly database: Database }, at: Date): Promise<LicenceKeyReport[]> {
  return reportOf(await listSigningKeys(database), at);
}

/**
 * Ends a licence key for good: what it signed verifies no more, and it signs nothing. API processes know within the half minute after which they
 * read the keys again. A second call changes nothing and says since when the key is retired. Throws not_found, database_unavailable, and conflict for
 * the key that signs now; where that was stolen (`isStolen`), the next one that is published signs from this moment on, and conflict is
 * thrown only where there is none.
 */
export async function retireLicenceKey(
  deps: { readonly database: Database; readonly clock: () => number },
  actor: Actor,
  { kid, isStolen }: { readonly kid: string; readonly isStolen: boolean },
): Promise<LicenceKeyReport> {
  const at = new Date(deps.clock());
  const find = (keys: readonly PublishedKey[]): LicenceKeyReport => {
    const found = reportOf(keys, at).find((key) => key.kid === kid);
    if (!found) throw new ServiceError('not_found', 'no licence key has this id: see licence-key list');
    return found;
  };
  const stored = find(await listSigningKeys(deps.database));
  if (stored.state === 'retired') return stored;
  const stateOf = async (sql: Sql): Promise<object> => {
    const keys = reportOf(await listSigningKeys(sql), at);
    return { state: keys.find((key) => key.kid === kid)?.state, signs: keys.find(({ state }) => state === 'signs')?.kid };
  };
  return changeAsOperator(deps, actor, {
    action: 'licence.retire_key',
    target: kid,
    look: stateOf,
    make: (database) =>
      database.transaction(async (sql) => {
        const keys = await lockSigningKeys(sql);
        if (find(keys).state === 'signs') {
          const next = reportOf(keys, at).findLast(({ state }) => state === 'next');
          if (!next || !isStolen) throw stillSigns(next);
          await activateSigningKey(sql, next.kid, at);
        }
        await retireSigningKey(sql, kid, at);
        return find(await listSigningKeys(sql));
      }),
  });
}

function stillSigns(next: LicenceKeyReport | undefined): ServiceError {
  const sentence = next
    ? `this key signs until ${next.kid} does, from ${next.activeFrom.toISOString()} on: retire it then, or with --stolen now, once every API process has the next one`
    : 'this key signs now: put a new one first in LICENCE_KEYS of every API process and restart them; it signs a day later, or at once if you then retire this one with --stolen';
  return new ServiceError('conflict', sentence);
}

/** As the processes choose (`Keyring.current`), where they have the private half. */
function reportOf(keys: readonly PublishedKey[], at: Date): LicenceKeyReport[] {
  const isActive = ({ activeFromMs, retiredAtMs }: PublishedKey): boolean => retiredAtMs === null && activeFromMs <= at.getTime();
  const signer = keys.find(isActive);
  return keys.map((key) => {
    const { kid, activeFromMs, retiredAtMs } = key;
    const state = retiredAtMs !== null ? 'retired' : key === signer ? 'signs' : isActive(key) ? 'former' : 'next';
    return { kid, state, activeFrom: new Date(activeFromMs), retiredAt: retiredAtMs === null ? null : new Date(retiredAtMs) };
  });
}
