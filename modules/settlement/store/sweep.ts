import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { isSettledWithBatch, SETTLED_ALONE } from '../../../db/paymentStates.ts';
import type { RowOf } from '../../../db/shown.ts';
import { columnsOf } from '../../../db/shown.ts';
import { acrossSites, anyOf, run, tables } from '../../../db/statement.ts';
import type { Proven } from '../rules/finality.ts';
import { isFinalTogether } from '../rules/finality.ts';
import type { Payment, PaymentRef, PaymentRow } from './payment.ts';
import { carriedBySql, evidenceFromRow, intakeOf, listPayments, PAYMENT_COLUMNS, paymentFromRow } from './payment.ts';
import { returnPayments } from './returning.ts';

type Row = PaymentRow & Record<string, unknown>;

/**
 * True while the sweeper may find something to do on a network: payments that are not through, batches that a reorganisation may take or that nobody
 * holds, purchases that nobody follows, what is watched, blocked recipients, a count of a relayer key in doubt. One statement of a few index entries,
 * however much there is.
 */
export async function hasWork(sql: Sql, network: string): Promise<boolean> {
  const all = acrossSites('a worker');
  const batch = all.selectFrom('settlement_batch').select('batchId').where('network', '=', network);
  const payment = all.selectFrom('payment_state').select('paymentId').where('network', '=', network);
  const blocked = all.selectFrom('blocked_payee').select('payTo').where('network', '=', network);
  const relayer = all.selectFrom('relayer').select('address').where('network', '=', network);
  const purchase = all.selectFrom('open_purchase').select('network').where('network', '=', network);
  const isBusy = all.selectNoFrom(({ or, exists }) =>
    or([
      exists(batch.where('state', '<>', text.lit('safe'))),
      exists(
        batch.where('finalAt', 'is', null).where('kind', '<>', text.lit('flush')).where('heldUntil', '<=', text<Date>`now()`),
      ),
      exists(payment.where('stage', '=', text.lit('under_way'))),
      exists(payment.where('stage', '=', text.lit('held'))),
      exists(payment.where(text.raw<boolean>(SETTLED_ALONE))),
      exists(payment.where('watchSide', 'is not', null)),
      exists(blocked),
      exists(relayer.where('seenNonce', 'is not', null)),
      exists(purchase.where('heldUntil', '<=', text<Date>`now()`)),
    ]).as('busy'),
  );
  const [row] = await run(sql, isBusy);
  return row?.busy === true;
}

/** A query for the payments of some states, which are found by their own indexes, in their order. */
function ofStates(query: string): string {
  return `select ${PAYMENT_COLUMNS} from (${query}) as s cross join lateral ${intakeOf('s')} as i`;
}

/** A batch on its way to final. */
export interface UnfinalBatch {
  readonly batchId: string;
  /** How many payments it will make final. */
  readonly settled: number;
}

/** Batches that nobody holds, with payments to make final or with nothing left to do, those looked at longest ago first. */
export async function listUnfinalBatches(sql: Sql, network: string, limit: number): Promise<UnfinalBatch[]> {
  const rows = await sql.query<{ batch_id: string; settled: number }>(
    `select b.batch_id, of_it.settled from settlement_batch as b cross join lateral (
         select count(*)::int as settled from unnest(b.tenant_ids, b.payment_ids) as carried (tenant_id, payment_id)
           join payment_state as s using (tenant_id, payment_id) where s.batch_id = b.batch_id and ${isSettledWithBatch('s')}) as of_it
      where b.network = $1 and b.final_at is null and b.kind <> 'flush' and b.held_until <= now() and (of_it.settled > 0 or b.state = 'safe')
      order by b.held_until limit $2`,
    [network, limit],
  );
  return rows.map((row) => ({ batchId: row.batch_id, settled: row.settled }));
}

/** Batches that are not over and that nobody holds, or will hold in so long from now on, those looked at longest ago first; 100 at most. */
export async function listUnheldBatches(sql: Sql, network: string, withinMs: number): Promise<readonly string[]> {
  const found = tables
    .selectFrom('settlement_batch')
    .select('batchId')
    .where('network', '=', network)
    .where('kind', '<>', 'flush')
    .where((is) => is.or([is('state', '<>', 'safe'), is('finalAt', 'is', null)]))
    .where('heldUntil', '<=', text<Date>`now() + ${withinMs}::double precision * interval '1 millisecond'`)
    .orderBy('heldUntil')
    .limit(100);
  return (await run(sql, found)).map(({ batchId }) => batchId);
}

