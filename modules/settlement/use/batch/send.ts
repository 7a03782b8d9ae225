import { raiseAlert } from '../../../../db/alerts.ts';
import type { BatchPlan } from '../../../../platform/chain/calls/calldata.ts';
import { planBatch } from '../../../../platform/chain/calls/calldata.ts';
import { chooseFees, dataFee, isFeeAboveCap, requiredBalance } from '../../../../platform/chain/gas/fees.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import { SignerError, signedOutside } from '../../../../platform/chain/signature/signer.ts';
import { signTransaction } from '../../../../platform/chain/transaction.ts';
import { queueHasRoom } from '../../rules/queueRoom.ts';
import type { RelayerTransaction } from '../../store/attempts.ts';
import { claimBatch } from '../../store/claim.ts';
import type { Payment } from '../../store/payment.ts';
import { listWaiting, readOnTheWay } from '../../store/queue.ts';
import type { SignedBatch } from '../../store/relayer.ts';
import type { Chain, RelayerKey, SettlementDeps } from '../deps.ts';
import { chainOf } from '../deps.ts';
import { sendSigned } from '../relayer/broadcast.ts';
import type { Funds } from '../relayer/funds.ts';
import { openFunds } from '../relayer/funds.ts';
import { sharesOf } from '../relayer/gasUsage.ts';
import { batchItem } from './batchItem.ts';
import { choose } from './choose.ts';
import type { Carried } from './confirm.ts';

/** What a flight came to in this process. */
export interface Sent {
  /** `sent`: the batch exists and its bytes went out. `busy`: something waits and cannot go now. `idle`: nothing to send. */
  readonly kind: 'sent' | 'busy' | 'idle';
  /**
   * Payments that wait besides. `now`: they may go at once, in a batch of their own. `later`: once a batch has landed, or a node tells more; trying
   * at once would find the same.
   */
  readonly others: 'none' | 'now' | 'later';
  /** Resolves when what the node said is stored; never rejects. */
  readonly noted: Promise<void>;
}

/** A batch that nobody has tried before. */
export interface NewBatch {
  readonly network: string;
  readonly batchId: string;
  /** The workflow that will stay with it. */
  readonly workflowId: string | null;
  /** Told at once when the claim is committed, before anything leaves the process; with it a batch is confirmed without being read again. */
  readonly onClaimed?: (carried: Carried) => void;
}

/**
 * The first step of a batch (safety 7): chooses from what waits, claims what is still accepted, stores the signed bytes and sends them. What goes
 * out is decided from rows, so that waking it puts no site's payments before another's. Several processes may try at once: claims are
 * compare and set.
 */
export async function claimNew(deps: SettlementDeps, under: NewBatch): Promise<Sent> {
  const call = chainOf(deps, under.network);
  const { network } = call;
  const [{ queues, tenantIds }, all] = await Promise.all([
    readOnTheWay(deps.database, network.id),
    listWaiting(deps.database, network.id, under.batchId),
  ]);
  const isNew = ({ tenantId }: { readonly tenantId: string }): boolean => !tenantIds.has(tenantId);
  const hasRoom = (isNewcomer: boolean): boolean =>
    queues.length === 0 || queues.some((queue) => queueHasRoom(queue, isNewcomer));
  if (!hasRoom(true)) return nothing('busy');
  const isForAll = hasRoom(false);
  const waiting = all.filter((payment) => isForAll || isNew(payment));
  if (waiting.length > 0) deps.crashAt('after_insert');
  const funds = waiting.length > 0 ? openFunds(call) : null;
  const { chosen, isMore, isHeldBack, hasMoved } = await choose(call, waiting);
  const others = isMore ? 'now' : isHeldBack || !isForAll ? 'later' : 'none';
  if (chosen.length === 0 || !funds) return hasMoved ? { ...nothing('idle'), others } : nothing(all.length > 0 ? 'busy' : 'idle');
  const routed = { ...network, router: chosen[0]?.router ?? network.router };
  const claimed = await claim({ ...call, network: routed }, chosen, { ...under, funds, isNewcomer: chosen.every(isNew) });
  if (claimed === 'busy') return nothing('busy');
  if (claimed === 'nothing') return nothing('idle'); // another process took them, and saw what waits besides
  deps.metrics?.record('svc.settle.items_per_batch', claimed.payments.length);
  deps.crashAt('after_sign');
  const carried = carriedOf(claimed, deps.now());
  under.onClaimed?.(carried);
  const [attempt] = carried.attempts;
  const { noted } = await sendSigned(call, { ...carried, attempt }, claimed.pending);
  deps.crashAt('after_broadcast');
  return { kind: 'sent', others, noted };
}

