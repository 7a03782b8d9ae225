import { raiseAlert } from '../../../../db/alerts.ts';
import type { Fees } from '../../../../platform/chain/gas/fees.ts';
import { replaceFees, voidFees } from '../../../../platform/chain/gas/fees.ts';
import { signReplacement } from '../../../../platform/chain/gas/replacement.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import type { Rpc } from '../../../../platform/chain/rpc/rpc.ts';
import type { SendOutcome } from '../../../../platform/chain/transaction.ts';
import { baseFeeOf, sendRaw, signSelfTransfer, transactionCount } from '../../../../platform/chain/transaction.ts';
import { resendFrom } from '../../rules/resend.ts';
import type { RelayerTransaction } from '../../store/attempts.ts';
import { insertAttempt, listAttempts, recordSend } from '../../store/attempts.ts';
import type { Batch } from '../../store/relayer.ts';
import { findBatch, isRelayed, listQueue, setBatchState } from '../../store/relayer.ts';
import type { Chain, RelayerKey, SettlementDeps } from '../deps.ts';

/**
 * Sends a batch's stored bytes, the lower unmined nonces of its queue first (safety 8). What the node refuses for good is
 * replaced at the same nonce by a self-transfer. Any number of calls is harmless: the bytes are the same. A batch that is done
 * is sent only when a reorg took the chain's count below its nonce: false when nothing was sent.
 */
export async function sendBatch(deps: SettlementDeps, network: Network, rpc: Rpc, batchId: string): Promise<boolean> {
  const batch = await findBatch(deps.database, batchId);
  if (!batch || !isRelayed(batch)) return false;
  const address = batch.address as `0x${string}`;
  const [latest, pending] = await Promise.all([
    transactionCount(rpc, address, 'latest'),
    transactionCount(rpc, address, 'pending'),
  ]);
  const from = resendFrom(batch, { latest: BigInt(latest), pending: BigInt(pending) });
  if (from === null) return false;
  const lower = from < batch.nonce ? await listQueue(deps.database, batch, from, batch.nonce) : [];
  for (const one of [...lower, batch]) {
    // A reorg took it: it is looked after again, its fees too, until it is safe once more.
    if (one.state !== 'open') await setBatchState(deps.database, one.batchId, 'open');
    await sendLast(deps, network, rpc, one);
  }
  return true;
}

/** Bytes that were stored this moment, and the batch they are of. */
export interface Signed {
  readonly batch: Batch;
  readonly attempt: RelayerTransaction;
}

/**
 * Sends bytes that were stored this moment, the only ones of their batch. `pending` is the node's count of the queue before their nonce
 * was taken: where it is that nonce, nothing of the queue is missing and they go out at once; otherwise as by `sendBatch`. What the node
 * said is noted beside: `noted` resolves then, and never rejects, since nothing depends on it.
 */
export async function sendSigned(
  call: Chain<SettlementDeps>,
  { batch, attempt }: Signed,
  pending: bigint,
): Promise<{ readonly noted: Promise<void> }> {
  const { deps, network, rpc } = call;
  if (pending !== batch.nonce) {
    await sendBatch(deps, network, rpc, batch.batchId);
    return { noted: Promise.resolve() };
  }
  const outcome = await sendRaw(rpc, attempt.raw);
  const noted = noteSend(deps, attempt, outcome).catch((error: unknown) => {
    deps.log.warn({ batchId: batch.batchId, error: String(error) }, "a node's answer to a transaction could not be recorded");
  });
  await mind(call, { batch, attempt }, outcome);
  return { noted };
}

async function sendLast(deps: SettlementDeps, network: Network, rpc: Rpc, batch: Batch): Promise<void> {
  const last = (await listAttempts(deps.database, batch.batchId)).at(-1);
  if (!last) throw new Error('a batch has no signed bytes');
  const call = { deps, network, rpc };
  await mind(call, { batch, attempt: last }, await sendAttempt(deps, rpc, last));
}

/** What a node refuses for good gives its nonce to a transfer to itself; where gas money is missing, an operator is told. */
async function mind(
  { deps, network, rpc }: Chain<SettlementDeps>,
  { batch, attempt: last }: Signed,
  outcome: SendOutcome,
): Promise<void> {
  if (outcome.kind === 'refused' && last.kind !== 'void') await voidBatch({ deps, network, rpc }, { batch, attempt: last });
  if (outcome.kind === 'relayer_broke') await raiseAlert(deps.database, 'relayer_balance', `${network.id} ${batch.address}`);
}

async function sendAttempt(deps: SettlementDeps, rpc: Rpc, attempt: RelayerTransaction): Promise<SendOutcome> {
  const outcome = await sendRaw(rpc, attempt.raw);
  await noteSend(deps, attempt, outcome);
  return outcome;
}

