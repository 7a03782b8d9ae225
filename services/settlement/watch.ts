import { isChainUnavailable } from '../../chain/rpc.ts';
import type { Payment, PaymentRef } from '../../db/settlement/payment.ts';
import { listFinalProvenBy, listUnfinal, listWatched, touchChecked } from '../../db/settlement/sweep.ts';
import type { Hex } from '../../domain/payload.ts';
import { railWords } from '../rails/rails.ts';
import { sendBatch } from '../relayer/lane.ts';
import type { Budget } from './budget.ts';
import { UNBOUNDED } from './budget.ts';
import type { Chain, RoundDeps, SettlementDeps } from './deps.ts';
import { chainOf } from './deps.ts';
import type { Lookup, Round } from './round.ts';
import { ROUND_LIMIT, runBlindRound, runRound } from './round.ts';

/** Settled payments of a round: they share few transactions, so that a round keeps up with what a lane can settle. */
const SETTLED_LIMIT = 2_000;
/** Watched payments of a round, of those that bytes of ours carried, and of the others. */
const WATCHED_LIMIT = 600;
/** A live batch decides what it sent by then; until then looking at its payments one by one would only be twice the work. */
const SENT_MS = 5_000;
/** Rounds that may fail one after another before the rest is left to the next sweep. */
const MOST_FAILURES = 3;

/**
 * Reads the evidence of settled payments again: at the safe block they become final; gone, they go back and their bytes
 * go out again; moved to another block, the evidence moves with them (safety 3, 5). Returns payments that need a batch.
 */
export async function watchSettled(
  deps: SettlementDeps,
  networkId: string,
  budget: Budget = UNBOUNDED,
): Promise<readonly PaymentRef[]> {
  const call = chainOf(deps, networkId);
  return eachRound(call, await listUnfinal(deps.database, networkId, SETTLED_LIMIT), budget, async (payments) => {
    const lookups = await lookupsOf(call, payments);
    const round = await runRound(call, lookups, { atSafe: false });
    for (const batchId of reopened(lookups, round)) await sendBatch(deps, call.network, call.rpc, batchId);
    return round;
  });
}

/**
 * Watches authorizations that may still move money although we answered otherwise, until they cannot any more: used ones
 * are judged by their log, unused ones end when a safe block is past `validBefore` (safety 3). Returns payments that
 * need a batch.
 */
export async function watchAuthorizations(
  deps: SettlementDeps,
  networkId: string,
  budget: Budget = UNBOUNDED,
): Promise<readonly PaymentRef[]> {
  const call = chainOf(deps, networkId);
  const watched = await listWatched(deps.database, networkId, WATCHED_LIMIT, SENT_MS);
  return eachRound(call, watched, budget, async (payments) => runRound(call, await lookupsOf(call, payments), { atSafe: true }));
}

/**
 * Reads again the evidence of the final payments that these transactions prove: for transactions that the chain shows no more, or
 * elsewhere (settled ones are with the sweeper). Where it is gone there is a correction (safety 5); what must go out again is left to
 * the sweeper, too. A second call changes nothing. Throws chain_unavailable.
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

/**
 * Rounds over a list, those looked at longest ago first. A round that the chain gives no answer for leaves its payments to the clocks
 * and keeps no other from its turn; they come first the next time.
 */
async function eachRound(
  call: Chain<SettlementDeps>,
  payments: readonly Payment[],
  budget: Budget,
  run: (payments: readonly Payment[]) => Promise<Round>,
): Promise<readonly PaymentRef[]> {
  const released: PaymentRef[] = [];
  let failures = 0;
  for (const some of chunks(payments)) {
    if (budget.isSpent() || failures >= MOST_FAILURES) break;
    try {
      const round = await run(some);
      await touchChecked(call.deps.database, some);
      released.push(...round.released);
      failures = 0;
    } catch (error) {
      if (!isChainUnavailable(error)) throw error;
      failures += 1;
      released.push(...(await runBlindRound(call, some)).released);
      call.deps.log.warn(
        { payments: some.length, error: String(error) },
        'payments could not be looked at; they are again later',
      );
    }
  }
  return released;
}

function* chunks(payments: readonly Payment[]): Generator<readonly Payment[]> {
  for (let at = 0; at < payments.length; at += ROUND_LIMIT) yield payments.slice(at, at + ROUND_LIMIT);
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
