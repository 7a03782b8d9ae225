/** What the other nodes show of a spending, or of an end, that one node alone must not say. */
import type { Doubt, Spending } from '../../../modules/kernel/payment/sight.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Network } from '../network.ts';
import { QUORUM } from '../rpc/quorum.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { hasOthers, quantity, whereAway } from '../rpc/rpc.ts';
import { evidenceFromLogs } from './evidence.ts';
import { blockTimeOf, receiptsOfAll, UNREADABLE } from './receipts.ts';
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

/** What several nodes make of what one showed. */
export interface SecondWord<R = ReadReceipt> {
  /** Null: two nodes show the same. */
  readonly doubt: Doubt | null;
  /** A node shows something else; an operator should hear of it, whatever counts. */
  readonly isContradicted: boolean;
  /** What two nodes show, where the node that was asked first shows something else. */
  readonly instead?: R;
}

/**
 * Asks every URL for the transaction that is said to have spent an authorization, or to have proven one that is said to be unspent, and
 * compares logs and block hash. What two show counts, and if the node asked first shows something else. One that does not have it may be
 * late, until its block is safe: from there on it contradicts, if it has come as far. An answer that cannot be read contradicts every other.
 * A network of one URL has nobody else to ask.
 */
export async function secondWordsOf(
  rpc: Rpc,
  network: Pick<Network, 'asset' | 'router'>,
  asks: readonly SightAsk[],
  { found, receipts, safeBlock }: Shown,
): Promise<ReadonlyMap<SightAsk, SecondWord>> {
  if (!hasOthers(rpc)) return new Map();
  const open = asks.filter((ask) => ask.needsSecond?.(found.get(ask) ?? null));
  const asked = new Map<Hex, Promise<readonly Vote[]>>();
  const votesOn = (hash: Hex): Promise<readonly Vote[]> => {
    const known = receipts.get(hash)?.receipt.blockNumber;
    const isSafe = known !== undefined && safeBlock !== null && known <= safeBlock;
    const votes = asked.get(hash) ?? readVotes(rpc, network, hash, isSafe ? known : null);
    asked.set(hash, votes);
    return votes;
  };
  const wordOn = async (ask: SightAsk): Promise<SecondWord<Decoded> | null> => {
    const said = [...receipts.values()].find((one) => wordOf(one, ask) !== null);
    const [hash, ...besides] = new Set([...(said ? [said.receipt.hash] : []), ...ask.hashes]);
    if (hash === undefined) return null;
    const word = compare(ask, { said, isShown: receipts.has(hash) }, await votesOn(hash));
    if (word.doubt !== 'disputed') return word;
    for (const other of besides) {
      const instead = agreedOf(ask, await votesOn(other));
      if (instead && wordOf(instead, ask) !== null) return { doubt: null, isContradicted: true, instead };
    }
    return word;
  };
  const words = await Promise.all(
    open.map(async (ask): Promise<readonly (readonly [SightAsk, SecondWord])[]> => {
      const word = await wordOn(ask);
      return word ? [[ask, await timed(rpc, word)]] : [];
    }),
  );
  return new Map(words.flat());
}

/**
 * Asks every URL whether authorizations that one node calls unused at the safe block, with their time over, are so. Two that say it leave no
 * doubt; with one alone it stays open whether they can still move money. A network of one URL has nobody else to ask.
 */
export async function expiryWordsOf(
  rpc: Rpc,
  network: Pick<Network, 'asset'>,
  asks: readonly SightAsk[],
  safeBlock: bigint,
): Promise<ReadonlyMap<SightAsk, SecondWord>> {
  if (!hasOthers(rpc) || asks.length === 0) return new Map();
  const said = await listUsedNoncesOfAll(rpc, network, asks, quantity(safeBlock)).catch(whereAway([]));
  const words = asks.map((ask, at): readonly [SightAsk, SecondWord] => {
    const isOver = said.map(({ timeSeconds, used }) => used[at] === false && timeSeconds > (ask.validBefore ?? 0n));
    const isContradicted = isOver.includes(false);
    if (isOver.filter(Boolean).length >= QUORUM) return [ask, { doubt: null, isContradicted }];
    return [ask, { doubt: isContradicted ? 'disputed' : 'unconfirmed', isContradicted }];
  });
  return new Map(words);
}

