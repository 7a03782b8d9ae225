/** What the other nodes show of a spending, or of an end, that one node alone must not say. */
import type { Doubt, Spending } from '../../../modules/kernel/payment/sight.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Network } from '../network.ts';
import { QUORUM } from '../rpc/quorum.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { hasOthers, quantity, whereAway } from '../rpc/rpc.ts';
import { evidenceFromLogs } from './evidence.ts';
import { receiptsOfAll } from './receipts.ts';
import type { ReadReceipt, SightAsk } from './sight.ts';
import type { NonceKey } from './spending.ts';
import { spendingIn } from './spending.ts';
import { listUsedNoncesOfAll } from './states.ts';

/** A receipt with its logs read. */
type Decoded = Pick<ReadReceipt, 'receipt' | 'evidence'>;

/** What one node showed. */
interface Shown {
  readonly found: ReadonlyMap<SightAsk, Spending>;
  readonly receipts: ReadonlyMap<string, Decoded>;
  /** Up to where two nodes call the chain safe; null: not known. */
  readonly safeBlock: bigint | null;
}

/**
 * Asks every URL for the transaction that is said to have spent an authorization, or to have proven one that is said to be unspent, and
 * compares logs and block hash. Two that show the same leave no doubt. One that does not have it may be late, until its block is safe:
 * from there on it contradicts. A network of one URL has nobody else to ask.
 */
export async function doubtsOf(
  rpc: Rpc,
  network: Pick<Network, 'asset' | 'router'>,
  asks: readonly SightAsk[],
  { found, receipts, safeBlock }: Shown,
): Promise<ReadonlyMap<SightAsk, Doubt>> {
  if (!hasOthers(rpc)) return new Map();
  const open = asks.filter((ask) => ask.needsSecond?.(found.get(ask) ?? null));
  const readAll = async (hash: Hex): Promise<readonly (Decoded | null)[]> => {
    const all = await receiptsOfAll(rpc, hash).catch(whereAway([]));
    return all.map((receipt) => receipt && { receipt, evidence: evidenceFromLogs(receipt.logs, network) });
  };
  const asked = new Map<Hex, Promise<readonly (Decoded | null)[]>>();
  const doubts = await Promise.all(
    open.map(async (ask): Promise<readonly [SightAsk, Doubt | null]> => {
      const said = [...receipts.values()].find((one) => wordOf(one, ask) !== null);
      const hash = said?.receipt.hash ?? ask.hashes[0];
      if (hash === undefined) return [ask, null];
      const others = asked.get(hash) ?? readAll(hash);
      asked.set(hash, others);
      const all = await others;
      const shown = receipts.get(hash);
      const isSafe = shown !== undefined && safeBlock !== null && shown.receipt.blockNumber <= safeBlock;
      const words = all.flatMap((one) => (one === null && !isSafe ? [] : [one === null ? MISSING : wordOf(one, ask)]));
      return [ask, doubtOf(said ? wordOf(said, ask) : null, words, shown ? words.length : all.length)];
    }),
  );
  return new Map(doubts.flatMap(([ask, doubt]) => (doubt ? [[ask, doubt] as const] : [])));
}

/**
 * Asks every URL whether authorizations that one node calls unused at the safe block, with their time over, are so. Two that say it leave no
 * doubt; with one alone it stays open whether they can still move money. A network of one URL has nobody else to ask.
 */
export async function expiryDoubtsOf(
  rpc: Rpc,
  network: Pick<Network, 'asset'>,
  asks: readonly SightAsk[],
  safeBlock: bigint,
): Promise<ReadonlyMap<SightAsk, Doubt>> {
  if (!hasOthers(rpc) || asks.length === 0) return new Map();
  const said = await listUsedNoncesOfAll(rpc, network, asks, quantity(safeBlock)).catch(whereAway([]));
  const doubts = new Map<SightAsk, Doubt>();
  for (const [at, ask] of asks.entries()) {
    const isOver = said.map(({ timeSeconds, used }) => used[at] === false && timeSeconds > (ask.validBefore ?? 0n));
    if (isOver.includes(false)) doubts.set(ask, 'disputed');
    else if (isOver.length < QUORUM) doubts.set(ask, 'unconfirmed');
  }
  return doubts;
}

/** The word of a node that should have a transaction, and does not. */
const MISSING = 'missing';

/**
 * Two nodes must show a spending, or a transaction without it, and two must miss an evidence before it is gone; one that shows something else
 * is a dispute. `words` are those of the nodes that have the transaction, or should have it; `count` is how many speak.
 */
function doubtOf(own: string | null, words: readonly (string | null)[], count: number): Doubt | null {
  if (words.some((word) => word !== own)) return 'disputed';
  return count < QUORUM ? 'unconfirmed' : null;
}

/** Where a receipt shows that an authorization went, and in which block; null where it shows nothing of it. */
function wordOf({ receipt, evidence }: Decoded, key: NonceKey): string | null {
  const spending = spendingIn(evidence, key, 0n);
  if (spending === null) return null;
  const moved = spending.kind === 'transfer' ? [spending.to, spending.valueMicro, spending.transfer.logIndex] : [];
  return [receipt.blockHash, spending.kind, ...moved].join(' ');
}
