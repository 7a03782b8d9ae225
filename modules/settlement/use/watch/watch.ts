import { isChainUnavailable } from '../../../../platform/chain/rpc/rpc.ts';
import type { Hex } from '../../../kernel/x402/payload.ts';
import type { Payment } from '../../store/payment.ts';
import type { Batch } from '../../store/relayer.ts';
import type { UnfinalBatch } from '../../store/sweep.ts';
import {
  finaliseBatches,
  listFinalProvenBy,
  listSettledIn,
  listUnfinalAlone,
  listUnfinalBatches,
  listWatched,
  provenOf,
  touchChecked,
} from '../../store/sweep.ts';
import type { Judged, Lookup, Round } from '../batch/round.ts';
import { ROUND_LIMIT, runBlindRound, runRound, writeSafe } from '../batch/round.ts';
import type { Chain, RoundDeps, SettlementDeps } from '../deps.ts';
import { chainOf } from '../deps.ts';
import { lookByRail, railWords } from '../rails/rails.ts';
import { sendBatch } from '../relayer/broadcast.ts';
import type { Budget } from './budget.ts';
import { UNBOUNDED } from './budget.ts';

/** Unfinal batches of a sweep: a transaction to read each. */
const BATCH_LIMIT = 200;
/** Settled payments of a sweep, in batches and apart: it keeps up with what a queue can settle. */
const SETTLED_LIMIT = 2_000;
/** Watched payments of a round, of those that bytes of ours carried, and of the others. */
const WATCHED_LIMIT = 600;
/** A live batch decides what it sent by then; until then looking at its payments one by one would only be twice the work. */
const SENT_MS = 5_000;
/** Rounds that may fail one after another before the rest is left to the next sweep. */
const MOST_FAILURES = 3;

/**
 * Reads the evidence of settled payments again that no workflow stays with: at the safe block they become final, those of a batch by one row of their batch; gone,
 * they go back and their bytes go out again; moved to another block, the evidence moves with them (safety 3, 5).
 */
export async function watchSettled(deps: SettlementDeps, networkId: string, budget: Budget = UNBOUNDED): Promise<void> {
  const call = chainOf(deps, networkId);
  const batches = packed(await listUnfinalBatches(deps.database, networkId, BATCH_LIMIT));
  await eachRound(call, batches, budget, {
    payments: (some) =>
      listSettledIn(
        deps.database,
        some.map(({ batchId }) => batchId),
      ),
    run: async (some, payments) =>
      finalise(
        call,
        some.map(({ batchId }) => batchId),
        await listSafe(call, payments),
      ),
  });
  const alone = chunks(await listUnfinalAlone(deps.database, networkId, SETTLED_LIMIT));
  await eachRound(
    call,
    alone,
    budget,
    ownTurns(call, (payments) => settledRound(call, payments)),
  );
}

/**
 * One look at a batch whose payments are decided, by its workflow or the sweeper: at the safe block it is over and what settled in it final; what a reorganisation
 * took goes back, and its bytes go out again (safety 3, 5). Any number of calls is harmless. Throws `chain_unavailable`.
 */
export async function finishBatch(deps: SettlementDeps, batch: Batch): Promise<void> {
  const call = chainOf(deps, batch.network);
  await lookByRail(deps, batch);
  const payments = await listSettledIn(deps.database, [batch.batchId]);
  const safe = await listSafe(call, payments);
  if (safe.length > 0 || payments.length === 0) await finalise(call, [batch.batchId], safe);
}

/** One look at settled payments: those that are at the safe block, which is not written. */
async function listSafe(call: Chain<SettlementDeps>, payments: readonly Payment[]): Promise<readonly Judged[]> {
  const safe: Judged[] = [];
  for (const some of chunks(payments)) safe.push(...(await settledRound(call, some, { leaveSafe: true })).safe);
  return safe;
}

/** What is safe makes its batch final, or itself where another payment of that is not. */
async function finalise(call: Chain<SettlementDeps>, ids: readonly string[], safe: readonly Judged[]): Promise<void> {
  const final = await finaliseBatches(
    call.deps.database,
    ids,
    safe.map(({ lookup }) => provenOf(lookup.payment)),
  );
  const others = safe.filter(({ lookup }) => !final.has(lookup.payment.facts.batchId ?? ''));
  for (const some of chunks(others)) await writeSafe(call, some);
}

/** One round over settled payments; bytes of those that went back go out again. */
async function settledRound(
  call: Chain<SettlementDeps>,
  payments: readonly Payment[],
  options: { readonly leaveSafe?: true } = {},
): Promise<Round> {
  const lookups = await lookupsOf(call, payments);
  const round = await runRound(call, lookups, { atSafe: false, ...options });
  for (const batchId of reopened(lookups, round)) await sendBatch(call.deps, call.network, call.rpc, batchId);
  return round;
}

