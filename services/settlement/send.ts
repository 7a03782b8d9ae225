import { planBatch } from '../../chain/calldata.ts';
import { chooseFees, dataFee, requiredBalance } from '../../chain/fees.ts';
import type { Network } from '../../chain/network.ts';
import { SignerError, signedOutside } from '../../chain/signer.ts';
import { baseFeeOf, gasBalance, signTransaction } from '../../chain/transaction.ts';
import { raiseAlert } from '../../db/alerts.ts';
import { claimBatch } from '../../db/settlement/claim.ts';
import type { Payment, PaymentRef } from '../../db/settlement/payment.ts';
import { readOnTheWay } from '../../db/settlement/queue.ts';
import type { SignedBatch } from '../../db/settlement/relayer.ts';
import { findBatch } from '../../db/settlement/relayer.ts';
import { hasPlace } from '../../domain/payment/places.ts';
import { sharesOf } from '../relayer/gasUsage.ts';
import { sendBatch } from '../relayer/lane.ts';
import { choose } from './choose.ts';
import type { Chain, RelayerKey, SettlementDeps } from './deps.ts';
import { chainOf } from './deps.ts';
import { batchItem } from './items.ts';
import type { BatchProposal } from './starter.ts';

/** What sending a proposal came to. */
export interface SendResult {
  /** `sent`: the batch exists and its bytes went out. `busy`: every lane is full, try again. `idle`: nothing to send. */
  readonly kind: 'sent' | 'busy' | 'idle';
  /**
   * Payments that need another batch. Empty unless this call moved something, so that batches which start one another end as soon as
   * nothing can be sent; the sweeper wakes them again.
   */
  readonly rest: readonly PaymentRef[];
}

/**
 * The first activity of a batch (safety 7): chooses from what waits, claims what is still accepted, stores the signed bytes and sends
 * them. A proposal only wakes it: what goes out is decided from rows, so that no site's proposals come before another's. Called again
 * for the same batch it only sends the stored bytes once more; nothing is signed twice.
 */
export async function claimAndSend(
  deps: SettlementDeps,
  proposal: BatchProposal,
  workflowId: string | null,
): Promise<SendResult> {
  const call = chainOf(deps, proposal.network);
  const { network, rpc } = call;
  const earlier = await findBatch(deps.database, proposal.batchId);
  if (earlier) {
    await sendBatch(deps, network, rpc, earlier.batchId);
    return { kind: 'sent', rest: [] };
  }
  deps.crashAt('after_insert');
  const { lanes, tenantIds } = await readOnTheWay(deps.database, network.id);
  const isNew = ({ tenantId }: { readonly tenantId: string }): boolean => !tenantIds.has(tenantId);
  const hasRoom = (isNewcomer: boolean): boolean => lanes.length === 0 || lanes.some((lane) => hasPlace(lane, isNewcomer));
  if (!hasRoom(true)) return { kind: 'busy', rest: [] };
  const isForAll = hasRoom(false);
  const { chosen, left, hasMoved } = await choose(call, proposal.batchId, (tenantId) => isForAll || isNew({ tenantId }));
  if (chosen.length === 0 && !isForAll) return { kind: 'busy', rest: [] };
  if (chosen.length === 0) return { kind: 'idle', rest: hasMoved ? left : [] };
  const routed = { ...network, router: chosen[0]?.router ?? network.router };
  const under = { batchId: proposal.batchId, workflowId, isNewcomer: chosen.every(isNew) };
  const claimed = await claim({ ...call, network: routed }, chosen, under);
  if (claimed === 'busy' || claimed === 'nothing') return { kind: claimed === 'busy' ? 'busy' : 'idle', rest: [] };
  deps.metrics?.record('svc.settle.items_per_batch', claimed.length);
  deps.crashAt('after_sign');
  await sendBatch(deps, network, rpc, proposal.batchId);
  deps.crashAt('after_broadcast');
  return { kind: 'sent', rest: left };
}

/** Claims on the first relayer key with room and gas (safety 8: the balance is checked before a nonce is taken). */
async function claim(
  { deps, network, rpc }: Chain<SettlementDeps>,
  payments: readonly Payment[],
  { isNewcomer, ...under }: { readonly batchId: string; readonly workflowId: string | null; readonly isNewcomer: boolean },
): Promise<readonly Payment[] | 'busy' | 'nothing'> {
  const fees = chooseFees(network, await baseFeeOf(rpc));
  for (const relayer of deps.relayersOf(network.id)) {
    const plan = planBatch(payments.map(batchItem), network);
    if ((await gasBalance(rpc, relayer.address)) < requiredBalance(plan.gasLimit, fees, dataFee(network, plan.data))) {
      await raiseAlert(deps.database, 'relayer_balance', `${network.id} ${relayer.address}`);
      continue;
    }
    const lane = { network: network.id, address: relayer.address, isNewcomer };
    const result = await unlessSignerIsAway(deps, network, relayer, (signer) =>
      claimBatch(deps.database, lane, payments, (rows, nonce) =>
        signBatch(
          network,
          signer,
          rows.map((row) => ({ ...row, lane: laneOf(payments, row) })),
          { nonce, fees, ...under },
        ),
      ),
    );
    if (result === null) continue;
    if (result.kind === 'claimed') return result.payments;
    if (result.kind === 'nothing') return 'nothing';
  }
  return 'busy';
}

/** Null, and an alert, when the key cannot sign now: nothing was claimed, the payments wait for another key or another round. */
async function unlessSignerIsAway<T>(
  deps: SettlementDeps,
  network: Network,
  relayer: RelayerKey,
  work: (signer: RelayerKey) => Promise<T>,
): Promise<T | null> {
  try {
    return await signedOutside(relayer, work);
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    await raiseAlert(deps.database, 'relayer_signer', `${network.id} ${relayer.address}`);
    deps.log.warn({ networkId: network.id, relayer: relayer.address, error: error.message }, 'a relayer key does not sign');
    return null;
  }
}

/** The lane the examination found; the locked row may carry an older one. */
function laneOf(examined: readonly Payment[], row: Payment): Payment['lane'] {
  return examined.find((payment) => payment.paymentId === row.paymentId)?.lane ?? row.lane;
}

async function signBatch(
  network: Network,
  relayer: RelayerKey,
  payments: readonly Payment[],
  under: { nonce: bigint; fees: ReturnType<typeof chooseFees>; batchId: string; workflowId: string | null },
): Promise<{ batch: SignedBatch; taken: ReadonlySet<string> }> {
  const plan = planBatch(payments.map(batchItem), network);
  const { raw, hash } = await signTransaction(relayer, {
    chainId: network.chainId,
    nonce: Number(under.nonce),
    to: plan.to,
    data: plan.data,
    gasLimit: plan.gasLimit,
    fees: under.fees,
  });
  const batch: SignedBatch = {
    batchId: under.batchId,
    workflowId: under.workflowId,
    kind: 'settle',
    network: network.id,
    relayer: relayer.address,
    nonce: under.nonce,
    txHash: hash,
    raw,
    gasLimit: plan.gasLimit,
    maxFeeWei: under.fees.maxFeePerGasWei,
    priorityFeeWei: under.fees.maxPriorityFeePerGasWei,
    gasShares: sharesOf(plan, payments),
  };
  return { batch, taken: new Set(plan.items.map((item) => item.paymentId)) };
}
