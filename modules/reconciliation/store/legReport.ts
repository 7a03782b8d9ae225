/** The SQL of the reconciliation report: recorded legs of one tenant beside what `chain_transfer` shows (invariant 10). */

import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import type { ExceptionReason, SplitTransfer } from '../../kernel/money/splitPayouts.ts';
import { REASON_UNSHOWN } from '../../kernel/money/splitPayouts.ts';
import { intakeOf, stateOf } from '../../settlement/store/payment.ts';
import { closedOf, isNear } from '../../settlement/store/returning.ts';

/** Half open; null: without that end. */
export interface ReportWindow {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** One kind of outcome of a recorded leg: settled when `reason` is null. */
export interface LegCount {
  readonly reason: ExceptionReason | null;
  readonly legs: number;
  readonly micro: bigint;
}

/** One recorded leg that the chain does not show settled. */
export interface OpenLeg {
  readonly paymentId: string;
  readonly crossingId: string;
  readonly host: string;
  readonly slug: string;
  readonly kind: 'read' | 'citation';
  readonly toAddress: string;
  readonly micro: bigint;
  readonly recordedAt: Date;
  readonly reason: ExceptionReason;
  readonly txHash: string | null;
}

const inWindow = (at: string): string => `($2::timestamptz is null or ${at} >= $2) and ($3::timestamptz is null or ${at} < $3)`;

/**
 * The legs of the sales of the window ($1 tenant, $2 from, $3 to), each with those that correct it, whenever they were recorded: `of_sale`, of the sale's
 * time. What was corrected is little, and asked for by the index of corrections.
 */
const OF_SALES = `corrected as materialized (
    select distinct payment_id from ledger.crossing where tenant_id = $1 and sequence % 2 = 1
  ), of_sale as (
    select tenant_id, payment_id, to_address, amount_micro, at from ledger.leg where tenant_id = $1 and ${inWindow('at')}
      and payment_id not in (select payment_id from corrected)
    union all
    select l.tenant_id, l.payment_id, l.to_address, l.amount_micro, sale.at from corrected
      join ledger.crossing sale on sale.tenant_id = $1 and sale.payment_id = corrected.payment_id and sale.sequence = 0
      join ledger.crossing c on c.tenant_id = $1 and c.payment_id = corrected.payment_id
      join ledger.leg l on l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id
     where ${inWindow('sale.at')}
  )`;

/** Why a leg is open of whose payment the chain shows nothing, by the payment's state; `closed`: a review that a person ended. */
const UNSHOWN = Object.entries({ ...REASON_UNSHOWN, closed: 'written_off' })
  .map(([state, reason]) => `when '${state}' then '${reason}'`)
  .join(' ');

const positiveLegs = (
  schema: 'public' | 'archive',
): string => `select leg.*, crossing.sequence, crossing.recorded_at from ${schema}.crossing
      join ${schema}.leg on leg.tenant_id = $1 and leg.crossing_id = crossing.crossing_id
      where crossing.tenant_id = $1 and crossing.payment_id = judged.payment_id and leg.to_address = judged.to_address
        and leg.amount_micro > 0`;

/**
 * Judges every payment and payee with a positive net amount in the window ($1 tenant, $2 from, $3 to). `judged` has a row each:
 * reason null is settled. The payer's own transfer is found by (sender, nonce), by an index of nonces alone, never by a reference of ours; a
 * split's payout must be, of each author, the sum of the legs of all authorizations of that transaction, and come after all of them (safety
 * 4): then it paid these and nothing else. Whatever is not so plain is traced payout by payout (`judgeLegs`). Rows meet by sorting and by indexes,
 * each lateral part behind a fence (db/PLANS.md).
 */
const JUDGED = `
  ${OF_SALES}, net as (
    select tenant_id, payment_id, to_address, sum(amount_micro) as micro, min(at) as at from of_sale
     group by tenant_id, payment_id, to_address having sum(amount_micro) > 0
  ), seen as (
    select net.*, p.network, p.payer, p.nonce, p.pay_to, p.amount_micro, p.leg_words,
      case when s.state = 'review' and s.review_closed_at is not null then 'closed' else s.state end as state, s.tx_hash as known_hash,
      shown.tx_hash, coalesce(shown.to_address = p.pay_to and shown.amount_micro = p.amount_micro, false) as moved
    from net cross join lateral (${intakeOf('net')} union all ${closedOf('payment_intake', 'net', 'net.at')}) as p
      cross join lateral (${stateOf('net')} union all ${closedOf('payment_state', 'net', 'net.at')}) as s
    left join lateral (
      select t.tx_hash, t.to_address, t.amount_micro from (select * from ledger.chain_transfer where nonce = p.nonce offset 0) as t
       where t.network = p.network and t.from_address = p.payer and t.token = p.asset
       order by t.block_number desc limit 1
    ) as shown on true
  ), transfer as (
    select payout.network, payout.tx_hash, t.* from (
      select distinct network, tx_hash from seen where moved and leg_words is not null
    ) as payout cross join lateral (
      select from_address, to_address, amount_micro, nonce, log_position from ledger.chain_transfer
       where chain_transfer.network = payout.network and chain_transfer.tx_hash = payout.tx_hash offset 0
    ) as t
  ), owed as (
    select network, tx_hash, pay_to, to_address, last_in, case when ordinal > 0 then floored else
      total - coalesce(sum(floored) filter (where ordinal > 0) over (partition by network, tx_hash, pay_to), 0) end as micro
    from (
      select network, tx_hash, transfer.to_address as pay_to, author.to_address, author.ordinal, sum(amount_micro) as total,
        sum(div(amount_micro * author.weight, author.total_weight)) as floored, max(log_position) as last_in
      from transfer cross join lateral (
        select to_address, ordinal, weight, total_weight from split_leg
         where split_leg.network = transfer.network and split_leg.pay_to = transfer.to_address offset 0
      ) as author
      where nonce is not null group by network, tx_hash, transfer.to_address, author.to_address, author.ordinal
    ) as due
  ), paid as (
    select network, tx_hash, from_address as pay_to, to_address, sum(amount_micro) as micro, min(log_position) as first_out
      from transfer
     group by network, tx_hash, from_address, to_address
  ), beside as (
    select line.*, max(owed_part) over of_author as owed_micro, coalesce(max(paid_part) over of_author, 0) as paid_micro,
      count(paid_part) over of_payout > 0 as is_paid_out, max(last_in) over of_payout < min(first_out) over of_payout as is_plain
    from (
      select payment_id, to_address, micro, at, network, payer, nonce, pay_to, amount_micro, leg_words, state, known_hash, tx_hash, moved,
        null::numeric as owed_part, null::numeric as paid_part, null::int as last_in, null::int as first_out from seen
      union all
      select null, to_address, null, null, network, null, null, pay_to, null, null, null, null, tx_hash, null, micro, null, last_in, null from owed
      union all
      select null, to_address, null, null, network, null, null, pay_to, null, null, null, null, tx_hash, null, null, micro, null, first_out from paid
    ) as line
    window of_author as (partition by network, tx_hash, pay_to, to_address), of_payout as (partition by network, tx_hash, pay_to)
  ), judged as (
    select beside.*, case
      when tx_hash is null then case state ${UNSHOWN} end
      when not moved then 'amount_mismatch'
      when leg_words is null then
        case when to_address = pay_to and micro = amount_micro then null else 'amount_mismatch' end
      when is_plain and paid_micro = owed_micro and micro = (
        select case when author.ordinal > 0 then div(beside.amount_micro * author.weight, author.total_weight)
          else beside.amount_micro - (select coalesce(sum(div(beside.amount_micro * other.weight, other.total_weight)), 0)
            from split_leg as other where other.network = beside.network and other.pay_to = beside.pay_to and other.ordinal > 0)
          end
        from split_leg as author where author.network = beside.network and author.pay_to = beside.pay_to
          and author.to_address = beside.to_address) then null
      when is_paid_out then 'amount_mismatch'
      else 'unsettled' end as reason
    from beside where payment_id is not null
  ), positive as (
    select leg.*, judged.reason, judged.known_hash, judged.micro as net_micro, judged.network, judged.pay_to, judged.leg_words,
      judged.moved, judged.payer || judged.nonce as authorized,
      sum(leg.amount_micro) over (partition by leg.payment_id, leg.to_address
        order by leg.sequence desc, leg.crossing_id, leg.ordinal) as running
    from judged cross join lateral (
      ${positiveLegs('public')} union all ${positiveLegs('archive')}
        and ${isNear('crossing.at', 'judged.at')} and leg.at = crossing.at
    ) as leg
  ), live as (select * from positive where running <= net_micro)`;

/** Net crossings and gross of the sales of the window: a correction takes its crossing back, whenever it was recorded. */
export async function countRecorded(
  sql: Sql,
  tenantId: string,
  { from, to }: ReportWindow,
): Promise<{ events: number; grossMicro: bigint }> {
  let rows = tables
    .selectFrom('ledger.crossing')
    .select([text<number>`coalesce(sum(sign(micro)), 0)`.as('events'), text<string>`coalesce(sum(micro), 0)`.as('gross')])
    .where('tenantId', '=', tenantId);
  if (from !== null) rows = rows.where('at', '>=', from);
  if (to !== null) rows = rows.where('at', '<', to);
  const isWithin = (at: 'c.at' | 'sale.at') =>
    text`((${from}::timestamptz is null or ${text.ref(at)} >= ${from}) and (${to}::timestamptz is null or ${text.ref(at)} < ${to}))::int`;
  // A correction that is of another window than its sale goes to that of the sale.
  const times = text`(${isWithin('sale.at')} - ${isWithin('c.at')})`;
  const moved = tables
    .selectFrom('ledger.crossing as c')
    .innerJoin('ledger.crossing as sale', (on) =>
      on.onRef('sale.tenantId', '=', 'c.tenantId').onRef('sale.paymentId', '=', 'c.paymentId').on('sale.sequence', '=', 0),
    )
    .select([
      text<number>`coalesce(sum(sign(c.micro) * ${times}), 0)`.as('events'),
      text<string>`coalesce(sum(c.micro * ${times}), 0)`.as('gross'),
    ])
    .where('c.tenantId', '=', tenantId)
    .where('c.sequence', '>', 0)
    .where('c.paymentId', 'in', (select) =>
      select
        .selectFrom('ledger.crossing as k')
        .select('k.paymentId')
        .where('k.tenantId', '=', tenantId)
        .where(text<boolean>`k.sequence % 2 = 1`),
    );
  const [[ofRows], [ofSales]] = [await run(sql, rows), await run(sql, moved)];
  return {
    events: Number(ofRows?.events ?? 0) + Number(ofSales?.events ?? 0),
    grossMicro: BigInt(ofRows?.gross ?? 0) + BigInt(ofSales?.gross ?? 0),
  };
}

/** What is recorded of one payment and payee through a split, beside the authorization that paid it. */
export interface RecordedShare {
  readonly network: string;
  readonly payTo: string;
  readonly legWords: readonly string[];
  readonly paymentId: string;
  readonly toAddress: string;
  readonly authorization: string;
  readonly netMicro: bigint;
  readonly legs: number;
}

/** Numbers are text, so that they survive JSON. */
interface JudgedRow {
  readonly counts: readonly { readonly reason: ExceptionReason | null; readonly legs: string; readonly micro: string }[];
  readonly shares: readonly (Omit<RecordedShare, 'netMicro' | 'legs'> & { readonly micro: string; readonly legs: string })[];
}

/**
 * Legs and micro of every outcome, whose sum is the recorded gross, and the payments and payees that a split got money for but its
 * own transaction did not pay exactly: their transfers must be traced.
 */
export async function judgeLegs(
  sql: Sql,
  tenantId: string,
  { from, to }: ReportWindow,
): Promise<{ readonly counts: LegCount[]; readonly openShares: RecordedShare[] }> {
  const [row] = await sql.query<JudgedRow & Record<string, unknown>>(
    `with ${JUDGED} select
       (select coalesce(json_agg(one), '[]') from (
         select reason, count(*)::text as legs, sum(amount_micro)::text as micro from live group by reason) as one) as counts,
       (select coalesce(json_agg(one), '[]') from (
         select network, pay_to as "payTo", leg_words as "legWords", payment_id as "paymentId", to_address as "toAddress",
           authorized as "authorization", net_micro::text as micro, count(*)::text as legs
         from live where leg_words is not null and moved and reason is not null
         group by network, pay_to, leg_words, payment_id, to_address, authorized, net_micro
         order by network, pay_to, payment_id, to_address) as one) as shares`,
    [tenantId, from, to],
  );
  return {
    counts: row?.counts.map(({ reason, legs, micro }) => ({ reason, legs: Number(legs), micro: BigInt(micro) })) ?? [],
    openShares: row?.shares.map(({ micro, legs, ...share }) => ({ ...share, legs: Number(legs), netMicro: BigInt(micro) })) ?? [],
  };
}

/**
 * Everything that went into and out of a split, in the chain's order. One author alone is at no split but at the place where his part waits. A split
 * signs nothing: what leaves it used no authorization.
 */
export async function listSplitTransfers(sql: Sql, split: Pick<RecordedShare, 'network' | 'payTo'>): Promise<SplitTransfer[]> {
  const { network, payTo } = split;
  const rows = await run(
    sql,
    tables
      .selectFrom('ledger.chain_transfer as moved')
      .leftJoin('split_leg as place', (on) =>
        on
          .onRef('place.network', '=', 'moved.network')
          .onRef('place.payTo', '=', 'moved.toAddress')
          .on('place.ordinal', '=', 0)
          .onRef('place.weight', '=', 'place.totalWeight'),
      )
      .select(['moved.txHash', 'moved.toAddress as to', 'moved.amountMicro', 'place.toAddress as waitsFor'])
      .select([
        text<'in' | 'out'>`case when moved.from_address = ${payTo} then 'out' else 'in' end`.as('direction'),
        text<string | null>`moved.from_address || moved.nonce`.as('authorization'),
      ])
      .where('moved.network', '=', network)
      .where((is) =>
        is.or([
          is.and([is('moved.fromAddress', '=', payTo), is('moved.nonce', 'is', null)]),
          text<boolean>`moved.to_address = ${payTo} and hashtext(moved.to_address) = hashtext(${payTo})`,
        ]),
      )
      .orderBy('moved.blockNumber')
      .orderBy('moved.logIndex'),
  );
  return rows.map((row) => ({ ...row, amountMicro: BigInt(row.amountMicro) }));
}

/** The oldest open legs, besides those of the payments and payees named as settled after all. */
export async function listOpenLegs(
  sql: Sql,
  tenantId: string,
  { from, to }: ReportWindow,
  {
    settled,
    limit,
  }: { readonly settled: readonly { readonly paymentId: string; readonly toAddress: string }[]; readonly limit: number },
): Promise<OpenLeg[]> {
  const rows = await sql.query<Omit<OpenLeg, 'micro'> & { micro: string }>(
    `with ${JUDGED} select payment_id as "paymentId", crossing_id as "crossingId", host, slug, kind, to_address as "toAddress",
       amount_micro as micro, recorded_at as "recordedAt", reason, known_hash as "txHash"
     from live where reason is not null
       and (payment_id, to_address) not in (select * from unnest($4::uuid[], $5::text[]))
     order by recorded_at, crossing_id, ordinal limit $6`,
    [tenantId, from, to, settled.map(({ paymentId }) => paymentId), settled.map(({ toAddress }) => toAddress), limit],
  );
  return rows.map((row) => ({ ...row, micro: BigInt(row.micro) }));
}
