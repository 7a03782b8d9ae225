import { isTxHash } from '../../../../../platform/chain/facilitator.ts';
import type { RailWord } from '../../../../kernel/payment/sight.ts';
import { reasonOf } from '../../../../kernel/x402/failure.ts';
import type { Submission } from '../../../store/facilitator.ts';
import { listByOwnId, reopenSubmission } from '../../../store/facilitator.ts';
import type { Payment } from '../../../store/payment.ts';
import { batchItem } from '../../batch/batchItem.ts';
import type { SettlementDeps } from '../../deps.ts';
import { REFUSAL_LIMIT } from './ask.ts';

/** Asked again this long after it was settled: a facilitator that takes a transfer back does so at once. */
const FINAL_AFTER_MS = 60_000;
/** Status calls of one look, all at once: a facilitator that answers none of them must not hold up the sweeper's round. */
const AT_ONCE = 32;

/** What a submission says of its payment; null when only the chain counts. */
export function wordOfSubmission({ payment, said, reference, refusals, asks, detail }: Submission): RailWord | null {
  const id = reference !== null && !isTxHash(reference) ? reference : null;
  if (said === 'refused') {
    // Its own word fails a payment when a transfer under an id of its own failed, or when it refused several times and never did anything
    // else: once an answer was lost, the transaction may be on its way, and only the chain's no or the authorization's end decides.
    const isBelieved = refusals >= REFUSAL_LIMIT && (refusals === asks || id !== null);
    const raw = detail ?? 'refused';
    return { kind: 'refused', believed: isBelieved ? { reason: reasonOf(raw), raw } : null };
  }
  if (id === null) return null;
  return said === 'settled' ? movedWord(payment, id) : { kind: 'moving' };
}

/** At a split no money arrives under an id, and its authors could not be paid: such an id never settles it (safety 4). */
function movedWord(payment: Payment, id: string): RailWord {
  return payment.legWords === null ? { kind: 'moved', id } : { kind: 'moving' };
}

/**
 * What the facilitator says of payments that are watched. Settled ones that an id of its own proves are asked about once a minute has
 * gone by: still settled, or gone, and then handed over again. Those under review that wait for an id are asked about, too: no batch
 * does any more. An id that failed says nothing: the chain decides.
 */
export async function wordsOfWatched(deps: SettlementDeps, payments: readonly Payment[]): Promise<ReadonlyMap<string, RailWord>> {
  const words = new Map<string, RailWord>();
  const idOf = await listByOwnId(
    deps.database,
    payments.filter(({ facts }) => facts.state === 'broadcast' || facts.state === 'review'),
  );
  for (const paymentId of idOf.keys()) words.set(paymentId, { kind: 'moving' });
  const due = payments.filter((payment) =>
    idOf.has(payment.paymentId) ? payment.facts.state === 'review' : isDueByTransfer(deps, payment),
  );
  await Promise.all(
    inTurn(due).map(async (payment) => {
      const word = await ask(deps, payment, idOf.get(payment.paymentId) ?? payment.facts.evidence?.txHash ?? '');
      if (word === null) words.delete(payment.paymentId);
      else words.set(payment.paymentId, word);
    }),
  );
  return words;
}

/** True for a settled payment that an id proves, not a transaction, once a minute has gone by. */
function isDueByTransfer(deps: SettlementDeps, { facts, decidedAt, acceptedAt }: Payment): boolean {
  const isById = facts.evidence !== null && !isTxHash(facts.evidence.txHash);
  return isById && deps.now() - (decidedAt ?? acceptedAt).getTime() >= FINAL_AFTER_MS;
}

/** Of more than can be asked at once, each has its turn. */
function inTurn(payments: readonly Payment[]): readonly Payment[] {
  const first = Math.floor(Math.random() * payments.length);
  return [...payments.slice(first), ...payments.slice(0, first)].slice(0, AT_ONCE);
}

async function ask(deps: SettlementDeps, payment: Payment, id: string): Promise<RailWord | null> {
  const status = (await deps.facilitatorOf(payment.network)?.status(id, batchItem(payment))) ?? 'open';
  if (status === 'open') return { kind: 'moving' };
  if (status === 'settled') return movedWord(payment, id);
  if (payment.facts.evidence === null) return null;
  await reopenSubmission(deps.database, payment);
  return { kind: 'gone', id };
}
