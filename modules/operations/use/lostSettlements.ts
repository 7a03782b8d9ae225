import { carriedBy } from '../../../platform/chain/evidence/carried.ts';
import { evidenceFromLogs } from '../../../platform/chain/evidence/evidence.ts';
import { blockNumbers, blockTimeSeconds, findReceipt } from '../../../platform/chain/evidence/receipts.ts';
import type { SentTransaction } from '../../../platform/chain/evidence/sentBy.ts';
import { blockBefore, listSentBy } from '../../../platform/chain/evidence/sentBy.ts';
import { chainUnavailable } from '../../../platform/chain/rpc/rpc.ts';
import type { Address } from '../../kernel/money/legs.ts';
import { findFirstBlock, findMarks } from '../../reconciliation/store/chainRounds.ts';
import type { LostSettlement, NonceGap } from '../../settlement/store/lostSettlements.ts';
import { listNonceGaps, recordLost } from '../../settlement/store/lostSettlements.ts';
import type { Chain, SettlementDeps } from '../../settlement/use/deps.ts';
import { chainOf } from '../../settlement/use/deps.ts';
import { agreedCount } from '../../settlement/use/relayer/nonce.ts';
import { listRelayers } from '../store/operations.ts';

/** Nonces of a key that were looked for in vain. */
export interface UnreadNonces {
  readonly address: string;
  readonly nonces: readonly bigint[];
}

/** A batch is signed by our clock and mined by the chain's: so much earlier is looked. */
const CLOCK_MARGIN_SECONDS = 300n;
/** Blocks that are read for one gap: two days and more of a chain with a block every two seconds. */
const MOST_BLOCKS = 100_000n;

/**
 * Finds what our relayer keys settled and the ledger has no row of, and stores it. The chain counts the transactions of a key, and each of
 * ours holds a nonce here: what the count has and we have not is a transaction whose row is lost. Since all of them are named by their
 * nonces, it is known when all are found. Reads the transactions of whole blocks from the batch before the gap on, and the logs of what it
 * finds: what moved is said by the token's logs, to whom by the call data. Returns the nonces that no block showed. A second call finds
 * the same. Throws chain_unavailable.
 */
export async function findLostSettlements(deps: SettlementDeps, networkId: string): Promise<readonly UnreadNonces[]> {
  const call = chainOf(deps, networkId);
  const stored = (await listRelayers(deps.database)).filter(({ network }) => network === networkId);
  const keys = new Set([...stored, ...deps.relayersOf(networkId)].map(({ address }) => address.toLowerCase() as Address));
  const unread: UnreadNonces[] = [];
  for (const address of keys) {
    const count = await agreedCount(deps, { network: networkId, address });
    const missing: bigint[] = [];
    for (const gap of await listNonceGaps(deps.database, networkId, address, count)) {
      missing.push(...(await readGap(call, address, gap)));
    }
    if (missing.length > 0) unread.push({ address, nonces: missing });
  }
  return unread;
}

/** Stores what stands at the nonces of a gap; returns those that were not found. */
async function readGap(call: Chain<SettlementDeps>, address: Address, gap: NonceGap): Promise<bigint[]> {
  const { deps, network, rpc } = call;
  const { latest } = await blockNumbers(rpc);
  const fromBlock = await firstBlock(call, gap, latest);
  const last = fromBlock + MOST_BLOCKS;
  const wanted = (one: SentTransaction): boolean => one.nonce >= gap.from && one.nonce < gap.to;
  const range = { fromBlock, toBlock: last < latest ? last : latest };
  const sent = await listSentBy(rpc, new Set([address]), range, (found) => found.some(({ nonce }) => nonce >= gap.to - 1n));
  const found = sent.filter(wanted);
  for (const transaction of found) await recordLost(deps.database, await settledBy(call, transaction));
  const shown = new Set(found.map(({ nonce }) => nonce));
  const missing: bigint[] = [];
  for (let nonce = gap.from; nonce < gap.to && missing.length < 100; nonce += 1n) if (!shown.has(nonce)) missing.push(nonce);
  deps.log.info({ network: network.id, address, blocks: `${fromBlock}-${range.toBlock}`, found: found.length }, 'a gap was read');
  return missing;
}

/** The block before the batch before the gap; where there is none, where reading stood, or the first block of a payment. */
async function firstBlock({ deps, network, rpc }: Chain<SettlementDeps>, { since }: NonceGap, latest: bigint): Promise<bigint> {
  if (since !== null) return blockBefore(rpc, BigInt(Math.floor(since.getTime() / 1_000)) - CLOCK_MARGIN_SECONDS);
  const stood = (await findMarks(deps.database, network.id)).nextBlock ?? (await findFirstBlock(deps.database, network.id));
  if (stood !== null) return stood;
  return latest > MOST_BLOCKS ? latest - MOST_BLOCKS : 0n;
}

/** The payments that a transaction of ours moved, by its logs. */
async function settledBy({ network, rpc }: Chain, { hash, from, nonce, input }: SentTransaction): Promise<LostSettlement[]> {
  const receipt = await findReceipt(rpc, hash);
  if (!receipt) throw chainUnavailable(network.id); // the block showed it a moment ago
  if (receipt.status !== 'success') return [];
  const blockTime = new Date(Number(await blockTimeSeconds(rpc, receipt.blockNumber)) * 1_000);
  const carried = carriedBy(input);
  return evidenceFromLogs(receipt.logs, network).authorizations.flatMap((moved) => {
    const payment = carried.find((one) => one.payer === moved.payer && one.nonce.toLowerCase() === moved.nonce);
    if (!payment) return []; // another's call in a transaction of a key that was used elsewhere
    const legs = payment.legs.map(({ toAddress, amountMicro }) => ({ toAddress, amountMicro: amountMicro.toString() }));
    return {
      network: network.id,
      asset: network.asset,
      payer: moved.payer,
      nonce: moved.nonce,
      txHash: hash,
      relayer: from,
      relayerNonce: nonce,
      blockNumber: receipt.blockNumber,
      blockTime,
      payTo: moved.to,
      amountMicro: moved.value,
      legs,
    };
  });
}
