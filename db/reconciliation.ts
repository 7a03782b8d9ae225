/** The SQL of the reconciliation report: recorded legs of one tenant beside what `chain_transfer` shows (invariant 10). */
import type { ExceptionReason, SplitTransfer } from '../domain/reconcile.ts';
import type { Sql } from './database.ts';

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

/** A split that a group did not pay out exactly, and whose transfers must be traced. */
export interface OpenSplit {
  readonly network: string;
  readonly payTo: string;
  readonly legWords: readonly string[];
}

const WINDOW = '($2::timestamptz is null or at >= $2) and ($3::timestamptz is null or at < $3)';

/**
 * Judges every payment and payee with a positive net amount in the window ($1 tenant, $2 from, $3 to). `judged` has a row each:
 * reason null is settled. The payer's own transfer is found by (payer, nonce), never by a reference of ours; a split's payout must
 * be, of each author, the sum of the legs of all authorizations of that transaction (safety 4).
 */
const JUDGED = `
  net as (
    select payment_id, to_address, sum(amount_micro) as micro from leg where tenant_id = $1 and ${WINDOW}
     group by payment_id, to_address having sum(amount_micro) > 0
  ), seen as (
    select net.*, p.network, p.payer, p.nonce, p.pay_to, p.amount_micro, p.leg_words, p.state, p.tx_hash as known_hash,
      shown.tx_hash, coalesce(shown.to_address = p.pay_to and shown.amount_micro = p.amount_micro, false) as moved
    from net join payment as p on p.tenant_id = $1 and p.payment_id = net.payment_id
    left join lateral (
      select t.tx_hash, t.to_address, t.amount_micro from chain_transfer as t
       where t.network = p.network and t.payer = p.payer and t.nonce = p.nonce and t.token = p.asset
       order by t.block_number desc limit 1
    ) as shown on true
  ), payout as (
    select distinct network, tx_hash, pay_to from seen where moved and leg_words is not null
  ), due as (
    select payout.*, author.to_address, author.ordinal, sum(t.amount_micro) as total,
      sum(div(t.amount_micro * author.weight, author.total_weight)) as floored
    from payout join split_leg as author using (network, pay_to)
    join chain_transfer as t on t.network = payout.network and t.tx_hash = payout.tx_hash and t.to_address = payout.pay_to
      and t.nonce is not null
    group by payout.network, payout.tx_hash, payout.pay_to, author.to_address, author.ordinal
  ), owed as (
    select network, tx_hash, pay_to, to_address, case when ordinal > 0 then floored else
      total - coalesce(sum(floored) filter (where ordinal > 0) over (partition by network, tx_hash, pay_to), 0) end as micro
    from due
  ), paid as (
    select payout.*, t.to_address, sum(t.amount_micro) as micro
    from payout join chain_transfer as t on t.network = payout.network and t.tx_hash = payout.tx_hash
      and t.from_address = payout.pay_to
    group by payout.network, payout.tx_hash, payout.pay_to, t.to_address
  ), judged as (
    select seen.*, case
      when seen.tx_hash is null then case
        when state in ('accepted', 'broadcast', 'held') then 'settlement_pending'
        when state = 'failed' then 'reverted'
        when state in ('superseded', 'expired') then 'forgone'
        when state in ('settled', 'final') and known_hash is not null then 'missing_receipt'
        else 'unsettled' end
      when not moved then 'amount_mismatch'
      when leg_words is null then
        case when seen.to_address = seen.pay_to and seen.micro = amount_micro then null else 'amount_mismatch' end
      when coalesce(paid.micro, 0) = owed.micro and seen.micro = (
        select case when author.ordinal > 0 then div(seen.amount_micro * author.weight, author.total_weight)
          else seen.amount_micro - (select coalesce(sum(div(seen.amount_micro * other.weight, other.total_weight)), 0)
            from split_leg as other where other.network = seen.network and other.pay_to = seen.pay_to and other.ordinal > 0)
          end
        from split_leg as author where author.network = seen.network and author.pay_to = seen.pay_to
          and author.to_address = seen.to_address) then null
      when exists (select 1 from paid as any_paid where any_paid.network = seen.network
        and any_paid.tx_hash = seen.tx_hash and any_paid.pay_to = seen.pay_to) then 'amount_mismatch'
      else 'unsettled' end as reason
    from seen
    left join owed on owed.network = seen.network and owed.tx_hash = seen.tx_hash and owed.pay_to = seen.pay_to
      and owed.to_address = seen.to_address
    left join paid on paid.network = seen.network and paid.tx_hash = seen.tx_hash and paid.pay_to = seen.pay_to
      and paid.to_address = seen.to_address
  ), positive as (
    select leg.*, crossing.sequence, crossing.recorded_at, judged.reason, judged.known_hash, judged.micro as net_micro,
      sum(leg.amount_micro) over (partition by leg.payment_id, leg.to_address
        order by crossing.sequence desc, leg.crossing_id, leg.ordinal) as running
    from judged join leg on leg.tenant_id = $1 and leg.payment_id = judged.payment_id and leg.to_address = judged.to_address
    join crossing on crossing.tenant_id = $1 and crossing.crossing_id = leg.crossing_id
    where leg.amount_micro > 0
  ), live as (select * from positive where running <= net_micro)`;

