import { openRoom } from '../../../../platform/chain/calls/calldata.ts';
import { isClaimable } from '../../../kernel/payment/state.ts';
import { isStruck, NEW_PAYER, payerRoom, UNDECIDED_LIMIT } from '../../rules/payerLimits.ts';
import type { PickRules, WaitingPayment } from '../../rules/pickBatch.ts';
import { pickBatch } from '../../rules/pickBatch.ts';
import { listBlockedPayees } from '../../store/admission.ts';
import type { Occurrence } from '../../store/applyEvents.ts';
import { applyEvents } from '../../store/applyEvents.ts';
import type { Payment } from '../../store/payment.ts';
import { listPayments } from '../../store/payment.ts';
import { findLastKind, readPayers } from '../../store/queue.ts';
import { touchChecked } from '../../store/sweep.ts';
import type { Chain, SettlementDeps } from '../deps.ts';
import { examine } from './examine.ts';
import { applyCounted } from './round.ts';

/** What should go out next. */
export interface Choice {
  /** Payments of one payer kind and router that fit into one batch and that the chain would take now. */
  readonly chosen: readonly Payment[];
  /** Payments wait that need a batch of their own. */
  readonly isMore: boolean;
  /** Payments wait, or may wait unseen, that go later: when others of their payer are decided, or when a second node agrees on them. */
  readonly isHeldBack: boolean;
  /** True when something was decided or postponed on the way: looking again would not find the same. */
  readonly hasMoved: boolean;
}

/** Looks of one choice that find nothing to send, so that what one node alone refuses does not end it. */
const MOST_LOOKS = 4;
/** Where no more than so many wait, all of them are read before it is known which are chosen: that saves a lone payment a round trip. */
const READ_EARLY = 20;
const SENTENCE_STRUCK = 'too many payments of this payer failed on chain';

/**
 * Chooses the payments of a network's next batch from those that wait (`pickBatch`), and looks at those before they are sent, at no others: what
 * a hostile site has waiting costs nobody a simulation. Where more than half of them fall out, the batch is filled up once; where none can be
 * sent, it looks at others, of another kind first if there is one. What stays undecided is postponed (`listWaiting`). Outages throw, nothing is
 * decided.
 */
export async function choose({ deps, network, rpc }: Chain<SettlementDeps>, waiting: readonly WaitingPayment[]): Promise<Choice> {
  if (waiting.length === 0) return { chosen: [], isMore: false, isHeldBack: false, hasMoved: false };
  const read = (payments: readonly WaitingPayment[]) => readAll(deps, network.id, payments);
  const [payers, last, early] = await Promise.all([
    readPayers(
      deps.database,
      network.id,
      waiting.map(({ payer }) => payer),
    ),
    findLastKind(deps.database, network.id),
    waiting.length <= READ_EARLY ? read(waiting) : null,
  ]);
  const recordOf = ({ payer }: WaitingPayment) => payers.get(payer) ?? NEW_PAYER;
  const struck = waiting.filter((payment) => isStruck(recordOf(payment)));
  const rules: Omit<PickRules, 'last'> = { openRoom, payerRoom: (payment) => payerRoom(payment.payerKind, recordOf(payment)) };
  const look = async (picked: readonly WaitingPayment[]) => {
    const { rows, blocked } = early ?? (await read(picked));
    const ids = new Set(picked.map(({ paymentId }) => paymentId));
    const claimable = rows.filter((row) => ids.has(row.paymentId) && isClaimable(row));
    const { sendable, undecided, occurrences, transfers } = await examine({ deps, network, rpc }, claimable, blocked);
    const [applied] = await Promise.all([applyCounted({ deps }, occurrences, transfers), touchChecked(deps.database, undecided)]);
    return { ...applied, sendable, undecided, hasMoved: applied.changed.length + undecided.length > 0 };
  };
  const refused = await applyEvents(deps.database, struck.map(strikeOut));
  const looks: Awaited<ReturnType<typeof look>>[] = [];
  let [open, tried, asked] = [waiting, last, 0];
  let taken: readonly WaitingPayment[] = [];
  do {
    const next = pickBatch(open, { ...rules, taken, last: tried });
    const looked = await look(next.picked);
    const passed = new Set(looked.sendable.map(({ paymentId }) => paymentId));
    looks.push(looked);
    taken = [...taken, ...next.picked.filter(({ paymentId }) => passed.has(paymentId))];
    asked += next.picked.length;
    open = next.left;
    tried = next.picked[0] ?? tried;
  } while (2 * taken.length < asked && open.length > 0 && looks.length < (taken.length > 0 ? 2 : MOST_LOOKS));
  const sendable = looks.flatMap((looked) => looked.sendable);
  const chosen = sendable.filter(
    ({ payerKind, router }) => payerKind === sendable[0]?.payerKind && router === sendable[0].router,
  );
  const released = [refused, ...looks].flatMap((applied) => applied.released);
  const hasMoved = refused.changed.length > 0 || looks.some((looked) => looked.hasMoved);
  const isMore = chosen.length < sendable.length || released.length > 0 || open.length > 0;
  const isForLater = struck.length + asked + open.length < waiting.length || looks.some(({ undecided }) => undecided.length > 0);
  return { chosen, isMore, isHeldBack: isForLater || hasFullWindow(waiting), hasMoved };
}

/** True when as many of a wallet of code wait as are read of one (`listWaiting`): there may be more. */
function hasFullWindow(waiting: readonly WaitingPayment[]): boolean {
  const ofCode = waiting.filter(({ payerKind }) => payerKind === 'contract');
  return [...Map.groupBy(ofCode, ({ payer }) => payer).values()].some(({ length }) => length >= UNDECIDED_LIMIT);
}

/** Payments as they stand, and which of their recipients are known not to take money. */
async function readAll({ database }: SettlementDeps, networkId: string, payments: readonly WaitingPayment[]) {
  const payTos = payments.map(({ payTo }) => payTo);
  const [rows, blocked] = await Promise.all([listPayments(database, payments), listBlockedPayees(database, networkId, payTos)]);
  return { rows, blocked };
}

/** Taken in before its payer's payments began to fail: it is not sent after them (safety 19). */
function strikeOut({ tenantId, paymentId }: WaitingPayment): Occurrence {
  const event = { type: 'refused', reason: 'settlement_failed' } as const;
  return { tenantId, paymentId, event, rawReason: 'payer_struck', sentence: SENTENCE_STRUCK };
}
