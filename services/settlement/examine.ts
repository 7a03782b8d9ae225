import { planBatch } from '../../chain/calldata.ts';
import type { Network } from '../../chain/network.ts';
import type { GroupSimulation } from '../../chain/payees.ts';
import { findBlockedPayees, simulateGroups } from '../../chain/payees.ts';
import type { Prechecked } from '../../chain/precheck.ts';
import { precheck } from '../../chain/precheck.ts';
import type { Rpc } from '../../chain/rpc.ts';
import { blockPayee, listBlockedPayees, raiseAlert } from '../../db/settlement/admission.ts';
import { recordPrecheck } from '../../db/settlement/claim.ts';
import type { Occurrence } from '../../db/settlement/outcome.ts';
import type { Payment } from '../../db/settlement/payment.ts';
import { checkTimes } from '../../domain/authorization.ts';
import type { FailureReason } from '../../domain/errors.ts';
import type { SettlementDeps } from './deps.ts';
import { judgeUsedNonce } from './evidence.ts';
import { batchItem, isReadable } from './items.ts';

/** What looking at accepted payments found: which may be sent, and what happened to the others. */
export interface Examined {
  readonly sendable: readonly Payment[];
  readonly occurrences: readonly Occurrence[];
}

/**
 * Looks at accepted payments before their first byte is sent (safety 8, 10, 18): whether the row can be read at all, so that a broken
 * one fails alone and not the batch; time left, blocked recipients, then one read of the chain for balance, nonce and simulation,
 * and one for the recipients. Outages throw; nothing is decided.
 */
export async function examine(deps: SettlementDeps, network: Network, rpc: Rpc, payments: readonly Payment[]): Promise<Examined> {
  const nowSeconds = Math.floor(deps.now() / 1000);
  const blocked = await listBlockedPayees(
    deps.database,
    network.id,
    payments.map((payment) => payment.payTo),
  );
  const occurrences: Occurrence[] = [];
  const candidates: Payment[] = [];
  for (const payment of payments) {
    if (!isReadable(payment)) {
      await raiseAlert(deps.database, 'payment_unreadable', `payment ${payment.paymentId}`, payment.tenantId);
      occurrences.push(refusedEvent(payment, 'malformed_payment', 'unreadable_row', SENTENCES.malformed_payment));
      continue;
    }
    const late = checkTimes(batchItem(payment).authorization, nowSeconds, network);
    if (late) occurrences.push(refusedEvent(payment, late.reason, late.raw, late.sentence));
    else if (blocked.has(payment.payTo)) occurrences.push(payeeBlocked(payment));
    else candidates.push(payment);
  }
  if (candidates.length === 0) return { sendable: [], occurrences };
  const [checks, payeeFailures] = await Promise.all([
    precheck(rpc, network, candidates.map(batchItem)),
    listPayeeFailures(deps, network, rpc, candidates),
  ]);
  await notePrechecks(deps, candidates, checks);
  const sendable: Payment[] = [];
  for (const [index, payment] of candidates.entries()) {
    const check = checks[index];
    if (!check) continue;
    const failure = await judge(deps, network, rpc, payment, check);
    if (failure === 'later') continue;
    if (failure) occurrences.push(failure);
    else if (payeeFailures.has(payment.payTo)) occurrences.push(payeeBlocked(payment));
    else sendable.push({ ...payment, lane: check.lane });
  }
  return { sendable, occurrences };
}

/** Null when the payment may be sent, `later` when the chain must be asked again, or what happened to it. */
async function judge(
  deps: SettlementDeps,
  network: Network,
  rpc: Rpc,
  payment: Payment,
  check: Prechecked,
): Promise<Occurrence | 'later' | null> {
  if (check.outcome.kind === 'passed') return null;
  if (check.outcome.kind === 'nonce_used') return (await judgeUsedNonce(deps, network, rpc, payment)) ?? 'later';
  const { reason, raw } = check.outcome;
  if (reason === 'settlement_failed' && (await isPayeeBlocked(deps, network, rpc, payment))) return payeeBlocked(payment);
  return refusedEvent(payment, reason, raw, SENTENCES[reason]);
}