/** The payments that these batches make final. */
export async function listSettledIn(sql: Sql, batchIds: readonly string[]): Promise<Payment[]> {
  const rows = await sql.query<Row>(
    `${carriedBySql(PAYMENT_COLUMNS, 'any ($1::uuid[])')} and ${isSettledWithBatch('s')} order by s.batch_id, s.tenant_id, s.payment_id`,
    [[...batchIds]],
  );
  return rows.map(paymentFromRow);
}

/**
 * Makes final those batches of which all is judged to be at the safe block (`isFinalTogether`), one row a batch, and notes of those that nobody holds that
 * they were looked at now. Their rows are locked first, so that nothing settles in a batch between the question and the answer. Returns the final
 * ones; a second call changes nothing.
 */
export async function finaliseBatches(
  database: Database,
  batchIds: readonly string[],
  judgedSafe: readonly Proven[],
): Promise<ReadonlySet<string>> {
  return database.transaction(async (sql) => {
    const unfinal = tables
      .selectFrom('settlement_batch')
      .select(['batchId', 'state'])
      .where('batchId', '=', anyOf(batchIds))
      .where('finalAt', 'is', null)
      .orderBy('batchId');
    const batches = await run(sql, unfinal.forUpdate());
    const settled = await listProvenIn(sql, batchIds);
    const final = batches.filter(({ batchId, state }) =>
      isFinalTogether(state === 'safe', settled.get(batchId) ?? [], judgedSafe),
    );
    const ids = final.map(({ batchId }) => batchId);
    await run(
      sql,
      tables
        .updateTable('settlement_batch')
        .set({
          heldUntil: text<Date>`greatest(held_until, now())`,
          finalAt: text<Date>`case when batch_id = any (${ids}::uuid[]) then now() end`,
        })
        .where('batchId', '=', anyOf(batches.map(({ batchId }) => batchId)))
        // No row is written for nothing.
        .where((is) => is.or([is('batchId', '=', anyOf(ids)), is('heldUntil', '<', text<Date>`now()`)])),
    );
    return new Set(ids);
  });
}

const PROOF = columnsOf('payment_state s', ['paymentId', 'txHash', 'logPosition', 'blockNumber']);

/** What proves the payments that these batches make final, by batch. */
async function listProvenIn(sql: Sql, batchIds: readonly string[]): Promise<ReadonlyMap<string, readonly Proven[]>> {
  const rows = await sql.query<RowOf<typeof PROOF> & { batchId: string }>(
    `select ${PROOF.text}, b.batch_id as "batchId" from settlement_batch as b
       cross join lateral unnest(b.tenant_ids, b.payment_ids) as carried (tenant_id, payment_id)
       join payment_state as s using (tenant_id, payment_id)
      where b.batch_id = any ($1::uuid[]) and s.batch_id = b.batch_id and ${isSettledWithBatch('s')}`,
    [[...batchIds]],
  );
  const proven = rows.map((row) => ({ batchId: row.batchId, paymentId: row.paymentId, evidence: evidenceFromRow(row) }));
  return Map.groupBy(proven, ({ batchId }) => batchId);
}

/** What proves a payment, as it was read. */
export function provenOf({ paymentId, facts }: Pick<Payment, 'paymentId' | 'facts'>): Proven {
  return { paymentId, evidence: facts.evidence };
}

/** Settled payments that no batch makes final, those looked at longest ago first. */
export async function listUnfinalAlone(sql: Sql, network: string, limit: number): Promise<Payment[]> {
  const rows = await sql.query<Row>(
    `${ofStates(`select * from payment_state where network = $1 and ${SETTLED_ALONE} order by coalesce(checked_at, accepted_at) limit $2`)}
      order by coalesce(s.checked_at, s.accepted_at)`,
    [network, limit],
  );
  return rows.map(paymentFromRow);
}

/**
 * Payments whose money may still move although nothing of ours carries them: failed, superseded, expired and reviewed ones
 * that are watched, held ones, and sent ones that no live batch decided within `sentMs`, such as those that a reorg took back without
 * bytes of ours (safety 3). Those looked at longest ago come first, at most `limit` that bytes of ours carried, as many others, and as many
 * of those on their way: rows that cost nobody anything to make cannot keep the others from their turn. Only those on their way are
 * sorted, which their gas keeps few.
 */
