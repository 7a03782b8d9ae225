import { chooseFees } from '../../../platform/chain/gas/fees.ts';
import { baseFeeOf, gasBalance, sendRaw, signSelfTransfer, transactionCount } from '../../../platform/chain/transaction.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { findBatch, isRelayed } from '../../settlement/store/relayer.ts';
import type { RelayerKey, SettlementDeps } from '../../settlement/use/deps.ts';
import { chainOf } from '../../settlement/use/deps.ts';
import { sendBatch, voidHeldBatch } from '../../settlement/use/relayer/broadcast.ts';
import { startRelayer } from '../../settlement/use/relayer/nonce.ts';
import type { RelayerFacts } from '../store/operations.ts';
import { findBatchAt, findBatchOfPayment, findPausedReason, listRelayers, pauseRelayer } from '../store/operations.ts';
import { changeAsOperator, noteIntent } from './change.ts';

/** A relayer key with what the chain says of it. */
export interface RelayerReport extends RelayerFacts {
  readonly balanceWei: bigint;
  readonly minedNonce: number;
  readonly pendingNonce: number;
  /** True when this process holds the private key. */
  readonly hasKey: boolean;
}

/** Every relayer key. Throws chain_unavailable. */
export async function reportRelayers(deps: SettlementDeps): Promise<RelayerReport[]> {
  const known = (await listRelayers(deps.database)).filter(({ network }) => deps.networks.ids.includes(network));
  return Promise.all(
    known.map(async (facts) => {
      const rpc = deps.rpcOf(facts.network);
      const address = facts.address as `0x${string}`;
      const [balanceWei, minedNonce, pendingNonce] = await Promise.all([
        gasBalance(rpc, address),
        transactionCount(rpc, address, 'latest'),
        transactionCount(rpc, address, 'pending'),
      ]);
      const hasKey = deps.relayersOf(facts.network).some((key) => key.address === facts.address);
      return { ...facts, balanceWei, minedNonce, pendingNonce, hasKey };
    }),
  );
}

/** A relayer key, and who gives an order about it. */
export interface RelayerOrder {
  readonly actor: Actor;
  readonly network: string;
  readonly address: string;
}

/** Gives a new key its row, at the chain's nonce, and lets it take batches. Throws invalid_parameter without its private key. */
export async function addRelayer(deps: SettlementDeps, { actor, network, address }: RelayerOrder): Promise<void> {
  const key = keyOf(deps, network, address);
  await startRelayer(deps, { network, address: key.address });
  await setPaused(deps, { actor, network, address: key.address }, 'relayer.add', null);
}

/**
 * Takes a key out of use: no new batches from now on. What it sent is watched on, and its private key must stay with the workers
 * until `unfinishedBatches` is 0. Throws not_found.
 */
export async function retireRelayer(deps: SettlementDeps, order: RelayerOrder): Promise<RelayerFacts> {
  const { network, address } = order;
  const isIt = (one: RelayerFacts): boolean => one.network === network && one.address.toLowerCase() === address.toLowerCase();
  const stored = (await listRelayers(deps.database)).find(isIt);
  if (!stored) throw new ServiceError('not_found', 'there is no such relayer key');
  await setPaused(deps, { ...order, address: stored.address }, 'relayer.retire', 'retired');
  return { ...stored, pausedReason: 'retired' };
}

/** Pauses a key or lets it go on, and writes down who ordered it, in one database transaction. */
async function setPaused(
  deps: SettlementDeps,
  { actor, network, address }: RelayerOrder,
  action: string,
  reason: string | null,
): Promise<void> {
  await changeAsOperator(deps, actor, {
    action,
    target: `${network} ${address}`,
    look: async (sql) => ({ pausedReason: await findPausedReason(sql, network, address) }),
    make: (database) => pauseRelayer(database, network, address, reason),
  });
}

/**
 * Fills a nonce of a queue with a transfer of nothing to itself. A batch that holds it gets the transfer as another attempt: its
 * payments go back only when that is mined, so nothing is decided here (safety 8). Who ordered it is written down first. Throws conflict
 * when the nonce is mined, and when no batch took it yet: the next one will, and would be lost to the transfer.
 */
export async function voidNonce(deps: SettlementDeps, order: RelayerOrder, nonce: bigint): Promise<string> {
  const { actor, network, address } = order;
  const key = keyOf(deps, network, address);
  const { network: chain, rpc } = chainOf(deps, network);
  if (nonce < BigInt(await transactionCount(rpc, key.address, 'latest'))) {
    throw new ServiceError('conflict', 'this nonce is mined; there is nothing to void');
  }
  const target = `${network} ${key.address}`;
  const batchId = await findBatchAt(deps.database, network, key.address, nonce);
  if (batchId !== null) {
    await noteIntent(deps, actor, { action: 'relayer.void_nonce', target, asked: { nonce: `${nonce}`, batchId } });
    if (!(await voidHeldBatch(deps, chain, rpc, batchId))) {
      throw new ServiceError(
        'conflict',
        `batch ${batchId} is finished, already voided, or was just sent again; check it once more`,
      );
    }
    return `batch ${batchId} is voided; its payments go out again when the transfer is mined`;
  }
  const stored = (await listRelayers(deps.database)).find((one) => one.network === network && one.address === key.address);
  if (stored && nonce >= stored.nextNonce) {
    throw new ServiceError('conflict', 'no batch has taken this nonce: it blocks nothing, and the next batch needs it');
  }
  const fees = chooseFees(chain, await baseFeeOf(rpc));
  const signed = await signSelfTransfer(key, { chainId: chain.chainId, nonce: Number(nonce), fees });
  const asked = { nonce: `${nonce}`, transaction: signed.hash };
  await noteIntent(deps, actor, { action: 'relayer.void_nonce', target, asked });
  const outcome = await sendRaw(rpc, signed.raw);
  return `transaction ${signed.hash}: ${outcome.kind}`;
}

/** Sends the stored bytes of a payment's batch once more, the same bytes (safety 7). Throws not_found. */
export async function rebroadcastPayment(deps: SettlementDeps, paymentId: string): Promise<string> {
  const found = await findBatchOfPayment(deps.database, paymentId);
  if (!found) throw new ServiceError('not_found', 'there is no such payment');
  if (found.batchId === null) return 'nothing of it has been signed: it waits for a batch, or needs none';
  const { network, rpc } = chainOf(deps, found.network);
  const batch = await findBatch(deps.database, found.batchId);
  if (batch && !isRelayed(batch)) {
    return 'another rail carries it, which the sweeper asks again automatically: there are no bytes of ours';
  }
  const isSent = await sendBatch(deps, network, rpc, found.batchId);
  return isSent ? `the bytes of batch ${found.batchId} went out again` : `batch ${found.batchId} is mined: nothing was sent`;
}

/** A relayer key whose private half this process holds. Throws invalid_parameter. */
export function keyOf(deps: SettlementDeps, network: string, address: string): RelayerKey {
  const key = deps.relayersOf(network).find((one) => one.address.toLowerCase() === address.toLowerCase());
  if (key) return key;
  throw new ServiceError('invalid_parameter', 'RELAYER_PRIVATE_KEYS holds no key of this address for this network', {
    parameter: 'address',
  });
}
