import { receiptOf } from '../../../platform/chain/evidence/receipts.ts';
import { minedCount } from '../../../platform/chain/evidence/states.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { firstFreeNonce } from '../../settlement/rules/relayerNonce.ts';
import { listAttempts } from '../../settlement/store/attempts.ts';
import type { Batch, RelayerRef } from '../../settlement/store/relayer.ts';
import { listHeldFrom, setNextNonce } from '../../settlement/store/relayer.ts';
import { releaseOvertaken } from '../../settlement/use/batch/batches.ts';
import type { Chain, SettlementDeps } from '../../settlement/use/deps.ts';
import { chainOf } from '../../settlement/use/deps.ts';
import { voidStored } from '../../settlement/use/relayer/broadcast.ts';
import { listRelayers, pauseRelayer } from '../store/operations.ts';
import { noteIntent } from './change.ts';
import type { RelayerOrder } from './relayers.ts';
import { keyOf } from './relayers.ts';

/** Where a queue stands, and where it should. */
export interface NonceReport {
  readonly nextNonce: bigint;
  readonly minedNonce: bigint;
  /** The first nonce from the mined one on that no batch holds: the only one that leaves neither a gap nor a nonce used twice. */
  readonly freeNonce: bigint;
  /** Batches that hold nonces behind it, which cannot be mined before it is. */
  readonly stranded: readonly string[];
}

const PAUSED = 'nonce';

/** What a person should know before the nonce is set. Throws not_found, conflict when the node answers differently twice. */
export async function reportNonce(deps: SettlementDeps, network: string, address: string): Promise<NonceReport> {
  const { report } = await lookAt(deps, network, address);
  return report;
}

/**
 * Sets the nonce of a queue's next batch, up or down, after a wrong count was adopted: only to the free one. Batches behind it get a
 * transfer of nothing at their own nonces, which stay theirs for good (no other payment is ever signed for them), and what they carried
 * goes out again, unless the chain shows its evidence. Who ordered it is written down first. The queue is paused meanwhile; a call that
 * broke off is simply made again. Throws
 * conflict for any other nonce, and when bytes behind it are mined.
 */
export async function setNonce(deps: SettlementDeps, order: RelayerOrder, nonce: bigint): Promise<NonceReport> {
  const { actor, network, address } = order;
  const key = keyOf(deps, network, address);
  const ref = { network, address: key.address };
  const { report: before, pausedReason } = await lookAt(deps, network, key.address);
  if (nonce !== before.freeNonce) {
    throw new ServiceError(
      'conflict',
      `only ${before.freeNonce} avoids both a gap and a nonce already taken; nothing was changed`,
    );
  }
  const asked = { nonce: `${nonce}`, before: `${before.nextNonce}` };
  await noteIntent(deps, actor, { action: 'relayer.set_nonce', target: `${network} ${key.address}`, asked });
  if (pausedReason === null) await pauseRelayer(deps.database, network, key.address, PAUSED);
  for (const batch of await listHeldFrom(deps.database, ref, nonce)) await strand(chainOf(deps, network), batch);
  await deps.database.transaction((sql) => setNextNonce(sql, ref, nonce));
  if (pausedReason === null || pausedReason === PAUSED) await pauseRelayer(deps.database, network, key.address, null);
  return (await lookAt(deps, network, key.address)).report;
}

/** Lets a batch go whose nonce lies behind the queue's: its payments go out again, its nonce is filled when the queue comes there. */
async function strand(call: Chain<SettlementDeps>, batch: Batch): Promise<void> {
  const { deps, network, rpc } = call;
  for (const { txHash } of await listAttempts(deps.database, batch.batchId)) {
    if (await receiptOf(rpc, txHash)) {
      throw new ServiceError('conflict', `batch ${batch.batchId} is mined at nonce ${batch.nonce}: ask another node`);
    }
  }
  await voidStored(deps, network, rpc, batch);
  await releaseOvertaken(call, batch);
}

async function lookAt(
  deps: SettlementDeps,
  network: string,
  address: string,
): Promise<{ readonly report: NonceReport; readonly pausedReason: string | null }> {
  const isIt = (one: RelayerRef): boolean => one.network === network && one.address.toLowerCase() === address.toLowerCase();
  const stored = (await listRelayers(deps.database)).find(isIt);
  if (!stored) throw new ServiceError('not_found', 'there is no such relayer key');
  const { rpc } = chainOf(deps, network);
  const ask = async (): Promise<bigint> => BigInt(await minedCount(rpc, stored.address as `0x${string}`));
  const [mined, again] = [await ask(), await ask()];
  if (mined !== again) throw new ServiceError('conflict', 'the node’s nonce changed between two calls; run the command again');
  const held = await listHeldFrom(deps.database, stored, mined);
  const freeNonce = firstFreeNonce(mined, new Set(held.map(({ nonce }) => nonce)));
  const stranded = held.filter(({ nonce }) => nonce >= freeNonce).map(({ batchId }) => batchId);
  return {
    report: { nextNonce: stored.nextNonce, minedNonce: mined, freeNonce, stranded },
    pausedReason: stored.pausedReason,
  };
}