/** Net crossings and gross of the window: a correction takes its crossing back. */
export async function countRecorded(
  sql: Sql,
  tenantId: string,
  { from, to }: ReportWindow,
): Promise<{ events: number; grossMicro: bigint }> {
  const rows = await sql.query<{ events: string; gross: string }>(
    `select coalesce(sum(sign(micro)), 0) as events, coalesce(sum(micro), 0) as gross from crossing
      where tenant_id = $1 and ${WINDOW}`,
    [tenantId, from, to],
  );
  return { events: Number(rows[0]?.events ?? 0), grossMicro: BigInt(rows[0]?.gross ?? 0) };
}

/** Legs and micro of every outcome; their sum is the recorded gross. */
export async function countLegs(sql: Sql, tenantId: string, { from, to }: ReportWindow): Promise<LegCount[]> {
  const rows = await sql.query<{ reason: ExceptionReason | null; legs: string; micro: string }>(
    `with ${JUDGED} select reason, count(*) as legs, sum(amount_micro) as micro from live group by reason`,
    [tenantId, from, to],
  );
  return rows.map(({ reason, legs, micro }) => ({ reason, legs: Number(legs), micro: BigInt(micro) }));
}

/** Splits with legs in the window that their own transaction did not pay exactly. */
export async function listOpenSplits(sql: Sql, tenantId: string, { from, to }: ReportWindow): Promise<OpenSplit[]> {
  const rows = await sql.query<{ network: string; pay_to: string; leg_words: string[] }>(
    `with ${JUDGED} select distinct network, pay_to, leg_words from judged
      where leg_words is not null and moved and reason is not null order by network, pay_to`,
    [tenantId, from, to],
  );
  return rows.map((row) => ({ network: row.network, payTo: row.pay_to, legWords: row.leg_words }));
}

/** What is recorded of one payment and payee through a split, beside the authorization that paid it. */
export interface RecordedShare {
  readonly paymentId: string;
  readonly toAddress: string;
  readonly authorization: string;
  readonly netMicro: bigint;
  readonly legs: number;
  readonly reason: ExceptionReason;
}

/** The open payments and payees of one split in the window. */
export async function listOpenShares(
  sql: Sql,
  tenantId: string,
  { from, to }: ReportWindow,
  split: Pick<OpenSplit, 'network' | 'payTo'>,
): Promise<RecordedShare[]> {
  const rows = await sql.query<{
    payment_id: string;
    to_address: string;
    authorization: string;
    micro: string;
    legs: string;
    reason: ExceptionReason;
  }>(
    `with ${JUDGED} select judged.payment_id, judged.to_address, judged.payer || judged.nonce as authorization, judged.micro,
       judged.reason, (select count(*) from live where live.payment_id = judged.payment_id
         and live.to_address = judged.to_address) as legs
     from judged where network = $4 and pay_to = $5 and moved and reason is not null`,
    [tenantId, from, to, split.network, split.payTo],
  );
  return rows.map((row) => ({
    paymentId: row.payment_id,
    toAddress: row.to_address,
    authorization: row.authorization,
    netMicro: BigInt(row.micro),
    legs: Number(row.legs),
    reason: row.reason,
  }));
}

/** Everything that went into and out of a split, in the chain's order. */
export async function listSplitTransfers(sql: Sql, split: Pick<OpenSplit, 'network' | 'payTo'>): Promise<SplitTransfer[]> {
  const rows = await sql.query<{
    tx_hash: string;
    is_out: boolean;
    to_address: string;
    amount_micro: string;
    authorization: string | null;
  }>(
    `select tx_hash, from_address = $2 as is_out, to_address, amount_micro, payer || nonce as authorization
      from chain_transfer where network = $1 and (from_address = $2 or to_address = $2)
      order by block_number, log_index`,
    [split.network, split.payTo],
  );
  return rows.map((row) => ({
    txHash: row.tx_hash,
    direction: row.is_out ? 'out' : 'in',
    to: row.to_address,
    amountMicro: BigInt(row.amount_micro),
    authorization: row.authorization,
  }));
}

/** The oldest open legs, besides those of the payments and payees named as settled after all. */
export async function listOpenLegs(
  sql: Sql,
  tenantId: string,
  { from, to }: ReportWindow,
  settled: readonly { readonly paymentId: string; readonly toAddress: string }[],
  limit: number,
): Promise<OpenLeg[]> {
  const rows = await sql.query<{
    payment_id: string;
    crossing_id: string;
    host: string;
    slug: string;
    kind: 'read' | 'citation';
    to_address: string;
    amount_micro: string;
    recorded_at: Date;
    reason: ExceptionReason;
    known_hash: string | null;
  }>(
    `with ${JUDGED} select payment_id, crossing_id, host, slug, kind, to_address, amount_micro, recorded_at, reason, known_hash
     from live where reason is not null
       and (payment_id, to_address) not in (select * from unnest($4::uuid[], $5::text[]))
     order by recorded_at, crossing_id, ordinal limit $6`,
    [tenantId, from, to, settled.map(({ paymentId }) => paymentId), settled.map(({ toAddress }) => toAddress), limit],
  );
  return rows.map((row) => ({
    paymentId: row.payment_id,
    crossingId: row.crossing_id,
    host: row.host,
    slug: row.slug,
    kind: row.kind,
    toAddress: row.to_address,
    micro: BigInt(row.amount_micro),
    recordedAt: row.recorded_at,
    reason: row.reason,
    txHash: row.known_hash,
  }));
}
