import type { Database } from '../../../db/database.ts';
import { openPaced } from '../../../platform/pacing/writeBehind.ts';
import type { Sign } from '../../identity/use/keys/authenticate.ts';
import { parseResource } from '../../kernel/hosts/host.ts';
import type { Log } from '../../kernel/log.ts';
import type { HeardOf } from '../store/enforcement.ts';
import { recordLiveness } from '../store/enforcement.ts';

/** Remembers when hosts were last heard of; noting is memory only, so that quotes stay free of the database. */
export interface Liveness {
  /** Notes a sign of a host of a tenant, now. Host '' for a refused key that named no host. Never throws, never waits. */
  note(tenantId: string, host: string, sign: Sign): void;
  /** Writes what is new; rejects when the database does not take it, and keeps it for the next time. */
  flush(): Promise<void>;
  /** Writes a last time and stops. */
  close(): Promise<void>;
}

const FLUSH_MS = 2_000;

/** Opens it; writes every two seconds, a busy host once a minute, since verdicts look at hours. */
export function openLiveness(options: {
  readonly database: Database;
  readonly clock: () => number;
  readonly log: Pick<Log, 'warn'>;
}): Liveness {
  const { database, clock, log } = options;
  const paced = openPaced<{ tenantId: string; host: string; sign: Sign; atMs: number }>({
    clock,
    flushMs: FLUSH_MS,
    write: (signs) => recordLiveness(database, mergeByHost(signs)),
    warn: (error) => log.warn({ error: String(error) }, 'when hosts were last heard of could not be written'),
  });
  return {
    note: (tenantId, host, sign) => paced.note(`${tenantId} ${sign} ${host}`, (atMs) => ({ tenantId, host, sign, atMs })),
    flush: paced.flush,
    close: paced.close,
  };
}

/** Notes a call of a site's gate: for the host it names, when that is the site's; for the site's first host when it names none. */
export function noteCall(
  liveness: Pick<Liveness, 'note'>,
  site: { readonly tenantId: string; readonly hosts: readonly string[] },
  resource: string | undefined,
  sign: Sign,
): void {
  const host = resource === undefined ? site.hosts[0] : parseResource(resource)?.host;
  if (host !== undefined && site.hosts.includes(host)) liveness.note(site.tenantId, host, sign);
}

function mergeByHost(signs: readonly { tenantId: string; host: string; sign: Sign; atMs: number }[]): HeardOf[] {
  const byHost = Map.groupBy(signs, ({ tenantId, host }) => `${tenantId} ${host}`);
  return [...byHost.values()].map((group) => {
    const at = (sign: Sign): number | null => group.find((one) => one.sign === sign)?.atMs ?? null;
    const { tenantId, host } = group[0] as { tenantId: string; host: string };
    return {
      tenantId,
      host,
      quotedAtMs: at('quoted'),
      verifyCalledAtMs: at('verifyCalled'),
      observedAtMs: at('observed'),
      keyRejectedAtMs: at('keyRejected'),
      planGatedAtMs: at('planGated'),
      failedOpenAtMs: at('failedOpen'),
    };
  });
}
