/** Whose turn it is: which of the payments that wait make the next batch (safety 9). Pure. */

/** A payment that waits for a batch, as far as choosing needs to know it. */
export interface WaitingPayment {
  readonly tenantId: string;
  readonly paymentId: string;
  readonly payer: string;
  readonly payTo: string;
  readonly payerKind: 'plain' | 'contract';
  readonly router: string;
  /** 1 for a wallet, 2 to 50 for a split. */
  readonly legs: number;
  readonly signatureBytes: number;
  /** How often a batch carried it in vain. */
  readonly attempts: number;
  /** How many payments shared its last batch; null before the first. */
  readonly batchSize: number | null;
  readonly acceptedAtMs: number;
}

/** What all payments of a batch have in common. */
export type BatchKind = Pick<WaitingPayment, 'payerKind' | 'router'>;

/** A batch while it is filled. */
export interface BatchRoom {
  /** Gas that one payment more would need; null when it does not fit. */
  costOf(payment: WaitingPayment): bigint | null;
  add(payment: WaitingPayment): void;
}

/** What choosing depends on besides the payments. */
export interface PickRules {
  readonly openRoom: (payerKind: BatchKind['payerKind']) => BatchRoom;
  /** How many more payments of a payer may go out now. */
  readonly payerRoom: (payment: WaitingPayment) => number;
  /** The kind of the batch that went out last; null when there was none. */
  readonly last: BatchKind | null;
  /** Payments that are in the batch already: it is filled up with others of their kind. */
  readonly taken?: readonly WaitingPayment[];
}

/** A choice. `left` need a batch of their own; those that must wait for their own payer are in neither list. */
export interface Picked {
  readonly picked: readonly WaitingPayment[];
  readonly left: readonly WaitingPayment[];
}

/** Gas of one turn: about two payments to one author each. */
const TURN_GAS = 250_000n;

interface Turn {
  readonly queue: readonly WaitingPayment[];
  at: number;
  credit: bigint;
}

/**
 * Chooses the next batch: one kind of payments, the sites in turns by gas (deficit round robin), the oldest first within a site, so
 * that a site with much work has no more of a batch than one with little. The oldest of all goes first, whatever it needs: everything
 * goes out in the end. What does not fit is skipped and keeps nothing behind it waiting.
 */
export function pickBatch(waiting: readonly WaitingPayment[], rules: PickRules): Picked {
  const ready = waiting.filter((payment) => rules.payerRoom(payment) > 0).toSorted(byAge);
  const kind = rules.taken?.[0] ?? nextKind(ready, rules.last);
  if (!kind) return { picked: [], left: [] };
  const batch = openBatch(rules, kind);
  for (const payment of rules.taken ?? []) batch.take(payment);
  const turns = turnsOf(ready.filter((payment) => isOfKind(payment, kind)));
  const oldest = turns[0];
  const first = oldest?.queue[0];
  if (oldest && first && batch.costOf(first) !== null) {
    oldest.credit -= batch.take(first);
    oldest.at += 1;
  }
  for (let open = turns; open.length > 0; open = open.filter(({ queue, at }) => at < queue.length)) {
    for (const turn of open) takeTurn(turn, batch);
  }
  const gone = new Set(batch.picked);
  return { picked: batch.picked, left: ready.filter((payment) => !gone.has(payment) && !batch.isFull(payment)) };
}

/** Most payments that may share the next batch of one: any at first, half as many as shared the one in vain, then none. */
export function mostTogether({ attempts, batchSize }: Pick<WaitingPayment, 'attempts' | 'batchSize'>): number {
  if (attempts === 0) return Number.POSITIVE_INFINITY;
  return attempts === 1 ? Math.max(1, Math.floor((batchSize ?? 1) / 2)) : 1;
}

function takeTurn(turn: Turn, batch: ReturnType<typeof openBatch>): void {
  turn.credit += TURN_GAS;
  for (let next = turn.queue[turn.at]; next; next = turn.queue[turn.at]) {
    const cost = batch.costOf(next);
    if (cost !== null && cost > turn.credit) return;
    turn.at += 1;
    if (cost !== null) turn.credit -= batch.take(next);
  }
}

/** The batch, its limits, and how many of each payer are in it. */
function openBatch(rules: PickRules, kind: BatchKind) {
  const room = rules.openRoom(kind.payerKind);
  const ofPayer = new Map<string, number>();
  const picked: WaitingPayment[] = [];
  let [count, most] = [0, Number.POSITIVE_INFINITY];
  const isFull = (payment: WaitingPayment): boolean => (ofPayer.get(payment.payer) ?? 0) >= rules.payerRoom(payment);
  const costOf = (payment: WaitingPayment): bigint | null =>
    isFull(payment) || count + 1 > Math.min(most, mostTogether(payment)) ? null : room.costOf(payment);
  const take = (payment: WaitingPayment): bigint => {
    const cost = room.costOf(payment) ?? 0n;
    room.add(payment);
    count += 1;
    most = Math.min(most, mostTogether(payment));
    ofPayer.set(payment.payer, (ofPayer.get(payment.payer) ?? 0) + 1);
    if (!rules.taken?.includes(payment)) picked.push(payment);
    return cost;
  };
  return { picked, costOf, take, isFull };
}

/** The kind of the oldest payment, another one than that of the last batch where there is one: no kind keeps another waiting. */
function nextKind(oldestFirst: readonly WaitingPayment[], last: BatchKind | null): BatchKind | undefined {
  return oldestFirst.find((payment) => last === null || !isOfKind(payment, last)) ?? oldestFirst[0];
}

function isOfKind(payment: BatchKind, kind: BatchKind): boolean {
  return payment.payerKind === kind.payerKind && payment.router === kind.router;
}

function turnsOf(oldestFirst: readonly WaitingPayment[]): Turn[] {
  const byTenant = Map.groupBy(oldestFirst, ({ tenantId }) => tenantId);
  return [...byTenant.values()].map((queue) => ({ queue, at: 0, credit: 0n }));
}

function byAge(a: WaitingPayment, b: WaitingPayment): number {
  return a.acceptedAtMs - b.acceptedAtMs || (a.paymentId < b.paymentId ? -1 : 1);
}
