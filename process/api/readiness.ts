import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import type { Database } from '../../db/database.ts';
import { requireWritable } from '../../db/database.ts';
import type { SettlementDeps } from '../../modules/settlement/use/deps.ts';
import type { Log } from '../../platform/telemetry/log.ts';
import { requireTemporal } from '../../platform/temporal/connection.ts';
import type { ApiConfig } from '../config.ts';
import type { Part } from '../whileAway.ts';
import { reasonOf } from '../whileAway.ts';

/** What a process stands on. */
export interface Grounds {
  readonly parts: Pick<SettlementDeps, 'networks' | 'rpcOf'>;
  readonly database: Database;
  readonly connection: Connection;
  /** Rejects while the process's clock is wrong. */
  readonly clock: () => Promise<void>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/**
 * Whether the process is ready: what it stands on answers, and it is not about to end. Its end is told before anything closes. A part that
 * stops answering is told in one line of the log, and so is its return; what is away at the start is told without being asked.
 */
export function openReadiness(
  config: Pick<ApiConfig, 'drainNoticeMs'>,
  { parts, database, connection, clock, log }: Grounds,
  closers: (() => Promise<unknown> | unknown)[],
) {
  let isDraining = false;
  closers.push(async () => {
    isDraining = true;
    await sleep(config.drainNoticeMs);
  });
  const networkChecks = checksOf(parts);
  const told = toldOnce(log, () => isDraining);
  const readiness = {
    process: async () => {
      if (isDraining) throw new Error('draining');
    },
    database: told('database', () => requireWritable(database)),
    temporal: told('temporal', () => requireTemporal(connection)),
    clock,
    // One that answers is enough to sell: a balancer that took every process out for one dead network would stop them all.
    chain: told('chain', async () => void (await Promise.any(Object.values(networkChecks).map((check) => check())))),
  };
  void Promise.allSettled([readiness.database(), readiness.temporal(), readiness.chain()]);
  return { readiness, networkChecks };
}

/** Checks of parts that log a line when what they find differs from what they found before. */
function toldOnce(log: Grounds['log'], isEnding: () => boolean) {
  return (part: Part, check: () => Promise<void>): (() => Promise<void>) => {
    let isAway = false;
    return async () => {
      try {
        await check();
      } catch (error) {
        if (!isAway && !isEnding())
          log.warn({ part, error: reasonOf(error) }, 'the part is away: what needs it gets 503, the rest works');
        isAway = true;
        throw error;
      }
      if (isAway) log.info({ part }, 'the part answers');
      isAway = false;
    };
  };
}

/** Whether each network answers, by its id. */
function checksOf({ networks, rpcOf }: Grounds['parts']): Readonly<Record<string, () => Promise<void>>> {
  return Object.fromEntries(networks.ids.map((id) => [id, async () => void (await rpcOf(id).request('eth_blockNumber', []))]));
}