/** What a caller is told when an author cannot be paid. */
export const SENTENCE_BLOCKED = 'an author of this page cannot receive payments at present';

/** What a caller is told for a reason that only the chain could name. */
export const SENTENCES: Readonly<Record<FailureReason, string>> = {
  insufficient_funds: 'the payer does not hold enough of the asset',
  authorization_invalid: 'the token does not accept this authorization',
  malformed_payment: 'the payment cannot be read',
  network_unsupported: 'the asset or network is not supported',
  settlement_failed: 'the token refuses this transfer',
};

function refusedEvent(payment: Payment, reason: FailureReason, rawReason: string, sentence: string): Occurrence {
  return { tenantId: payment.tenantId, paymentId: payment.paymentId, event: { type: 'refused', reason }, rawReason, sentence };
}

function payeeBlocked(payment: Payment): Occurrence {
  return refusedEvent(payment, 'settlement_failed', 'payee_blocked', SENTENCE_BLOCKED);
}

/** Stores at which block each nonce was seen unused, and the lane the payer needs (safety 2, 9). */
async function notePrechecks(deps: SettlementDeps, payments: readonly Payment[], checks: readonly Prechecked[]): Promise<void> {
  const notes = payments.flatMap((payment, index) => {
    const check = checks[index];
    if (!check || check.nonceUsed) return [];
    return [{ tenantId: payment.tenantId, paymentId: payment.paymentId, unusedAtBlock: check.blockNumber, lane: check.lane }];
  });
  await recordPrecheck(deps.database, notes);
}

/** Recipients whose authors' transfers revert; each is marked, so that quotes stop offering it (safety 18). */
async function listPayeeFailures(
  deps: SettlementDeps,
  network: Network,
  rpc: Rpc,
  payments: readonly Payment[],
): Promise<ReadonlySet<string>> {
  const split = payments.filter((payment) => payment.legWords !== null);
  if (split.length === 0) return new Set();
  const failures = (await simulatePayees(rpc, network, split)).filter((group) => group.kind === 'payee_reverts');
  for (const failure of failures)
    await markPayee(deps, network.id, failure.payTo, failure.revert ?? 'transfer reverts', payments);
  return new Set(failures.map((failure) => failure.payTo));
}

/** Simulates the groups that payments make, whatever their lane and router, all of them (safety 4, 18). */
export async function simulatePayees(
  rpc: Rpc,
  network: Network,
  payments: readonly Payment[],
): Promise<readonly GroupSimulation[]> {
  const simulations: GroupSimulation[] = [];
  for (const together of Map.groupBy(payments, ({ lane, router }) => `${lane} ${router}`).values()) {
    const routed = { ...network, router: together[0]?.router ?? network.router };
    let left = together.map(batchItem);
    while (left.length > 0) {
      const plan = planBatch(left, routed);
      simulations.push(...(await simulateGroups(rpc, routed, plan.groups)));
      const leftOut = new Set(plan.leftOut);
      left = left.filter((item) => leftOut.has(item.paymentId));
    }
  }
  return simulations;
}

/** A transfer to one wallet that the token refuses without naming a cause: is it the payee that it refuses? */
export async function isPayeeBlocked(deps: SettlementDeps, network: Network, rpc: Rpc, payment: Payment): Promise<boolean> {
  if (payment.legWords !== null) return false;
  const refused = await findBlockedPayees(rpc, network, [payment.payTo]);
  if (refused.length === 0) return false;
  await markPayee(deps, network.id, payment.payTo, 'the token refuses transfers to it', [payment]);
  return true;
}

/** Marks a recipient as unpayable and alerts the tenants that sell to it. */
export async function markPayee(
  deps: SettlementDeps,
  networkId: string,
  payTo: string,
  detail: string,
  payments: readonly Payment[],
): Promise<void> {
  if (!(await blockPayee(deps.database, networkId, payTo, detail.slice(0, 500)))) return;
  const tenants = new Set(payments.filter((payment) => payment.payTo === payTo).map((payment) => payment.tenantId));
  for (const tenantId of tenants) await raiseAlert(deps.database, 'payee_blocked', `${networkId} ${payTo}`, tenantId);
}