export async function listWatched(sql: Sql, network: string, limit: number, sentMs: number): Promise<Payment[]> {
  const turn = (which: string): string =>
    `(select * from payment_state where network = $1 and ${which}
      order by coalesce(checked_at, accepted_at) limit $2)`;
  const sent = `stage = 'under_way' and state = 'broadcast' and watched and mode = 'live'
        and accepted_at < now() - make_interval(secs => $3::double precision / 1000)`;
  const turns = [turn("watch_side = 'carried'"), turn("watch_side = 'unsent'"), turn(sent)];
  // A join keeps no order: what bytes of ours carried comes first, and of each side what waits longest.
  const order = 'order by (s.batch_id is null), coalesce(s.checked_at, s.accepted_at)';
  const rows = await sql.query<Row>(`${ofStates(turns.join(' union all '))} ${order}`, [network, limit, sentMs]);
  return rows.map(paymentFromRow);
}

/** Final payments that transactions prove, by the claims on their transfers; those of closed months are brought back, to be judged like any other. */
export async function listFinalProvenBy(sql: Sql, network: string, txHashes: readonly string[]): Promise<Payment[]> {
  const claims = tables
    .selectFrom('transfer_claim as c')
    .select(['c.tenantId', 'c.paymentId'])
    .where('c.network', '=', network)
    .where('c.txHash', '=', anyOf(txHashes));
  const closed = claims.where(({ not, exists, selectFrom }) =>
    not(
      exists(
        selectFrom('payment_state as s')
          .select('s.state')
          .whereRef('s.tenantId', '=', 'c.tenantId')
          .whereRef('s.paymentId', '=', 'c.paymentId'),
      ),
    ),
  );
  await returnPayments(sql, await run(sql, closed));
  const proven = await listPayments(sql, await run(sql, claims));
  return proven.filter(({ mode, facts }) => mode === 'live' && facts.state === 'final');
}

/** Notes that payments were looked at now. */
export async function touchChecked(sql: Sql, refs: readonly PaymentRef[]): Promise<void> {
  if (refs.length === 0) return;
  await sql.query(
    `with seen as (
       select tenant_id, payment_id from payment_state as s join unnest($1::uuid[], $2::uuid[]) as wanted (tenant_id, payment_id)
         using (tenant_id, payment_id) order by tenant_id, payment_id for update of s)
     update payment_state as s set checked_at = now() from seen
      where s.tenant_id = seen.tenant_id and s.payment_id = seen.payment_id`,
    [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.paymentId)],
  );
}

/** Recipients marked as unpayable, those checked longest ago first, with the legs of a split. */
export async function listBlocked(
  sql: Sql,
  network: string,
  limit: number,
): Promise<{ payTo: `0x${string}`; legWords: string[] | null }[]> {
  return run(
    sql,
    tables
      .selectFrom('blocked_payee as blocked')
      .leftJoin('split', (on) => on.onRef('split.network', '=', 'blocked.network').onRef('split.payTo', '=', 'blocked.payTo'))
      .select(({ ref }) => [
        ref('blocked.payTo').$castTo<`0x${string}`>().as('payTo'),
        text<string[] | null>`max(split.leg_words)`.as('legWords'),
      ])
      .where('blocked.network', '=', network)
      .groupBy(['blocked.payTo', 'blocked.checkedAt'])
      .orderBy('blocked.checkedAt')
      .limit(limit),
  );
}

/** Notes that a recipient was looked at and still cannot be paid, so that the next ones have their turn. */
export async function touchBlocked(sql: Sql, network: string, payTo: string): Promise<void> {
  const ofPayee = tables.updateTable('blocked_payee').where('network', '=', network).where('payTo', '=', payTo);
  await run(sql, ofPayee.set({ checkedAt: text`now()` }));
}

/** Lifts the mark of a recipient that can be paid again. */
export async function unblockPayee(sql: Sql, network: string, payTo: string): Promise<void> {
  await run(sql, tables.deleteFrom('blocked_payee').where('network', '=', network).where('payTo', '=', payTo));
}

/** Notes that a round of the sweeper over a network's payments ended well, now. */
export async function markSwept(sql: Sql, network: string): Promise<void> {
  const sweptAt = text<Date>`now()`;
  const noted = tables.insertInto('chain_cursor').values({ network, sweptAt });
  await run(
    sql,
    noted.onConflict((known) => known.column('network').doUpdateSet({ sweptAt })),
  );
}
