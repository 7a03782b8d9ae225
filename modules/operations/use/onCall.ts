import type { Sql } from '../../../db/database.ts';
import type { Wait } from '../rules/waitsFor.ts';
import { waitOf } from '../rules/waitsFor.ts';
import type { UndecidedPayment } from '../store/finds/stuck.ts';
import { listUndecided, readNetworkTroubles } from '../store/finds/stuck.ts';
import type { ReceiverBacklog } from '../store/onCall.ts';
import { listGasBySite, listReceiverBacklogs } from '../store/onCall.ts';

/** What the questions of an operator on call need. */
export interface OnCallDeps {
  readonly database: Sql;
}

/** A payment that waits, for how long, and for what. */
export type StuckPayment = Omit<UndecidedPayment, 'batch' | 'wasLookedAt'> & Wait;

const NO_TROUBLES = { alerts: new Set<string>(), isPaused: false };

/**
 * Undecided payments accepted at least `olderSeconds` ago, the oldest first, each with what it waits for and what to do; `count` is all of
 * them. Decides nothing.
 */
export async function listStuckPayments(
  { database }: OnCallDeps,
  asked: { readonly olderSeconds: number; readonly limit: number },
): Promise<{ readonly count: number; readonly payments: readonly StuckPayment[] }> {
  const [{ count, payments }, troubles] = await Promise.all([listUndecided(database, asked), readNetworkTroubles(database)]);
  const told = payments.map(({ batch, wasLookedAt, ...payment }) => ({
    ...payment,
    ...waitOf({ state: payment.state, batch, wasLookedAt }, troubles.get(payment.network) ?? NO_TROUBLES),
  }));
  return { count, payments: told };
}

/** What a site used of the gas, and which part of all. */
export interface GasOfSite {
  readonly tenantId: string;
  readonly host: string | null;
  readonly wei: string;
  /** 0 to 1. */
  readonly share: number;
}

/** The sites that used most gas in the last `days` days, today included; wei in the coin that budgets count in. */
export async function reportGas(
  { database }: OnCallDeps,
  asked: { readonly days: number; readonly limit: number },
): Promise<{ readonly totalWei: string; readonly sites: readonly GasOfSite[] }> {
  const { totalWei, sites } = await listGasBySite(database, asked);
  const shareOf = (wei: bigint): number => (totalWei === 0n ? 0 : Number((10_000n * wei) / totalWei) / 10_000);
  return { totalWei: `${totalWei}`, sites: sites.map(({ wei, ...site }) => ({ ...site, wei: `${wei}`, share: shareOf(wei) })) };
}

/** Receivers with deliveries that are due, the largest backlog first. */
export function listBacklogs({ database }: OnCallDeps, limit: number): Promise<ReceiverBacklog[]> {
  return listReceiverBacklogs(database, limit);
}