/**
 * Watches authorizations that may still move money although we answered otherwise, until they cannot any more: used ones
 * are judged by their log, unused ones end when a safe block is past `validBefore` (safety 3).
 */
export async function watchAuthorizations(deps: SettlementDeps, networkId: string, budget: Budget = UNBOUNDED): Promise<void> {
  const call = chainOf(deps, networkId);
  const watched = await listWatched(deps.database, networkId, WATCHED_LIMIT, SENT_MS);
  const run = async (payments: readonly Payment[]) => runRound(call, await lookupsOf(call, payments), { atSafe: true });
  await eachRound(call, chunks(watched), budget, ownTurns(call, run));
}

/**
 * Reads again the evidence of the final payments that these transactions prove: for transactions that the chain shows no more, or
 * elsewhere (settled ones are with the workflow of their batch, or with the sweeper). Where it is gone there is a correction (safety 5), and what must
 * go out again is left to the sweeper. A second call changes nothing. Throws chain_unavailable.
 */
export async function recheckTransactions(deps: RoundDeps, networkId: string, txHashes: readonly string[]): Promise<void> {
  const call = chainOf(deps, networkId);
  const payments = await listFinalProvenBy(deps.database, networkId, txHashes);
  for (const some of chunks(payments)) {
    await runRound(call, some.map(lookupOf), { atSafe: false });
  }
}

/** Looks at one payment now, as the sweeper would, and writes what is decided. A second call changes nothing. Throws chain_unavailable. */
export async function lookAgain(deps: SettlementDeps, payment: Payment): Promise<void> {
  const call = chainOf(deps, payment.network);
  await runRound(call, await lookupsOf(call, [payment]), { atSafe: true });
}

/** What is done with each part of a list. */
interface Turn<T> {
  /** Its payments, for the clocks where no node answers. */
  readonly payments: (some: readonly T[]) => readonly Payment[] | Promise<readonly Payment[]>;
  /** A round over it; notes that it had its turn. */
  readonly run: (some: readonly T[], payments: readonly Payment[]) => Promise<void>;
}

/**
 * Rounds over a list in parts, those looked at longest ago first. A round that the chain gives no answer for leaves its payments to the
 * clocks and keeps no other from its turn; they come first the next time.
 */
async function eachRound<T>(
  call: Chain<SettlementDeps>,
  parts: Iterable<readonly T[]>,
  budget: Budget,
  turn: Turn<T>,
): Promise<void> {
  let failures = 0;
  for (const some of parts) {
    if (budget.isSpent() || failures >= MOST_FAILURES) break;
    const payments = await turn.payments(some);
    try {
      await turn.run(some, payments);
      failures = 0;
    } catch (error) {
      if (!isChainUnavailable(error)) throw error;
      failures += 1;
      await runBlindRound(call, payments);
      call.deps.log.warn(
        { payments: payments.length, error: String(error) },
        'payments could not be checked; they are checked again later',
      );
    }
  }
}

/** Payments that have turns of their own. */
function ownTurns(call: Chain<SettlementDeps>, run: (payments: readonly Payment[]) => Promise<Round>): Turn<Payment> {
  return {
    payments: (some) => some,
    run: async (some) => {
      await run(some);
      await touchChecked(call.deps.database, some);
    },
  };
}

function* chunks<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += ROUND_LIMIT) yield list.slice(at, at + ROUND_LIMIT);
}

/** Whole batches that fill a round together, until the sweep has enough; one that holds more has its own. */
function* packed(batches: readonly UnfinalBatch[]): Generator<readonly UnfinalBatch[]> {
  let some: UnfinalBatch[] = [];
  let payments = 0;
  let total = 0;
  for (const batch of batches) {
    total += batch.settled;
    if (total > SETTLED_LIMIT && total > batch.settled) break;
    if (some.length > 0 && payments + batch.settled > ROUND_LIMIT) {
      yield some;
      [some, payments] = [[], 0];
    }
    some.push(batch);
    payments += batch.settled;
  }
  if (some.length > 0) yield some;
}

/** With what the rails say of them. */
async function lookupsOf(call: Chain<SettlementDeps>, payments: readonly Payment[]): Promise<readonly Lookup[]> {
  const words = await railWords(call.deps, payments);
  return payments.map((payment) => {
    const rail = words.get(payment.paymentId);
    return { ...lookupOf(payment), ...(rail && { rail }) };
  });
}

function lookupOf(payment: Payment): Lookup {
  const proof = payment.facts.evidence?.txHash;
  return { payment, hashes: proof?.startsWith('0x') ? [proof as Hex] : [] };
}

/** The batches whose bytes go out again: they were opened with the decision. */
function reopened(lookups: readonly Lookup[], round: Round): ReadonlySet<string> {
  const wanted = new Set(round.resend.map(({ paymentId }) => paymentId));
  return new Set(
    lookups.flatMap(({ payment }) => (wanted.has(payment.paymentId) && payment.facts.batchId ? [payment.facts.batchId] : [])),
  );
}
