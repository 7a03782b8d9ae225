import { raiseAlert } from '../../../../db/alerts.ts';
import { readSights } from '../../../../platform/chain/evidence/sight.ts';
import type { Sight } from '../../../kernel/payment/sight.ts';
import type { Moment } from '../../rules/judge.ts';
import { judge, OUR_DELAY_MS, RAW_EXPIRED_WAITING, SENTENCES } from '../../rules/judge.ts';
import type { Occurrence } from '../../store/applyEvents.ts';
import { recordPrecheck } from '../../store/claim.ts';
import type { Payment } from '../../store/payment.ts';
import { listBehindOwn } from '../../store/queue.ts';
import type { ChainTransferRow } from '../../store/transfers.ts';
import type { Chain, SettlementDeps } from '../deps.ts';
import { isReadable } from './batchItem.ts';
import type { Judged } from './round.ts';
import { evidenceOf, momentOf, occurrencesOf, secondSourceFor } from './round.ts';
import type { Simulated } from './simulate.ts';
import { simulate } from './simulate.ts';

/** What looking at accepted payments found: which may be sent, what happened to others, and of which nothing is decided. */
export interface Examined {
  readonly sendable: readonly Payment[];
  /** One node refuses them and no second one confirms it, or their nonce is used and no log shows where it went. */
  readonly undecided: readonly Payment[];
  readonly occurrences: readonly Occurrence[];
  /** What was read of the chain for them, to be stored with them. */
  readonly transfers: readonly ChainTransferRow[];
}

/**
 * Looks at accepted payments before their first byte is sent (safety 8, 10, 18): whether the row can be read at all, so that a broken
 * one fails alone and not the batch; time left, blocked recipients, balance, nonce and simulation. What that means is `judge`'s to say.
 * `blocked` are recipients that are known not to take money. Writes nothing but marks. Outages throw; nothing is decided.
 */
export async function examine(
  call: Chain<SettlementDeps>,
  payments: readonly Payment[],
  blocked: ReadonlySet<string>,
): Promise<Examined> {
  const { deps, network, rpc } = call;
  const readable = payments.filter(isReadable);
  const broken = await Promise.all(
    payments.filter((payment) => !isReadable(payment)).map((payment) => unreadable(deps, payment)),
  );
  const now = momentOf(call);
  const judged: Judged[] = [];
  const behindOwn = await listBehindOwn(deps.database, network.id, readable.filter(isOurs(now)), OUR_DELAY_MS);
  const decide = (payment: Payment, sight: Sight | null): boolean => {
    const isBehindOwn = behindOwn.has(payment.paymentId);
    const verdict = judge(isBehindOwn ? { ...payment, isBehindOwn } : payment, sight, now);
    if (verdict !== 'wait') judged.push({ lookup: { payment, hashes: [] }, verdict });
    return verdict === 'wait';
  };
  const candidates = readable.filter((payment) => decide(payment, blocked.has(payment.payTo) ? PAYEE_BLOCKED : null));
  const simulated = await simulate(call, candidates);
  await notePrechecks(deps, candidates, simulated);
  const sendable: Payment[] = [];
  const used: Payment[] = [];
  for (const payment of candidates) {
    const found = simulated.get(payment.paymentId);
    if (!found) continue;
    const { check, simulation } = found;
    if (simulation === null) used.push(payment);
    else if (decide(payment, { ...UNUSED, head: check.blockNumber, simulation }))
      sendable.push({ ...payment, payerKind: check.payerKind });
  }
  const { sights, receipts } = await readSights(
    rpc,
    network,
    used.map((payment) => askOf(network, payment)),
    { atSafe: false },
  );
  for (const [at, payment] of used.entries()) decide(payment, { ...UNUSED, ...sights[at] });
  const transfers = evidenceOf(call, judged, receipts);
  const decided = new Set([...sendable, ...judged.map(({ lookup }) => lookup.payment)].map(({ paymentId }) => paymentId));
  const undecided = candidates.filter(({ paymentId }) => !decided.has(paymentId));
  return { sendable, undecided, occurrences: [...broken, ...occurrencesOf(judged)], transfers };
}

/** Ran out while it waited, and it would be our delay: then its payer's own payments are counted. */
function isOurs(now: Moment): (payment: Payment) => boolean {
  return (payment) => {
    const verdict = judge(payment, null, now);
    return verdict !== 'wait' && verdict.rawReason === RAW_EXPIRED_WAITING;
  };
}

const UNUSED: Sight = { head: 0n, nonce: 'unused', safe: null, spending: null, carrier: null, simulation: null, rail: null };
const PAYEE_BLOCKED: Sight = { ...UNUSED, simulation: { kind: 'payee_blocked' } };

function askOf(network: Chain['network'], payment: Payment) {
  const { payer, nonce, unusedAtBlock } = payment;
  return { payer, nonce, hashes: [], sinceBlock: unusedAtBlock, needsSecond: secondSourceFor(network, payment) };
}

/** A row that no calldata can be made of fails alone, and an operator looks. */
async function unreadable(deps: SettlementDeps, { tenantId, paymentId }: Payment): Promise<Occurrence> {
  await raiseAlert(deps.database, 'payment_unreadable', `payment ${paymentId}`, tenantId);
  const event = { type: 'refused', reason: 'malformed_payment' } as const;
  return { tenantId, paymentId, event, rawReason: 'unreadable_row', sentence: SENTENCES.malformed_payment };
}

/** Stores at which block each nonce was seen unused, and which kind the payer is (safety 2, 9). */
async function notePrechecks(
  deps: SettlementDeps,
  payments: readonly Payment[],
  simulated: ReadonlyMap<string, Simulated>,
): Promise<void> {
  const notes = payments.flatMap(({ tenantId, paymentId, unusedAtBlock, payerKind }) => {
    const check = simulated.get(paymentId)?.check;
    // Of a wallet of code it is always said, for the others of its payer.
    const isNews = check && (unusedAtBlock === null || payerKind !== check.payerKind || payerKind === 'contract');
    return isNews && !check.nonceUsed
      ? [{ tenantId, paymentId, unusedAtBlock: check.blockNumber, payerKind: check.payerKind }]
      : [];
  });
  await recordPrecheck(deps.database, notes);
}
