/** Rows of the reconciler: where it stands on a chain, whom it looks for, and what it read. */

import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { hexOf } from '../../../db/hex.ts';
import { acrossSites, anyOf, run, tables } from '../../../db/statement.ts';
import type { Address } from '../../kernel/money/legs.ts';
import { SETTLED_STATES } from '../../kernel/payment/state.ts';
import type { Hex } from '../../kernel/x402/payload.ts';
import type { PaymentRef } from '../../settlement/store/payment.ts';
import type { ChainTransferRow } from '../../settlement/store/transfers.ts';
import { recordTransfers } from '../../settlement/store/transfers.ts';

/** How far a network was read, and compared; both null before the first round. */
export interface Marks {
  /** The block to read next. */
  readonly nextBlock: bigint | null;
  /** The block to compare next. */
  readonly comparedBlock: bigint | null;
}

/** The marks of a network. */
export async function findMarks(sql: Sql, network: string): Promise<Marks> {
  const marks = tables.selectFrom('chain_cursor').select(['nextBlock', 'comparedBlock']).where('network', '=', network);
  const [row] = await run(sql, marks);
  const block = (text: string | null | undefined): bigint | null => (text == null ? null : BigInt(text));
  return { nextBlock: block(row?.nextBlock), comparedBlock: block(row?.comparedBlock) };
}

/** The lowest block that can hold evidence of a payment we know; null while there is none. */
export async function findFirstBlock(sql: Sql, network: string): Promise<bigint | null> {
  const first = text<string | null>`least(min(unused_at_block), min(block_number))`.as('first');
  const states = acrossSites('a worker').selectFrom('ledger.payment_state').where('network', '=', network);
  const [row] = await run(sql, states.select(first));
  return row?.first == null ? null : BigInt(row.first);
}

/** Every address a payment of this network was ever addressed to, and which of them are splits. */
export async function listRecipients(sql: Sql, network: string): Promise<{ payTos: string[]; splits: string[] }> {
  const payTos = await sql.query<{ pay_to: string }>(
    `with recursive one as (
       (select pay_to from ledger.payment_intake where network = $1 order by pay_to limit 1)
       union all
       select (select pay_to from ledger.payment_intake where network = $1 and pay_to > one.pay_to order by pay_to limit 1)
         from one where one.pay_to is not null
     ) select pay_to from one where pay_to is not null`,
    [network],
  );
  const splits = await run(sql, tables.selectFrom('split').select('payTo').distinct().where('network', '=', network));
  return { payTos: payTos.map((row) => row.pay_to), splits: splits.map(({ payTo }) => payTo) };
}

/** The place of one stored transfer, enough to tell whether a node still shows it. */
export interface StoredPlace {
  readonly txHash: string;
  readonly logIndex: number;
  readonly blockHash: string;
  readonly from: string;
  readonly to: string;
  readonly amountMicro: bigint;
}

/** What is stored of a range of blocks, both ends included. */
export async function listStored(sql: Sql, network: string, fromBlock: bigint, toBlock: bigint): Promise<StoredPlace[]> {
  const rows = await run(
    sql,
    tables
      .selectFrom('chain_transfer')
      .select(['txHash', 'logIndex', 'blockHash', 'fromAddress as from', 'toAddress as to', 'amountMicro'])
      .where('network', '=', network)
      .where('blockNumber', '>=', fromBlock.toString())
      .where('blockNumber', '<=', toBlock.toString()),
  );
  return rows.map((row) => ({ ...row, blockHash: hexOf(row.blockHash), amountMicro: BigInt(row.amountMicro) }));
}

/** One round of reading: what the chain shows no more, and what it shows. */
export interface ChainRound {
  readonly network: string;
  /** Transactions whose stored rows are not what the chain shows; all their rows in the range go. */
  readonly vanished: readonly string[];
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly rows: readonly ChainTransferRow[];
}

/** Writes what a round read, in one database transaction. Written again, it changes nothing. */
export async function recordRound(database: Database, round: ChainRound): Promise<void> {
  await database.transaction(async (sql) => {
    if (round.vanished.length > 0) {
      await run(
        sql,
        tables
          .deleteFrom('chain_transfer')
          .where('network', '=', round.network)
          .where('txHash', '=', anyOf(round.vanished))
          .where('blockNumber', '>=', round.fromBlock.toString())
          .where('blockNumber', '<=', round.toBlock.toString()),
      );
    }
    await recordTransfers(sql, round.rows);
  });
}

/** Where the next round of a network begins, once all that the last one meant is written. */
export interface Cursor {
  readonly network: string;
  readonly nextBlock: bigint;
  readonly safeBlock: bigint;
  /** The newest block: a mark beyond it was a lie, and is taken back. */
  readonly latest: bigint;
  /** Where comparing begins on a network that was never compared. */
  readonly firstCompared: bigint;
}

/** Moves the mark of reading; it only goes forward, but for one that stands beyond the chain. Moved again, it stays. */
export async function moveCursor(sql: Sql, { network, nextBlock, safeBlock, latest, firstCompared }: Cursor): Promise<void> {
  const marks = { nextBlock: nextBlock.toString(), safeBlock: safeBlock.toString(), comparedBlock: firstCompared.toString() };
  const readAt = text<Date>`now()`;
  await run(
    sql,
    tables
      .insertInto('chain_cursor')
      .values({ network, ...marks, readAt })
      .onConflict((known) =>
        known.column('network').doUpdateSet({
          readAt,
          safeBlock: ({ ref }) => ref('excluded.safeBlock'),
          comparedBlock: ({ fn }) => fn.coalesce('chain_cursor.comparedBlock', 'excluded.comparedBlock'),
          nextBlock: text<string>`case when chain_cursor.next_block > ${latest.toString()}::bigint + 1 then excluded.next_block
            else greatest(chain_cursor.next_block, excluded.next_block) end`,
        }),
      ),
  );
}

