import { raiseAlert } from '../../../../db/alerts.ts';
import { minedCount, safeTransactionCount } from '../../../../platform/chain/evidence/states.ts';
import { transactionCount } from '../../../../platform/chain/transaction.ts';
import { judgeNonce } from '../../rules/relayerNonce.ts';
import type { RelayerRef } from '../../store/relayer.ts';
import { adoptCount, endHolds, ensureRelayer, findRelayerNonce, noteSeenNonce, passHeldNonces } from '../../store/relayer.ts';
import type { SettlementDeps } from '../deps.ts';

/**
 * The key was used elsewhere: the chain's count is adopted, so that no batch is signed for a nonce that is gone (safety 8). Never by one
 * answer of a node: two rounds must see it, at the safe block, at two nodes where there are several, and at the newest one, and it must be near. What is
 * far ahead raises `relayer_nonce_suspect` and moves nothing. Until the next round has looked again the queue takes no batch. Mined batches that the newest count
 * does not reach are no longer held (`endHolds`). Returns the count that may be believed of batches on their way: the lower of two calls, 0 while a
 * round has yet to agree with it or it is suspect.
 */
export async function adoptNonce(deps: SettlementDeps, ref: RelayerRef): Promise<bigint> {
  const known = await findRelayerNonce(deps.database, ref);
  if (!known) {
    await startRelayer(deps, ref);
    return 0n;
  }
  const rpc = deps.rpcOf(ref.network);
  const address = ref.address as `0x${string}`;
  const safeCount = await safeTransactionCount(rpc, address);
  if (safeCount === null) return 0n; // nothing is known to be overtaken
  const latestCount = BigInt(await transactionCount(rpc, address, 'latest'));
  await endHolds(deps.database, ref, latestCount);
  // Bytes of ours behind a nonce that was set back may be mined before the queue comes there: they are no use elsewhere.
  const nextNonce = safeCount > known.nextNonce ? await passHeldNonces(deps.database, ref) : known.nextNonce;
  const verdict = judgeNonce({ ...known, nextNonce, safeCount, latestCount, seenBefore: known.seenNonce });
  const ahead = verdict.kind === 'seen' || verdict.kind === 'suspect' ? verdict.count : null;
  if (verdict.kind === 'adopt') await adoptCount(deps.database, ref, verdict.count);
  else if (ahead !== known.seenNonce || ahead !== null) await noteSeenNonce(deps.database, ref, ahead);
  if (verdict.kind === 'seen') return 0n;
  if (verdict.kind !== 'suspect') return latestCount < safeCount ? latestCount : safeCount;
  deps.log.warn({ ...ref, count: `${verdict.count}`, nextNonce: `${nextNonce}` }, 'the chain counts more than we explain');
  await raiseAlert(deps.database, 'relayer_nonce_suspect', `${ref.network} ${ref.address}`);
  return 0n;
}

/** Gives a relayer its row, a new one at the chain's count; what is ahead of one that is there is left to the sweeper's rounds. */
export async function startRelayer(deps: SettlementDeps, ref: RelayerRef): Promise<void> {
  const count = (await findRelayerNonce(deps.database, ref)) ? 0n : await agreedCount(deps, ref);
  await ensureRelayer(deps.database, ref, count, deps.settings.inFlightLimit);
}

/**
 * The chain's count by two calls, the lower one where they differ: one that is too low is mended by the next rounds. Throws `chain_unavailable`,
 * while fewer than two of several URLs answer, too.
 */
export async function agreedCount(deps: Pick<SettlementDeps, 'rpcOf'>, ref: RelayerRef): Promise<bigint> {
  const ask = (): Promise<number> => minedCount(deps.rpcOf(ref.network), ref.address as `0x${string}`);
  return BigInt(Math.min(await ask(), await ask()));
}
