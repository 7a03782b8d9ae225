/** Rows about flushes whose rounding the ledger does not show yet (safety 4). */

import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { toldState, toldWatched } from '../../../db/paymentStates.ts';
import { run, tables } from '../../../db/statement.ts';
import type { PaymentState } from '../../kernel/payment/state.ts';
import { crossingRollups } from '../../rollups/store/rollups.ts';
import { ledgerTime } from '../../settlement/store/ledgerTime.ts';
import { returnPayments } from '../../settlement/store/returning.ts';

/** A transaction of anybody but our own batches that paid out of a split: it may hold a flush, at any place among its logs. */
export interface Flush {
  readonly network: string;
  readonly payTo: string;
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly legWords: readonly string[];
}

/**
 * Flushes that were not looked at yet, in the chain's order, and the block up to which that is all: the safe one, or the last one that the
 * reconciler has read and, with several RPC URLs, compared.
 */
export async function listNewFlushes(sql: Sql, network: string): Promise<{ flushes: Flush[]; upTo: bigint }> {
  const read = text<string | null>`least(safe_block, next_block - 1, compared_block - 1)`.as('upTo');
  const [cursor] = await run(
    sql,
    tables.selectFrom('chain_cursor').select(['correctedBlock', read]).where('network', '=', network),
  );
  const upTo = BigInt(cursor?.upTo ?? 0);
  const rows = await run(
    sql,
    tables
      .selectFrom('chain_transfer as moved')
      .innerJoin('split', (on) => on.onRef('split.network', '=', 'moved.network').onRef('split.payTo', '=', 'moved.fromAddress'))
      .select(['split.payTo', 'split.legWords', 'moved.txHash', 'moved.blockNumber'])
      .distinct()
      .where('moved.network', '=', network)
      .where('moved.blockNumber', '>', cursor?.correctedBlock ?? '0')
      .where('moved.blockNumber', '<=', upTo.toString())
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('relayer_transaction as sent')
              .select('sent.batchId')
              .whereRef('sent.network', '=', 'moved.network')
              .whereRef('sent.txHash', '=', 'moved.txHash')
              .where('sent.kind', '=', 'settle'),
          ),
        ),
      )
      .orderBy('moved.blockNumber')
      .orderBy('moved.txHash')
      .orderBy('split.payTo'),
  );
  const flushes = rows.map((row) => ({ network, ...row, blockNumber: BigInt(row.blockNumber) }));
  return { flushes, upTo };
}

/** Notes that flushes up to this block are in the ledger. */
export async function markCorrected(sql: Sql, network: string, block: bigint): Promise<void> {
  const correctedBlock = text<string>`greatest(corrected_block, ${block.toString()})`;
  await run(sql, tables.updateTable('chain_cursor').set({ correctedBlock }).where('network', '=', network));
}

/** A payment of one page through a split, by its authorization. */
export interface FlushedPayment {
  readonly tenantId: string;
  readonly paymentId: string;
  readonly state: PaymentState;
  /** True while it may still be recorded, or undone. */
  readonly watched: boolean;
}

/** The live page payment of an authorization (`payer || nonce`) that a stored transfer used; null when we hold none. */
export async function findPagePayment(sql: Sql, network: string, authorization: string): Promise<FlushedPayment | null> {
  const rows = await sql.query<FlushedPayment & Record<string, unknown>>(
    `select payment.tenant_id as "tenantId", payment.payment_id as "paymentId", ${toldState('payment')} as state, ${toldWatched('payment')} as watched from (
       select distinct network, token, from_address, nonce from (select * from ledger.chain_transfer where nonce = $3 offset 0) as t
        where network = $1 and from_address = $2
     ) as used
     join authorization_claim as claim on claim.digest = authorization_digest(used.network, used.token, used.from_address, used.nonce)
     join ledger.payment using (tenant_id, payment_id)
     where payment.purpose = 'page' and payment.mode = 'live'`,
    [network, authorization.slice(0, 42), authorization.slice(42)],
  );
  const [row] = rows;
  return row ?? null;
}

/**
 * Makes the ledger show what each author got of a payment: its standing crossing is taken back and recorded again with these
 * amounts, which sum to the same price (safety 5: rows never change), and announced, so that events add up to the ledger by author. False when it shows that already, or no crossing stands.
 */
export async function recordActualLegs(
  database: Database,
  payment: Pick<FlushedPayment, 'tenantId' | 'paymentId'>,
  amounts: ReadonlyMap<string, bigint>,
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const { tenantId, paymentId } = payment;
    await returnPayments(sql, [payment]);
    const state = tables.selectFrom('payment_state').select('state').where('tenantId', '=', tenantId);
    await run(sql, state.where('paymentId', '=', paymentId).forUpdate());
    const [crossing] = await run(
      sql,
      tables
        .selectFrom('crossing')
        .select(['crossingId', 'sequence', 'legs'])
        .where('tenantId', '=', tenantId)
        .where('paymentId', '=', paymentId)
        .orderBy('sequence', 'desc')
        .limit(1),
    );
    if (!crossing || crossing.sequence % 2 !== 0) return false;
    if (crossing.legs.every((leg) => BigInt(leg.amountMicro) === amounts.get(leg.toAddress))) return false;
    const back = crossing.legs.map((leg) => ({ ...leg, amountMicro: (-BigInt(leg.amountMicro)).toString() }));
    const again = crossing.legs.map((leg) => ({ ...leg, amountMicro: (amounts.get(leg.toAddress) ?? 0n).toString() }));
    await sql.query(
      `with made as (
         insert into crossing (tenant_id, crossing_id, payment_id, sequence, host, slug, kind, micro, legs, payer, agent, at)
         select old.tenant_id, uuidv7(), old.payment_id, old.sequence + next.step, old.host, old.slug, old.kind,
           next.sign * old.micro, next.legs, old.payer, old.agent, ${ledgerTime('next.step', 'old.at')}
         from crossing as old, (values (1, -1, $3::jsonb), (2, 1, $4::jsonb)) as next (step, sign, legs)
         where old.tenant_id = $1 and old.crossing_id = $2
         returning *
       ), ${crossingRollups('made')}, told as (
         insert into unannounced_crossing (tenant_id, crossing_id, host, crossing_ids)
         select tenant_id, ids[1], host, ids from (
           select tenant_id, host, array_agg(crossing_id order by sequence) as ids from made group by tenant_id, host) as of_host
       )
         insert into leg (tenant_id, crossing_id, ordinal, payment_id, to_address, amount_micro, role, author_id, share, host,
           slug, kind, at)
         select made.tenant_id, made.crossing_id, n - 1, made.payment_id, leg ->> 'toAddress', (leg ->> 'amountMicro')::bigint,
           leg ->> 'role', leg ->> 'authorId', (leg ->> 'share')::double precision, made.host, made.slug, made.kind, made.at
         from made, jsonb_array_elements(made.legs) with ordinality as list (leg, n)`,
      [tenantId, crossing.crossingId, JSON.stringify(back), JSON.stringify(again)],
    );
    return true;
  });
}
