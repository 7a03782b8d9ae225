import { Binder } from '../../../db/binder.ts';
import type { Sql } from '../../../db/database.ts';
import type { Span } from '../../kernel/time/window.ts';
import { isEmpty } from '../../kernel/time/window.ts';
import { within } from './earnings/crossings.ts';
import { halfAndMost } from './percentiles.ts';

/** Of several batches: what half and nineteen in twenty do not exceed. */
export interface OfBatches {
  readonly p50: number | null;
  readonly p95: number | null;
}

/** What the mined batches of one network carried and cost; wei of its coin. */
export interface BatchSums {
  readonly network: string;
  readonly batches: number;
  /** All that they were signed with, of any site, and how many of the window's payments of the site they carried. */
  readonly payments: number;
  readonly ownPayments: number;
  readonly paymentsABatch: OfBatches;
  /** Null where no receipt of theirs was kept. */
  readonly gasUsed: bigint | null;
  readonly gasAPayment: OfBatches;
  readonly feeWei: bigint;
  /** The site's part of it. */
  readonly ownFeeWei: bigint;
}

/**
 * A site's part of the fee of a batch `b`, as `shareGas` divides it: by weights, in the order of the sites, to the wei. `tenant` is SQL.
 * Null where nobody was charged.
 */
export function ownFee(tenant: string): string {
  const upTo = (than: string): string =>
    `div(b.gas_wei * coalesce(sum(weight) filter (where key ${than} ${tenant}::text), 0), nullif(sum(weight), 0))`;
  return `(select ${upTo('<=')} - ${upTo('<')} from (
      select key collate "C" as key, value::numeric as weight from jsonb_each_text(b.gas_shares)) share)`;
}

/**
 * The mined batches that carry live payments of a window, by network: each payment of the site is looked at, and each of its batches once.
 * A payment that went out again is in its last batch alone.
 */
export async function sumBatches(sql: Sql, tenantId: string, window: Span): Promise<BatchSums[]> {
  if (isEmpty(window)) return [];
  const binder = new Binder();
  const tenant = binder.bind(tenantId);
  const rows = await sql.query<BatchSumRow>(
    `with own as (
       select s.batch_id, count(*) as own from ledger.payment_intake i
         join ledger.payment_state s on s.tenant_id = i.tenant_id and s.payment_id = i.payment_id
        where i.tenant_id = ${tenant} and ${within(binder, 'i.accepted_at', window)} and i.mode = 'live' and s.batch_id is not null
        group by s.batch_id
     ), batch as (
       select b.network, own.own, cardinality(b.payment_ids) as carried, b.gas_used, b.gas_wei, coalesce(${ownFee(tenant)}, 0) as own_wei
         from own join settlement_batch b on b.batch_id = own.batch_id where b.gas_wei is not null
     )
     select network, count(*)::int as batches, sum(carried)::int as payments, sum(own)::int as own, ${halfAndMost('carried')} as carried,
       sum(gas_used)::text as gas, ${halfAndMost('gas_used / nullif(carried, 0)')} as gas_each, sum(gas_wei)::text as wei,
       sum(own_wei)::text as own_wei
     from batch group by network order by count(*) desc, network`,
    binder.values,
  );
  return rows.map((row) => ({
    network: row.network,
    batches: row.batches,
    payments: row.payments,
    ownPayments: row.own,
    paymentsABatch: ofBatches(row.carried),
    gasAPayment: ofBatches(row.gas_each),
    gasUsed: row.gas === null ? null : BigInt(row.gas),
    feeWei: BigInt(row.wei),
    ownFeeWei: BigInt(row.own_wei),
  }));
}

interface BatchSumRow extends Record<string, unknown> {
  readonly network: string;
  readonly batches: number;
  readonly payments: number;
  readonly own: number;
  readonly carried: (string | null)[] | null;
  readonly gas: string | null;
  readonly gas_each: (string | null)[] | null;
  readonly wei: string;
  readonly own_wei: string;
}

function ofBatches(found: readonly (string | null)[] | null): OfBatches {
  const [p50 = null, p95 = null] = found ?? [];
  return { p50: p50 === null ? null : Number(p50), p95: p95 === null ? null : Number(p95) };
}
