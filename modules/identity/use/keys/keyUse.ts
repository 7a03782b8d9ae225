import type { Database } from '../../../../db/database.ts';
import { openPaced } from '../../../../platform/pacing/writeBehind.ts';
import type { Log } from '../../../kernel/log.ts';
import { recordKeyUse } from '../../store/keys.ts';

/** Remembers when publisher keys were last let in, to the minute. */
export interface KeyUse {
  /** Notes that a key was let in now. Never throws, never waits. */
  note(key: { readonly tenantId: string; readonly keyId: string }): void;
  /** Writes what is new; rejects when the database does not take it, and keeps it for the next time. */
  flush(): Promise<void>;
  /** Writes a last time and stops. */
  close(): Promise<void>;
}

const FLUSH_MS = 10_000;

/** Opens it; writes every ten seconds. */
export function openKeyUse(options: {
  readonly database: Database;
  readonly clock: () => number;
  readonly log: Pick<Log, 'warn'>;
}): KeyUse {
  const { database, clock, log } = options;
  const paced = openPaced<{ tenantId: string; keyId: string; atMs: number }>({
    clock,
    flushMs: FLUSH_MS,
    write: (entries) => recordKeyUse(database, entries),
    warn: (error) => log.warn({ error: String(error) }, 'when keys were last used could not be written'),
  });
  return {
    note: ({ tenantId, keyId }) => paced.note(keyId, (atMs) => ({ tenantId, keyId, atMs })),
    flush: paced.flush,
    close: paced.close,
  };
}
