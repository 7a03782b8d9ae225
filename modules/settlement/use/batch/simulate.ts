import { raiseAlert } from '../../../../db/alerts.ts';
import { planBatch } from '../../../../platform/chain/calls/calldata.ts';
import type { Prechecked } from '../../../../platform/chain/precheck.ts';
import { precheck } from '../../../../platform/chain/precheck.ts';
import type { GroupSimulation } from '../../../../platform/chain/router/payees.ts';
import { findBlockedPayees, simulateGroups } from '../../../../platform/chain/router/payees.ts';
import type { Simulation } from '../../../kernel/payment/sight.ts';
import { blockPayee } from '../../store/admission.ts';
import type { Payment } from '../../store/payment.ts';
import type { Chain } from '../deps.ts';
import { batchItem } from './batchItem.ts';

/** What executing a payment now would do, and what the look showed besides. */
export interface Simulated {
  readonly check: Prechecked;
  /** Null when the nonce is used already: then its log tells, not a simulation. */
  readonly simulation: Simulation | null;
}

/**
 * Simulates payments on the chain as it is now, with the groups that several authors' payments make: one read for balance, nonce and
 * transfer, and one for the recipients. A recipient that cannot be paid is marked, so that quotes stop offering it (safety 18). By
 * payment id; one that a single node refuses, while no second one answers, is left out and decided another time. Throws `chain_unavailable`.
 */
export async function simulate(call: Chain, payments: readonly Payment[]): Promise<ReadonlyMap<string, Simulated>> {
  const splits = payments.filter((payment) => payment.legWords !== null);
  const [checks, groups] = await Promise.all([
    precheck(call.rpc, call.network, payments.map(batchItem)),
    simulatePayees(call, splits),
  ]);
  const unpayable = groups.filter((group) => group.kind === 'payee_reverts');
  for (const { payTo, revert } of unpayable) {
    const sellers = payments.filter((payment) => payment.payTo === payTo).map(({ tenantId }) => tenantId);
    await markPayee(call, payTo, revert ?? 'transfer reverts', sellers);
  }
  const found = new Map<string, Simulated>();
  for (const [index, payment] of payments.entries()) {
    const check = checks[index];
    const kinds = groups.filter(({ payTo }) => payTo === payment.payTo).map(({ kind }) => kind);
    const simulation = check && (await simulationOf(call, payment, check, kinds));
    if (check && simulation !== 'unconfirmed') found.set(payment.paymentId, { check, simulation: simulation ?? null });
  }
  return found;
}

/** Null where the nonce is used; `unconfirmed` where one node alone refuses the payment or its recipient, and no second one answers. */
async function simulationOf(
  call: Chain,
  payment: Payment,
  { outcome }: Prechecked,
  groups: readonly GroupSimulation['kind'][],
): Promise<Simulation | null | 'unconfirmed'> {
  if (outcome.kind === 'nonce_used') return null;
  if (outcome.kind === 'unconfirmed') return outcome.kind;
  const isOther = outcome.kind === 'refused' && outcome.reason !== 'settlement_failed';
  if (!isOther && groups.includes('payee_reverts')) return { kind: 'payee_blocked' };
  if (!isOther && groups.includes('unconfirmed')) return 'unconfirmed';
  if (outcome.kind === 'passed' || isOther) return outcome;
  const isBlocked = await isPayeeBlocked(call, payment);
  if (isBlocked === null) return 'unconfirmed';
  return isBlocked ? { kind: 'payee_blocked' } : outcome;
}

/** Simulates the groups that payments make, whatever their payer kind and router, all of them (safety 4, 18). */
async function simulatePayees({ rpc, network }: Chain, payments: readonly Payment[]): Promise<readonly GroupSimulation[]> {
  const simulations: GroupSimulation[] = [];
  for (const together of Map.groupBy(payments, ({ payerKind, router }) => `${payerKind} ${router}`).values()) {
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

/** A transfer to one wallet that the token refuses without naming a cause: is it the payee that it refuses? Null: one node alone says so. */
async function isPayeeBlocked(call: Chain, payment: Payment): Promise<boolean | null> {
  if (payment.legWords !== null) return false;
  const refused = await findBlockedPayees(call.rpc, call.network, [payment.payTo]);
  if (refused === null) return null;
  if (refused.length === 0) return false;
  await markPayee(call, payment.payTo, 'the token refuses transfers to it', [payment.tenantId]);
  return true;
}

/** Marks a recipient as unpayable and alerts these tenants, which sell to it; one that is marked already stays as it is. */
export async function markPayee(
  { deps, network }: Pick<Chain, 'deps' | 'network'>,
  payTo: string,
  detail: string,
  tenantIds: readonly string[],
): Promise<void> {
  if (!(await blockPayee(deps.database, network.id, payTo, detail.slice(0, 500)))) return;
  for (const tenantId of new Set(tenantIds)) await raiseAlert(deps.database, 'payee_blocked', `${network.id} ${payTo}`, tenantId);
}
