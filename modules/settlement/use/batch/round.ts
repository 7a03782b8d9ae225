import { raiseAlert } from '../../../../db/alerts.ts';
import type { Receipt } from '../../../../platform/chain/evidence/receipts.ts';
import type { ReadReceipt } from '../../../../platform/chain/evidence/sight.ts';
import { readSights } from '../../../../platform/chain/evidence/sight.ts';
import { confirmationsFor, DEFAULT_SECOND_SOURCE_MICRO } from '../../../../platform/chain/network.ts';
import type { Carrier, RailWord, Sight, Spending } from '../../../kernel/payment/sight.ts';
import { isSettled } from '../../../kernel/payment/state.ts';
import type { Hex } from '../../../kernel/x402/payload.ts';
import type { Moment, Verdict } from '../../rules/judge.ts';
import { isUnexplained, judge, RAW_EXPIRED_WAITING } from '../../rules/judge.ts';
import { needsSecondSource } from '../../rules/secondSource.ts';
import { verdictsOf } from '../../rules/verdicts.ts';
import type { Applied, Occurrence } from '../../store/applyEvents.ts';
import { applyEvents, mergeApplied } from '../../store/applyEvents.ts';
import type { Payment } from '../../store/payment.ts';
import type { ChainTransferRow } from '../../store/transfers.ts';
import { recordTransfers } from '../../store/transfers.ts';
import type { Chain } from '../deps.ts';
import { simulate } from './simulate.ts';
import { transferRows } from './transferRows.ts';

/** A payment to be judged, and what the caller knows of it besides. */
export interface Lookup {
  readonly payment: Payment;
  /** Transactions that may have moved it; read before anything is asked of its nonce. */
  readonly hashes: readonly Hex[];
  readonly carrier?: Carrier;
  readonly rail?: RailWord;
}

/** What a round did. */
export interface Round extends Applied {
  /** Judged to be at the safe block, and not written: the caller decides whether their batches are final. */
  readonly safe: readonly Judged[];
}

/** One payment with what was decided of it. */
export interface Judged {
  readonly lookup: Lookup;
  readonly verdict: Verdict;
}

/** The most payments of one round: of one read of the chain and of one database transaction. */
export const ROUND_LIMIT = 200;

/**
 * One round over at most 200 payments: what the chain shows of them, what that means, written. Confirming, watching and sweeping differ
 * only in the payments they bring and in what they do with the result. What is proven is written before anything is simulated, so that
 * nothing that keeps another payment undecided holds it up (safety 20). Receipts that the caller has already are not read again, and
 * are stored as evidence. A second call changes nothing. Throws `chain_unavailable`.
 */
export async function runRound(
  call: Chain,
  lookups: readonly Lookup[],
  options: { readonly atSafe: boolean; readonly receipts?: readonly Receipt[]; readonly leaveSafe?: true },
): Promise<Round> {
  const asks = lookups.map(({ payment, hashes, carrier }) => ({
    payer: payment.payer,
    nonce: payment.nonce,
    hashes,
    sinceBlock: payment.facts.evidence?.blockNumber || payment.unusedAtBlock,
    validBefore: payment.validBefore,
    needsSecond: secondSourceFor(call.network, payment, carrier),
  }));
  const { sights, receipts } = await readSights(call.rpc, call.network, asks, options);
  const now = momentOf(call);
  const judged: Judged[] = [];
  const unexplained: { lookup: Lookup; sight: Sight }[] = [];
  for (const [at, lookup] of lookups.entries()) {
    const { carrier = null, rail = null } = lookup;
    const seen = sights[at];
    if (!seen) continue;
    if (seen.isContradicted) await tellDispute(call, lookup.payment);
    const sight = { ...seen, carrier, rail, simulation: null };
    const verdicts = verdictsOf(lookup.payment, sight, now);
    judged.push(...verdicts.map((verdict) => ({ lookup, verdict })));
    if (verdicts.length > 0) continue;
    if (isUnexplained(lookup.payment, sight)) unexplained.push({ lookup, sight });
  }
  const given = new Set(options.receipts?.map(({ hash }) => hash));
  const [safe, told] = partition(judged, ({ verdict }) => options.leaveSafe === true && verdict.event.type === 'safe');
  const proven = { ...(await write(call, told, receipts, given)), safe };
  if (unexplained.length === 0) return proven;
  const simulated = await simulate(
    call,
    unexplained.map(({ lookup }) => lookup.payment),
  );
  const diagnosed = unexplained.flatMap(({ lookup, sight }): Judged[] => {
    const simulation = simulated.get(lookup.payment.paymentId)?.simulation ?? null;
    const verdict = judge(lookup.payment, { ...sight, simulation }, now);
    return verdict === 'wait' ? [] : [{ lookup, verdict }];
  });
  return merge(proven, await write(call, diagnosed, receipts, new Set()));
}

