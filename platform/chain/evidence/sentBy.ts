/** Transactions by their sender, for which no node has an index: read out of whole blocks. */
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { askNode, chainUnavailable, quantity } from '../rpc/rpc.ts';
import { blockAt } from './receipts.ts';

/** A mined transaction, as its block shows it. */
export interface SentTransaction {
  readonly hash: Hex;
  readonly from: Address;
  readonly nonce: bigint;
  readonly input: Hex;
}

interface RawBlock {
  readonly transactions: readonly { readonly hash: Hex; readonly from: Hex; readonly nonce: Hex; readonly input: Hex }[];
}

/** Blocks that are asked for at once. */
const AT_ONCE = 16;

/**
 * Transactions of some senders, block by block from `fromBlock` to `toBlock`, both included; `enough` is asked after every few blocks and
 * ends the reading. A block takes one call of the size of the block. Throws `chain_unavailable`.
 */
export async function listSentBy(
  rpc: Rpc,
  senders: ReadonlySet<Address>,
  range: { readonly fromBlock: bigint; readonly toBlock: bigint },
  enough: (found: readonly SentTransaction[]) => boolean,
): Promise<readonly SentTransaction[]> {
  const found: SentTransaction[] = [];
  for (let from = range.fromBlock; from <= range.toBlock && !enough(found); from += BigInt(AT_ONCE)) {
    const numbers = Array.from({ length: AT_ONCE }, (_, at) => from + BigInt(at)).filter((number) => number <= range.toBlock);
    const blocks = await Promise.all(
      numbers.map((number) => askNode<RawBlock | null>(rpc, 'eth_getBlockByNumber', [quantity(number), true])),
    );
    for (const block of blocks) {
      if (block === null) throw chainUnavailable(rpc.networkId);
      for (const { hash, from: sender, nonce, input } of block.transactions) {
        const address = sender.toLowerCase() as Address;
        if (senders.has(address)) found.push({ hash, from: address, nonce: BigInt(nonce), input });
      }
    }
  }
  return found;
}

/** The last block that is not younger than a time (epoch seconds), by halving: some 25 calls. 0 for a time before the first. */
export async function blockBefore(rpc: Rpc, timeSeconds: bigint): Promise<bigint> {
  const newest = await blockAt(rpc, 'latest');
  let [low, high] = [0n, newest.number];
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    const { timestamp } = await blockAt(rpc, middle);
    if (timestamp <= timeSeconds) low = middle;
    else high = middle - 1n;
  }
  return low;
}
