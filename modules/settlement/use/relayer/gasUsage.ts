import type { BatchPlan } from '../../../../platform/chain/calls/calldata.ts';
import type { Receipt } from '../../../../platform/chain/evidence/receipts.ts';
import { dataFee, inCoinsOf, least, requiredBalance } from '../../../../platform/chain/gas/fees.ts';
import { plannedGas } from '../../../../platform/chain/gas/gasShare.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import { shareGas } from '../../rules/gasShare.ts';
import type { RelayerTransaction } from '../../store/attempts.ts';
import { closeMined } from '../../store/gasUsage.ts';
import type { Payment } from '../../store/payment.ts';
import type { Batch } from '../../store/relayer.ts';
import type { SettlementDeps } from '../deps.ts';

/** Who will bear the gas of a planned batch: its payments' planned costs, added up by site. */
export function sharesOf(plan: Pick<BatchPlan, 'groups'>, payments: readonly Payment[]): ReadonlyMap<string, bigint> {
  const planned = plannedGas(plan.groups);
  const shares = new Map<string, bigint>();
  for (const { tenantId, paymentId } of payments) {
    const gas = planned.get(paymentId);
    if (gas !== undefined) shares.set(tenantId, (shares.get(tenantId) ?? 0n) + gas);
  }
  return shares;
}

/** What a mined transaction cost in all, wei: its gas, and what its bytes cost on the chain below. */
export function costOf(receipt: Pick<Receipt, 'gasUsed' | 'effectiveGasPriceWei' | 'l1FeeWei'>): bigint {
  return receipt.gasUsed * receipt.effectiveGasPriceWei + receipt.l1FeeWei;
}

/** The most that a transaction can have cost by what was signed, wei; its bytes may have cost ten times what was thought of them. */
function mostOf(network: Network, { gasLimit, maxFeeWei, priorityFeeWei, raw }: RelayerTransaction): bigint {
  const fees = { maxFeePerGasWei: maxFeeWei, maxPriorityFeePerGasWei: priorityFeeWei };
  return requiredBalance(gasLimit, fees, 10n * dataFee(network, raw));
}

/** The transaction that used a batch's nonce. */
export interface MinedBatch {
  readonly receipt: Receipt;
  /** The attempt that was mined; undefined: none that is stored. */
  readonly mined: RelayerTransaction | undefined;
  /** Payments that are in the batch still; 0 for a flush. */
  readonly paymentCount: number;
}

/**
 * Closes a batch whose transaction is mined, reverted ones and flushes included: its place in flight is free, and its gas is noted to the
 * sites it was signed for (safety 19). Budgets are in the coin of the first network. Once a batch: a second call changes nothing. What
 * voided a batch served nobody and is charged to nobody but the network's day; it is seen in the metric `svc.relayer.gas` under its kind, as all gas is.
 * A node that tells of more than was signed is believed that much: else one false receipt would spend the day of every site.
 */
export async function closeBatch(
  deps: Pick<SettlementDeps, 'database' | 'metrics' | 'networks'>,
  batch: Batch,
  { receipt, mined, paymentCount }: MinedBatch,
): Promise<void> {
  const { networks } = deps;
  const kind = mined?.kind ?? 'settle';
  const told = costOf(receipt);
  const most = mined === undefined ? told : mostOf(networks.get(batch.network), mined);
  const cost = least(told, most);
  const charged = inCoinsOf(networks.first, networks.get(batch.network), cost);
  const noted = { network: batch.network, wei: cost, chargedWei: charged, gasUsed: receipt.gasUsed };
  const isFirst = await closeMined(deps.database, batch.batchId, noted, (weights) =>
    kind === 'void' ? new Map() : shareGas(charged, weights),
  );
  if (!isFirst) return;
  deps.metrics?.count('svc.relayer.gas', Number(cost), { kind, network: batch.network });
  if (kind === 'settle' && paymentCount > 0) {
    deps.metrics?.record('svc.settle.gas_per_payment', Number(receipt.gasUsed) / paymentCount);
  }
}