/** An operator hears of nodes that show different logs for a payment, which waits meanwhile. */
async function tellDispute({ deps, network }: Chain, { paymentId, tenantId }: Payment): Promise<void> {
  await raiseAlert(
    deps.database,
    'evidence_disputed',
    `payment ${paymentId}: nodes of ${network.id} show different logs`,
    tenantId,
  );
}

/** Judges payments that no node said anything of: only clocks speak. A second call changes nothing. */
export function runBlindRound(call: Chain, payments: readonly Payment[]): Promise<Round> {
  const now = momentOf(call);
  const judged = payments.flatMap((payment): Judged[] => {
    const verdict = judge(payment, null, now);
    return verdict === 'wait' ? [] : [{ lookup: { payment, hashes: [] }, verdict }];
  });
  return write(call, judged, new Map(), new Set());
}

/** Writes that payments are final, each by itself. A second call changes nothing. */
export function writeSafe(call: Chain, safe: readonly Judged[]): Promise<Round> {
  return write(call, safe, new Map(), new Set());
}

/** What of a payment one node alone must not say, on its network. */
export function secondSourceFor(
  { secondSourceFromMicro = DEFAULT_SECOND_SOURCE_MICRO }: Chain['network'],
  payment: Payment,
  carrier: Carrier | null = null,
): (spending: Spending | null) => boolean {
  return (spending) => needsSecondSource(payment, spending, secondSourceFromMicro, carrier);
}

/** This moment of this network, for judging. */
export function momentOf({ deps, network }: Pick<Chain, 'deps' | 'network'>): Moment {
  return {
    seconds: Math.floor(deps.now() / 1000),
    blockTimeMs: network.blockTimeMs,
    confirmationsFor: (amountMicro) => confirmationsFor(network, amountMicro),
  };
}

/** What happened, as it is written. */
export function occurrencesOf(judged: readonly Judged[]): readonly Occurrence[] {
  return judged.map(({ lookup: { payment, hashes }, verdict }) => {
    const { event, rawReason, sentence, timeSeconds, strike } = verdict;
    const isOurs = event.type !== 'evidence' || hashes.some((hash) => hash === event.transfer.txHash);
    return {
      tenantId: payment.tenantId,
      paymentId: payment.paymentId,
      event,
      ...(rawReason !== undefined && { rawReason }),
      ...(sentence !== undefined && { sentence }),
      ...(strike && { strike }),
      ...(!isOurs && !isSettled(payment.facts.state) && { frontRun: true }),
      ...(timeSeconds !== undefined && { blockTime: new Date(Number(timeSeconds) * 1000) }),
    };
  });
}

/**
 * Applies what happened (`applyEvents`), and counts our delays and the front-runs among what it changed: of two workers that judge the same payment
 * one counts it.
 */
export async function applyCounted(
  { deps }: Pick<Chain, 'deps'>,
  occurrences: readonly Occurrence[],
  transfers: readonly ChainTransferRow[],
): Promise<Applied> {
  const applied = await applyEvents(deps.database, occurrences, transfers);
  for (const { rawReason, frontRun } of applied.changed) {
    if (rawReason === RAW_EXPIRED_WAITING) deps.metrics?.count('svc.settle.expired_waiting');
    if (frontRun) deps.metrics?.count('svc.settle.front_run');
  }
  return applied;
}

/** The transfers that prove what was judged, and those of the receipts `besides`, as evidence to be stored with the decisions. */
export function evidenceOf(
  { network }: Chain,
  judged: readonly Judged[],
  receipts: ReadonlyMap<string, ReadReceipt>,
  besides: ReadonlySet<string> = new Set(),
): readonly ChainTransferRow[] {
  const proofs = new Set(besides);
  for (const { verdict } of judged) if (verdict.event.type === 'evidence') proofs.add(verdict.event.transfer.txHash);
  return [...proofs].flatMap((hash) => receipts.get(hash) ?? []).flatMap((read) => rowsOf(network, read));
}

function rowsOf(network: Chain['network'], { evidence, timeSeconds }: ReadReceipt): readonly ChainTransferRow[] {
  return transferRows(network, evidence, new Date(Number(timeSeconds) * 1000));
}

/** Stores the transfers of a receipt that decides nothing as evidence, as read. A second call changes nothing. */
export async function storeEvidence({ deps, network }: Chain, receipt: ReadReceipt): Promise<void> {
  await recordTransfers(deps.database, rowsOf(network, receipt));
}

async function write(
  call: Chain,
  judged: readonly Judged[],
  receipts: ReadonlyMap<string, ReadReceipt>,
  stored: ReadonlySet<string>,
): Promise<Round> {
  const { deps } = call;
  const applied = await applyCounted(call, occurrencesOf(judged), evidenceOf(call, judged, receipts, stored));
  for (const { paymentId } of applied.poisoned) deps.log.error({ paymentId }, 'a paid payment could not be recorded');
  return { ...applied, safe: [] };
}

function merge(a: Round, b: Round): Round {
  return { ...mergeApplied(a, b), safe: [...a.safe, ...b.safe] };
}

function partition<T>(list: readonly T[], test: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [list.filter(test), list.filter((one) => !test(one))];
}
