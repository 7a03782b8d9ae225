/** Payments that are not decided, with what tells what they wait for. Open ones are few, and read by their partial indexes. */
import { sql as text } from 'kysely';
import type { Sql } from '../../../../db/database.ts';
import { acrossSites, run } from '../../../../db/statement.ts';
import type { PaymentState } from '../../../kernel/payment/state.ts';
import type { Undecided } from '../../rules/waitsFor.ts';

const all = acrossSites('the operator');

/** An undecided payment. */
export interface UndecidedPayment extends Undecided {
  readonly paymentId: string;
  readonly tenantId: string;
  readonly network: string;
  readonly host: string;
  readonly payer: string;
  readonly amountMicro: string;
  readonly ageSeconds: number;
}

/** Each state by itself: its partial index is found by a constant alone. */
const undecided = (condition: string) =>
  all
    .selectFrom('payment_state')
    .select(['tenantId', 'paymentId', 'acceptedAt'])
    .where(text<boolean>`${text.raw(condition)}`);

const UNDER_WAY = "stage = 'under_way'";
const HELD = "stage = 'held'";
/** A review that a person closed is watched no more. */
const REVIEW = "watch_side is not null and state = 'review'";

/** Undecided payments accepted at least so many seconds ago, the oldest first, and how many there are. */
export async function listUndecided(
  sql: Sql,
  { olderSeconds, limit }: { readonly olderSeconds: number; readonly limit: number },
): Promise<{ readonly count: number; readonly payments: readonly UndecidedPayment[] }> {
  const open = undecided(UNDER_WAY).unionAll(undecided(HELD)).unionAll(undecided(REVIEW));
  const isOld = text<boolean>`open.accepted_at <= now() - make_interval(secs => ${olderSeconds})`;
  const [counted] = await run(
    sql,
    all
      .selectFrom(open.as('open'))
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .where(isOld),
  );
  const rows = await run(
    sql,
    all
      .selectFrom(open.as('open'))
      .innerJoin('payment_state as s', (on) =>
        on.onRef('s.tenantId', '=', 'open.tenantId').onRef('s.paymentId', '=', 'open.paymentId'),
      )
      .innerJoin('payment_intake as i', (on) =>
        on.onRef('i.tenantId', '=', 'open.tenantId').onRef('i.paymentId', '=', 'open.paymentId'),
      )
      .leftJoin('settlement_batch as b', 'b.batchId', 's.batchId')
      .leftJoinLateral(
        (from) =>
          from
            .selectFrom('relayer_transaction as r')
            .select(['r.txHash', 'r.sentAt'])
            .whereRef('r.batchId', '=', 'b.batchId')
            .orderBy('r.attempt', 'desc')
            .limit(1)
            .as('newest'),
        (on) => on.onTrue(),
      )
      .select(['s.paymentId', 's.tenantId', 's.network', 's.state', 's.checkedAt', 'i.host', 'i.payer', 'i.amountMicro'])
      .select(['b.kind', 'b.state as batchState', 'b.relayer', 'b.nonce', 'newest.txHash as newestHash'])
      .select(text<number>`floor(extract(epoch from now() - open.accepted_at))::int`.as('ageSeconds'))
      .select(text<number | null>`floor(extract(epoch from now() - newest.sent_at))::int`.as('sentSeconds'))
      .where(isOld)
      .orderBy('open.acceptedAt')
      .orderBy('open.paymentId')
      .limit(limit),
  );
  const payments = rows.map(({ checkedAt, kind, batchState, relayer, nonce, newestHash, sentSeconds, state, ...row }) => ({
    ...row,
    state: state as PaymentState,
    wasLookedAt: checkedAt !== null,
    batch:
      kind === null || batchState === null
        ? null
        : { kind, state: batchState, relayer: relayer ?? '', nonce: nonce ?? '', txHash: newestHash, sentSeconds },
  }));
  return { count: Number(counted?.count ?? 0), payments };
}

/** What is open on each network: the kinds of alerts that name it first, and whether all its relayer keys are paused. */
export async function readNetworkTroubles(
  sql: Sql,
): Promise<ReadonlyMap<string, { readonly alerts: ReadonlySet<string>; readonly isPaused: boolean }>> {
  const [alerts, keys] = await Promise.all([
    run(
      sql,
      all
        .selectFrom('operator_alert')
        .select(['kind', text<string>`split_part(detail, ' ', 1)`.as('network')])
        .distinct()
        .where('resolvedAt', 'is', null),
    ),
    run(
      sql,
      all
        .selectFrom('relayer')
        .select(['network', text<boolean>`bool_and(paused_reason is not null)`.as('isPaused')])
        .groupBy('network'),
    ),
  ]);
  const networks = new Set([...alerts, ...keys].map(({ network }) => network));
  return new Map(
    [...networks].map((network) => {
      const kinds = alerts.flatMap((one) => (one.network === network ? [one.kind] : []));
      return [network, { alerts: new Set(kinds), isPaused: keys.some((one) => one.network === network && one.isPaused) }];
    }),
  );
}