async function noteSend(deps: SettlementDeps, attempt: RelayerTransaction, { kind, detail }: SendOutcome): Promise<void> {
  const level = kind === 'accepted' || kind === 'known' ? 'info' : 'warn';
  deps.log[level]({ batchId: attempt.batchId, txHash: attempt.txHash, outcome: kind }, 'settlement transaction sent');
  await recordSend(deps.database, attempt, `${kind} ${detail}`.slice(0, 500));
}

/** Voids a batch because an operator asks for it; false for one that is done, or voided already: it stays as it is. */
export async function voidHeldBatch(deps: SettlementDeps, network: Network, rpc: Rpc, batchId: string): Promise<boolean> {
  const batch = await findBatch(deps.database, batchId);
  const last = (await listAttempts(deps.database, batchId)).at(-1);
  if (batch?.state !== 'open' || !last || last.kind === 'void') return false;
  await voidBatch({ deps, network, rpc }, { batch, attempt: last });
  return (await listAttempts(deps.database, batchId)).at(-1)?.kind === 'void';
}

/** Gives a batch a self-transfer as its last bytes, whatever its state; one that has it stays as it is. */
export async function voidStored(deps: SettlementDeps, network: Network, rpc: Rpc, batch: Batch): Promise<void> {
  const last = (await listAttempts(deps.database, batch.batchId)).at(-1);
  if (last && last.kind !== 'void') await voidBatch({ deps, network, rpc }, { batch, attempt: last });
}

/** Puts a self-transfer at the nonce of bytes that can never be mined, or should not be; payments return when it is mined (safety 8). */
async function voidBatch({ deps, network, rpc }: Chain<SettlementDeps>, { batch, attempt: last }: Signed): Promise<void> {
  const relayer = keyOf(deps, batch);
  if (!relayer) return;
  const fees = voidFees(network, feesOf(last), await baseFeeOf(rpc));
  const signed = await signSelfTransfer(relayer, { chainId: network.chainId, nonce: Number(batch.nonce), fees });
  await storeAndSend(
    { deps, network, rpc },
    { batch, attempt: { ...last, kind: 'void', gasLimit: 21_000n } },
    { ...signed, fees },
  );
}

/**
 * Raises the fees of a batch that stays unmined: same nonce, same calldata, all hashes stay watched (safety 8). At the
 * network's cap it raises an alert and leaves the bytes as they are.
 */
export async function raiseFees(deps: SettlementDeps, network: Network, rpc: Rpc, batch: Batch): Promise<void> {
  const last = (await listAttempts(deps.database, batch.batchId)).at(-1);
  const relayer = keyOf(deps, batch);
  if (!last || !relayer || deps.now() - last.signedAt.getTime() < deps.settings.stuckAfterMs) return;
  const fees = replaceFees(network, feesOf(last), await baseFeeOf(rpc));
  if (!fees) {
    await raiseAlert(deps.database, 'relayer_stuck', `${network.id} ${batch.address} nonce ${batch.nonce}`);
    return;
  }
  const signed = await signReplacement(relayer, last.raw, fees);
  await storeAndSend({ deps, network, rpc }, { batch, attempt: last }, { ...signed, fees });
}

/** Bytes are stored before they are sent; when another process stored this attempt first, its bytes are the ones. */
async function storeAndSend(
  { deps, network, rpc }: Chain<SettlementDeps>,
  { batch, attempt: last }: Signed,
  { raw, hash, fees }: { readonly raw: `0x${string}`; readonly hash: `0x${string}`; readonly fees: Fees },
): Promise<void> {
  await insertAttempt(deps.database, {
    batchId: batch.batchId,
    attempt: last.attempt + 1,
    network: network.id,
    relayer: batch.address,
    nonce: batch.nonce,
    kind: last.kind,
    txHash: hash,
    raw,
    gasLimit: last.gasLimit,
    maxFeeWei: fees.maxFeePerGasWei,
    priorityFeeWei: fees.maxPriorityFeePerGasWei,
  });
  deps.metrics?.count('svc.settle.replacements', 1, { kind: last.kind });
  const stored = (await listAttempts(deps.database, batch.batchId)).at(-1);
  if (stored) await sendAttempt(deps, rpc, stored);
}

function keyOf(deps: SettlementDeps, batch: Batch): RelayerKey | undefined {
  return deps.relayersOf(batch.network).find((key) => key.address === batch.address);
}

function feesOf(transaction: RelayerTransaction): Fees {
  return { maxFeePerGasWei: transaction.maxFeeWei, maxPriorityFeePerGasWei: transaction.priorityFeeWei };
}