/** Nothing was sent. */
export function nothing(kind: 'busy' | 'idle'): Sent {
  return { kind, others: kind === 'busy' ? 'later' : 'none', noted: Promise.resolve() };
}

/** A claim that succeeded, and the node's count of the queue before it. */
interface Claimed {
  readonly batch: SignedBatch;
  readonly payments: readonly Payment[];
  readonly pending: bigint;
}

/** A claimed batch as the row of it would say. */
function carriedOf({ batch, payments }: Claimed, nowMs: number): Carried & { readonly attempts: readonly [RelayerTransaction] } {
  const at = new Date(nowMs);
  const { batchId, network, relayer: address, kind, nonce } = batch;
  return {
    batch: { batchId, network, address, kind, nonce, state: 'open', createdAt: at },
    attempts: [{ ...batch, attempt: 1, signedAt: at, sentAt: null }],
    payments,
  };
}

/** Claims on the first relayer key with room and gas, at a fee that a block takes (safety 8: the balance is checked before a nonce is taken). */
async function claim(
  { deps, network }: Chain<SettlementDeps>,
  payments: readonly Payment[],
  {
    isNewcomer,
    funds,
    ...under
  }: { readonly batchId: string; readonly workflowId: string | null } & {
    readonly isNewcomer: boolean;
    readonly funds: Funds;
  },
): Promise<Claimed | 'busy' | 'nothing'> {
  const baseFeeWei = await funds.baseFeeWei;
  if (isFeeAboveCap(network, baseFeeWei)) return 'busy';
  const fees = chooseFees(network, baseFeeWei);
  const planned = { payments, plan: planBatch(payments.map(batchItem), network) };
  const needed = requiredBalance(planned.plan.gasLimit, fees, dataFee(network, planned.plan.data));
  for (const relayer of deps.relayersOf(network.id)) {
    const { balanceWei, pending } = await funds.of(relayer.address);
    if (balanceWei < needed) {
      await raiseAlert(deps.database, 'relayer_balance', `${network.id} ${relayer.address}`);
      continue;
    }
    const queue = { network: network.id, address: relayer.address, isNewcomer };
    const result = await unlessSignerIsAway(deps, network, relayer, (signer) =>
      claimBatch(deps.database, queue, payments, (rows, nonce) =>
        signBatch(network, signer, planOf(network, planned, rows), { nonce, fees, ...under }),
      ),
    );
    if (result === null) continue;
    if (result.kind === 'claimed') return { ...result, pending: BigInt(pending) };
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

/** Payments and the transaction that carries them. */
interface Planned {
  readonly payments: readonly Payment[];
  readonly plan: BatchPlan;
}

/** The plan of the locked rows, of the payer kinds that the examination found: the one there is when they are those that were chosen. */
function planOf(network: Network, planned: Planned, rows: readonly Payment[]): Planned {
  const isSame =
    rows.length === planned.payments.length && rows.every((row, at) => row.paymentId === planned.payments[at]?.paymentId);
  if (isSame) return planned;
  const kinds = new Map(planned.payments.map(({ paymentId, payerKind }) => [paymentId, payerKind]));
  const payments = rows.map((row) => ({ ...row, payerKind: kinds.get(row.paymentId) ?? row.payerKind }));
  return { payments, plan: planBatch(payments.map(batchItem), network) };
}

async function signBatch(
  network: Network,
  relayer: RelayerKey,
  { payments, plan }: Planned,
  under: { nonce: bigint; fees: ReturnType<typeof chooseFees>; batchId: string; workflowId: string | null },
): Promise<{ batch: SignedBatch; taken: ReadonlySet<string> }> {
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
