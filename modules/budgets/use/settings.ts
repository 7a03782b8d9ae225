import type { Database, Sql } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { Budget } from '../rules/decide.ts';
import { periodOf } from '../rules/period.ts';
import type { AccountLedger, StoredBudget } from '../store/budgets.ts';
import { closeInSlices, readOpenLedger, writeBudget } from '../store/budgets.ts';

/** Most micro-USDC of a limit: a number that every client can read. */
export const MOST_MICRO = 1_000_000_000_000_000n;

/** A budget, and what is left of it in its period. */
export interface ShownBudget extends StoredBudget {
  readonly spentMicro: bigint;
  /** Never below zero, where a limit was set below what was spent. */
  readonly leftMicro: bigint;
  /** Epoch milliseconds; the period ends where the next begins. */
  readonly periodStartsAtMs: number;
  readonly periodEndsAtMs: number;
}

/**
 * What an account may spend and what is left, without what is released; null: it may spend anything. Writes down what is decided, in slices
 * (`closeInSlices`), so that the next look is a short one. Throws database_unavailable.
 */
export async function readBudget({ database }: { readonly database: Database }, accountId: string): Promise<ShownBudget | null> {
  await closeInSlices(database, accountId);
  return shown(await readOpenLedger(database, accountId));
}

/** The same where nothing may be written. Throws database_unavailable. */
export async function lookAtBudget({ database }: { readonly database: Sql }, accountId: string): Promise<ShownBudget | null> {
  return shown(await readOpenLedger(database, accountId));
}

/**
 * Sets what an account may spend, from the very next purchase on. `ifVersion` is the version that the change was decided by, 0 for none yet.
 * Throws invalid_parameter for an amount that is none, conflict at another version, not_found for an account that was erased, database_unavailable.
 */
export async function setBudget(
  { database }: { readonly database: Database },
  accountId: string,
  budget: Budget,
  ifVersion: number,
): Promise<ShownBudget> {
  const { totalMicro, hostMicro, pageMicro, approveAboveMicro } = budget;
  for (const [parameter, micro] of Object.entries({ totalMicro, hostMicro, pageMicro, approveAboveMicro })) {
    if (micro !== null && (micro < 0n || micro > MOST_MICRO)) {
      throw new ServiceError('invalid_parameter', `${parameter}: must be 0 to ${MOST_MICRO} micro-USDC`, { parameter });
    }
  }
  const written = await writeBudget(database, accountId, budget, ifVersion);
  if (written === 'gone') throw new ServiceError('not_found', 'this account was erased');
  if (written === 'changed') {
    throw new ServiceError('conflict', 'the budget has changed; read it again', { parameter: 'ifVersion' });
  }
  return shown(written) as ShownBudget;
}

function shown(ledger: AccountLedger | null): ShownBudget | null {
  if (!ledger?.budget) return null;
  const { budget, at } = ledger;
  const spentMicro = ledger.spentMicro.get('') ?? 0n;
  const left = budget.totalMicro - spentMicro;
  const { startMs, endMs } = periodOf(budget.period, at.getTime());
  return { ...budget, spentMicro, leftMicro: left > 0n ? left : 0n, periodStartsAtMs: startMs, periodEndsAtMs: endMs };
}