/** The word of a node that should have a transaction, and does not. */
const MISSING = 'missing';

/** What a node gives for a transaction; null where it may be late. */
type Vote = Decoded | typeof MISSING | typeof UNREADABLE | null;

/** `safeAt`: the safe block that the transaction is said to be in; a node that has come that far and does not have it misses it. */
async function readVotes(
  rpc: Rpc,
  network: Pick<Network, 'asset' | 'router'>,
  hash: Hex,
  safeAt: bigint | null,
): Promise<readonly Vote[]> {
  const answers = await receiptsOfAll(rpc, hash).catch(whereAway([]));
  const isAnyMissing = safeAt !== null && answers.some(({ result }) => result === null);
  const heads = isAnyMissing ? await rpc.each<Hex>('eth_blockNumber', []).catch(whereAway([])) : [];
  return answers.map(({ index, result }): Vote => {
    if (result === UNREADABLE) return UNREADABLE;
    if (result !== null) return { receipt: result, evidence: evidenceFromLogs(result.logs, network) };
    const head = heads.find((one) => one.index === index);
    return safeAt !== null && head !== undefined && BigInt(head.result) >= safeAt ? MISSING : null;
  });
}

/** The word with the time of the block that counts; where no node shows that, nothing counts. */
async function timed(rpc: Rpc, { instead, ...word }: SecondWord<Decoded>): Promise<SecondWord> {
  if (!instead) return word;
  const timeSeconds = await blockTimeOf(rpc, instead.receipt).catch(whereAway(null));
  if (timeSeconds === null) return { doubt: 'disputed', isContradicted: true };
  return { ...word, instead: { ...instead, timeSeconds } };
}

/** `said`: the receipt in which the node asked first showed the spending; `isShown`: it has the transaction. */
function compare(
  key: NonceKey,
  { said, isShown }: { readonly said: Decoded | undefined; readonly isShown: boolean },
  votes: readonly Vote[],
): SecondWord<Decoded> {
  const own = said ? wordOf(said, key) : null;
  const words = votes.flatMap((vote) => (vote === null ? [] : [wordIn(vote, key)]));
  const agreed = agreedOf(key, votes);
  if (agreed) {
    const word = wordOf(agreed, key);
    const isContradicted = word !== own || words.some((one) => one !== word);
    return { doubt: null, isContradicted, ...(word !== own && { instead: agreed }) };
  }
  if (words.some((word) => word !== own)) return { doubt: 'disputed', isContradicted: true };
  // Two must miss an evidence before it is gone.
  const speaking = isShown ? words.length : votes.length;
  return { doubt: speaking < QUORUM ? 'unconfirmed' : null, isContradicted: false };
}

/** The receipt of which two nodes or more show the same; null where none is such, or several are. */
function agreedOf(key: NonceKey, votes: readonly Vote[]): Decoded | null {
  const shown = votes.filter((vote) => vote !== null && typeof vote === 'object');
  const groups = [...Map.groupBy(shown, (vote) => wordOf(vote, key)).values()].filter(({ length }) => length >= QUORUM);
  return groups.length === 1 ? (groups[0]?.[0] ?? null) : null;
}

function wordIn(vote: Exclude<Vote, null>, key: NonceKey): string | null {
  return typeof vote === 'string' ? vote : wordOf(vote, key);
}

/** Where a receipt shows that an authorization went, and in which block; null where it shows nothing of it. */
function wordOf({ receipt, evidence }: Decoded, key: NonceKey): string | null {
  const spending = spendingIn(evidence, key, 0n);
  if (spending === null) return null;
  const moved = spending.kind === 'transfer' ? [spending.to, spending.valueMicro, spending.transfer.logIndex] : [];
  return [receipt.blockHash, spending.kind, ...moved].join(' ');
}
