import { raiseAlert } from '../../../db/alerts.ts';
import type { ChainLog } from '../../../platform/chain/evidence/evidence.ts';
import { listTransfersOfAll, MAX_LOG_RANGE } from '../../../platform/chain/evidence/receipts.ts';
import type { Rpc } from '../../../platform/chain/rpc/rpc.ts';
import { hasOthers, whereAway } from '../../../platform/chain/rpc/rpc.ts';
import type { Hex } from '../../kernel/x402/payload.ts';
import { moveCompared } from '../store/chainRounds.ts';
import type { BlockRange, RangeDeps } from './storeRange.ts';
import { filtersOf, findChanged, storeRange, withValue, wordsOf } from './storeRange.ts';

/** Of how many blocks the URLs of a network answered last: the next query is of up to twice as many. */
const answeredSpans = new WeakMap<Rpc, bigint>();

/** Blocks that are waited for before they are compared, so that a block costs each URL a thirty-second of its queries. */
const COMPARED_TOGETHER = 32n;

/** What may be compared. */
export interface Comparable {
  /** The first block that was not compared yet. */
  readonly from: bigint;
  /** The first block that later rounds read again, by one URL: what is compared before that could be undone by it. */
  readonly end: bigint;
  /** The first block that was not read yet. */
  readonly readTo: bigint;
}

/**
 * Compares the transfers that all URLs show of the next blocks, 32 to 2,000 of them, and moves the mark past them where two or more show the
 * same, and that is stored. Where they differ, or their receipts contradict their logs, the mark stays and an operator is told which URLs they
 * are; where fewer than two answer, half the blocks are asked for, down to 32, since some refuse long ranges, and then the mark stays. With one
 * URL the mark is that of reading. True when more can be compared at once. A second call changes nothing. Throws chain_unavailable.
 */
export async function compareUrls(deps: RangeDeps, { from, end, readTo }: Comparable): Promise<boolean> {
  const { database, network, rpc } = deps;
  if (!hasOthers(rpc)) {
    if (from !== readTo) await moveCompared(database, network.id, from, readTo);
    return false;
  }
  if (end - from < COMPARED_TOGETHER) return false;
  const { shown, range } = await shownOfSome(deps, from, end);
  if (shown.length < 2) return false;
  const next = range.toBlock + 1n;
  const groups = [...Map.groupBy(shown, ([, { words }]) => words).values()];
  const logs = groups.length === 1 ? (shown[0]?.[1].logs ?? null) : null;
  if (logs !== null) {
    if ((await storeRange(deps, range, logs)).isAgain) return true;
    // What is stored then is what the receipts say.
    if ((await findChanged(deps, range, logs)).changed.size === 0) {
      await moveCompared(database, network.id, from, next);
      return next < end;
    }
  }
  const urls = groups.map((group) => group.map(([index]) => index + 1).join(', ')).join(' against ');
  const what = logs === null ? 'show different transfers' : 'show receipts that contradict their logs';
  await raiseAlert(database, 'evidence_disputed', `${network.id}, from block ${from} on: RPC URLs ${urls} ${what}`);
  return false;
}

/** What a URL shows of a range: its logs, null where they cannot be read, and the same in words. */
interface Shown {
  readonly logs: readonly ChainLog[] | null;
  readonly words: string;
}

/** What two URLs or more show of as many blocks from `from` on as they answer about at once, and which these are; none: fewer than two answer. */
async function shownOfSome(
  deps: RangeDeps,
  from: bigint,
  end: bigint,
): Promise<{ readonly shown: ShownByUrl; readonly range: BlockRange }> {
  const { rpc } = deps;
  const most = lower(MAX_LOG_RANGE, 2n * (answeredSpans.get(rpc) ?? MAX_LOG_RANGE));
  for (let span = lower(end - from, most); ; span /= 2n) {
    const range = { fromBlock: from, toBlock: from + span - 1n };
    const shown = await shownBy(deps, range);
    const isAnswered = shown !== null && shown.length >= 2;
    if (isAnswered) answeredSpans.set(rpc, span);
    if (isAnswered || shown === null || span / 2n < COMPARED_TOGETHER) return { shown: shown ?? [], range };
  }
}

function lower(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** What each URL shows that has the whole range and answers; null, and nobody is asked, where fewer than two have it. */
async function shownBy({ rpc, network, recipients }: RangeDeps, range: BlockRange): Promise<ShownByUrl | null> {
  const heads = await rpc.each<Hex>('eth_blockNumber', []);
  const reaching = heads.flatMap(({ index, result }) => (Number(result) >= range.toBlock ? [index] : []));
  if (reaching.length < 2) return null;
  const answers: ReadonlyMap<number, readonly ChainLog[] | null>[] = [];
  for (const filter of filtersOf(recipients)) {
    // Where all refuse a range, none has answered.
    answers.push(await listTransfersOfAll(rpc, network, { ...range, ...filter }).catch(whereAway(new Map())));
  }
  const answering = reaching.filter((index) => answers.every((answer) => answer.has(index)));
  return answering.map((index) => [index, shownIn(answers.map((answer) => answer.get(index) ?? null))]);
}

/** By the place of the URL in the configuration, from 0. */
type ShownByUrl = readonly (readonly [number, Shown])[];

function shownIn(answers: readonly (readonly ChainLog[] | null)[]): Shown {
  try {
    const logs = withValue(answers.flatMap((answer) => answer ?? unreadable()));
    return { logs, words: wordsOf(logs) };
  } catch {
    return { logs: null, words: 'unreadable' };
  }
}

function unreadable(): never {
  throw new Error('logs that cannot be read');
}
