import type { Database } from '../../../../db/database.ts';
import type { CredentialHash } from '../../../../platform/tokens/pepper.ts';
import type { Log } from '../../../kernel/log.ts';
import type { HashTable } from '../../store/pepper.ts';
import { replaceHash } from '../../store/pepper.ts';

/** Moves stored hashes to the present pepper when their credential is used. */
export interface Rehash {
  /** Notes where a credential was found; only one under the previous pepper is moved. Never throws, never waits. */
  note(table: HashTable, found: Buffer, hash: CredentialHash): void;
  /** Resolves when nothing is on its way any more. */
  settled(): Promise<void>;
}

/** Opens it. One that fails is logged, stays where it is, and is moved when it is found the next time. */
export function openRehash(options: { readonly database: Database; readonly log: Pick<Log, 'warn'> }): Rehash {
  const { database, log } = options;
  const running = new Map<string, Promise<void>>();
  return {
    note: (table, found, hash) => {
      const name = found.toString('latin1');
      if (hash.current.equals(found) || running.has(name)) return;
      const moving = replaceHash(database, table, found, hash)
        .catch((error: unknown) => log.warn({ error: String(error), table }, 'a hash stays under the previous pepper'))
        .finally(() => running.delete(name));
      running.set(name, moving);
    },
    settled: async () => void (await Promise.all(running.values())),
  };
}