/** Moves the mark of comparing, unless it has moved since `from` was read. Moved again, it stays. */
export async function moveCompared(sql: Sql, network: string, from: bigint, to: bigint): Promise<void> {
  const stands = tables.updateTable('chain_cursor').where('network', '=', network).where('comparedBlock', '=', from.toString());
  await run(sql, stands.set({ comparedBlock: to.toString() }));
}

/**
 * Payments that a stored transfer of these blocks pays as agreed, that are not settled, and that nothing watches. Each transfer finds its
 * payment by the claim of its authorization.
 */
export async function listContradicted(
  sql: Sql,
  network: string,
  { fromBlock, toBlock }: Pick<ChainRound, 'fromBlock' | 'toBlock'>,
): Promise<PaymentRef[]> {
  const digest = text<Buffer>`authorization_digest(t.network, t.token, t.from_address, t.nonce)`;
  return run(
    sql,
    tables
      .selectFrom('chain_transfer as t')
      .innerJoin('authorization_claim as a', (on) => on.on('a.digest', '=', digest))
      .innerJoin('payment_intake as i', (on) =>
        on.onRef('i.tenantId', '=', 'a.tenantId').onRef('i.paymentId', '=', 'a.paymentId'),
      )
      .innerJoin('payment_state as s', (on) => on.onRef('s.tenantId', '=', 'i.tenantId').onRef('s.paymentId', '=', 'i.paymentId'))
      .select(['i.tenantId', 'i.paymentId'])
      .where('t.network', '=', network)
      .where('t.blockNumber', '>=', fromBlock.toString())
      .where('t.blockNumber', '<=', toBlock.toString())
      .where('t.nonce', 'is not', null)
      .whereRef('i.payTo', '=', 't.toAddress')
      .whereRef('i.amountMicro', '=', 't.amountMicro')
      .where('s.state', 'not in', SETTLED_STATES)
      .where('s.watched', '=', false),
  );
}

/** Splits whose weights were not taken apart yet. */
export async function listUnreadSplits(sql: Sql): Promise<{ network: string; payTo: string; legWords: readonly string[] }[]> {
  return run(
    sql,
    tables
      .selectFrom('split')
      .select(['network', 'payTo', 'legWords'])
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('split_leg')
              .select('ordinal')
              .whereRef('split_leg.network', '=', 'split.network')
              .whereRef('split_leg.payTo', '=', 'split.payTo'),
          ),
        ),
      )
      .orderBy('network')
      .orderBy('payTo')
      .limit(1_000),
  );
}

/** A split as its router knows it. */
export interface RoutedSplit {
  readonly payTo: Address;
  readonly router: Address;
  readonly legWords: readonly Hex[];
}

/** The splits that stand at these addresses. */
export async function listSplitsAt(sql: Sql, network: string, payTos: readonly Address[]): Promise<RoutedSplit[]> {
  if (payTos.length === 0) return [];
  return await run(
    sql,
    tables
      .selectFrom('split')
      .select(['payTo', 'router', 'legWords'])
      .where('network', '=', network)
      .where('payTo', 'in', payTos)
      .orderBy('payTo'),
  );
}

/**
 * Remembers the place where parts of one wallet wait, like a split of one author that those look after who sell through `split`, from which the
 * money came. Says whether it is new, and for which sites; called again it changes nothing.
 */
export async function rememberPlace(
  sql: Sql,
  network: string,
  place: RoutedSplit,
  split: Address,
): Promise<{ readonly isNew: boolean; readonly tenantIds: readonly string[] }> {
  const made = await run(
    sql,
    tables
      .insertInto('split')
      .values({ network, router: place.router, payTo: place.payTo, legWords: place.legWords })
      .onConflict((conflict) => conflict.doNothing())
      .returning('payTo'),
  );
  const sellers = await run(
    sql,
    tables
      .insertInto('split_seller')
      .columns(['tenantId', 'network', 'payTo'])
      .expression(({ selectFrom }) =>
        selectFrom('split_seller')
          .select(['tenantId', 'network', text<string>`${place.payTo}`.as('payTo')])
          .where('network', '=', network)
          .where('payTo', '=', split)
          .orderBy('tenantId'),
      )
      .onConflict((known) => known.doNothing())
      .returning('tenantId'),
  );
  return { isNew: made.length > 0, tenantIds: sellers.map(({ tenantId }) => tenantId) };
}

/** One author of a split. */
export interface SplitLegRow {
  readonly network: string;
  readonly payTo: string;
  readonly ordinal: number;
  readonly toAddress: string;
  readonly weight: bigint;
  readonly totalWeight: bigint;
}

/** Stores the weights of splits; those stored already stay. */
export async function recordSplitLegs(sql: Sql, rows: readonly SplitLegRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql.query(
    `insert into split_leg (network, pay_to, ordinal, to_address, weight, total_weight)
     select * from unnest($1::text[], $2::text[], $3::smallint[], $4::text[], $5::numeric[], $6::numeric[])
     on conflict do nothing`,
    [
      rows.map((row) => row.network),
      rows.map((row) => row.payTo),
      rows.map((row) => row.ordinal),
      rows.map((row) => row.toAddress),
      rows.map((row) => row.weight.toString()),
      rows.map((row) => row.totalWeight.toString()),
    ],
  );
}
