import { raiseAlert } from '../../../db/alerts.ts';
import type { Database, Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { columnsOf } from '../../../db/shown.ts';
import { queueHasRoom } from '../rules/queueRoom.ts';
import { insertAttempt } from './attempts.ts';

/** A `0x` hex string. */
type Hex = `0x${string}`;

/** One relayer key on one network. */
export interface RelayerRef {
  readonly network: string;
  readonly address: string;
}

/** A batch and the relayer that sends it. */
export interface Batch extends RelayerRef {
  readonly batchId: string;
  /** `facilitator`: another one carries it; it has no nonce and no bytes of ours. */
  readonly kind: 'settle' | 'flush' | 'facilitator';
  readonly nonce: bigint;
  readonly state: 'open' | 'mined' | 'safe';
  readonly createdAt: Date;
}

/** True for a batch of our own bytes; what another rail carries has none. */
export function isRelayed({ kind }: Pick<Batch, 'kind'>): boolean {
  return kind === 'settle' || kind === 'flush';
}

/** What the lock of a queue found: the nonce to take, or that the queue is full or paused. */
export type QueueHead =
  | { readonly kind: 'free'; readonly nonce: bigint }
  | { readonly kind: 'busy' }
  | { readonly kind: 'paused' };

/** Makes sure a relayer has its row; a new one starts at `firstNonce`. One that is there keeps its nonce, whatever the chain says. */
export async function ensureRelayer(database: Sql, ref: RelayerRef, firstNonce: bigint, inFlightLimit: number): Promise<void> {
  await database.query(
    `insert into relayer (network, address, next_nonce, in_flight_limit) values ($1, $2, $3, $4)
     on conflict (network, address) do update set in_flight_limit = excluded.in_flight_limit`,
    [ref.network, ref.address, firstNonce.toString(), inFlightLimit],
  );
}

/** What a round knows of a relayer's nonce before it asks the chain. */
export interface RelayerNonce {
  readonly nextNonce: bigint;
  readonly inFlight: number;
  /** The count ahead of ours that the round before saw; null when it saw none. */
  readonly seenNonce: bigint | null;
}

/** Where a relayer stands; null when it has no row. */
export async function findRelayerNonce(sql: Sql, ref: RelayerRef): Promise<RelayerNonce | null> {
  const [row] = await sql.query<{ next_nonce: string; seen_nonce: string | null; open: string }>(
    `select next_nonce, seen_nonce, (select count(*) from settlement_batch
        where settlement_batch.network = $1 and relayer = $2 and state = 'open') as open
       from relayer where network = $1 and address = $2`,
    [ref.network, ref.address],
  );
  if (!row) return null;
  const { next_nonce: next, seen_nonce: seen, open } = row;
  return { nextNonce: BigInt(next), inFlight: Number(open), seenNonce: seen === null ? null : BigInt(seen) };
}

/** Notes a count of the chain that is ahead of ours, or that there is none; the queue takes no batch while one is noted. */
export async function noteSeenNonce(sql: Sql, ref: RelayerRef, count: bigint | null): Promise<void> {
  await sql.query(
    `update relayer set seen_nonce = $3::bigint, seen_at = case when $3::bigint is null then null else now() end
      where network = $1 and address = $2 and (seen_nonce is not null or $3::bigint is not null)`,
    [ref.network, ref.address, count?.toString() ?? null],
  );
}

/** Moves a relayer on to a count of the chain, never back, and tells the operator once. */
export async function adoptCount(database: Database, ref: RelayerRef, count: bigint): Promise<void> {
  await database.transaction(async (sql) => {
    const moved = await sql.query(
      `update relayer set next_nonce = $3, seen_nonce = null, seen_at = null
        where network = $1 and address = $2 and next_nonce < $3 returning 1`,
      [ref.network, ref.address, count.toString()],
    );
    if (moved.length > 0) await raiseAlert(sql, 'relayer_nonce_adopted', `${ref.network} ${ref.address}`);
  });
}

/** A person's nonce for a queue, which is locked by the caller's transaction; any way. */
export async function setNextNonce(sql: Sql, ref: RelayerRef, nonce: bigint): Promise<void> {
  await sql.query('update relayer set next_nonce = $3, seen_nonce = null, seen_at = null where network = $1 and address = $2', [
    ref.network,
    ref.address,
    nonce.toString(),
  ]);
}

/** A query for the unmined batches of a key on network $1, and the gas limits of their newest bytes together. */
export function queueLoadSql(address: string): string {
  return `select count(*)::int as open, coalesce(sum(bytes.gas_limit), 0) as open_gas from settlement_batch batch
     left join lateral (select gas_limit from relayer_transaction where batch_id = batch.batch_id order by attempt desc limit 1) bytes on true
    where batch.network = $1 and batch.relayer = ${address} and batch.state = 'open'`;
}

/**
 * Locks a relayer's queue and tells whether a batch may take its next nonce (`queueHasRoom`; the limit is the key's, safety 10). A queue whose count the
 * chain has put in doubt within the last minute takes none until the next round has looked again. A nonce that a batch held before the
 * queue was set back stays that batch's for good, and is passed over; the batch is opened again, so that its own bytes fill the place.
 */
export async function lockQueue(sql: Sql, ref: RelayerRef, isNewcomer = false): Promise<QueueHead> {
  // At once, so that they travel together: what is behind the lock begins when it is held, and sees what its last holder left.
  const [[row], held, before] = await Promise.all([
    sql.query<{ next_nonce: string; in_flight_limit: number; paused_reason: string | null; doubted: boolean }>(
      `select next_nonce, in_flight_limit, paused_reason,
              coalesce(seen_nonce > next_nonce and seen_at > now() - interval '1 minute', false) as doubted
         from relayer where network = $1 and address = $2 for update`,
      [ref.network, ref.address],
      'lock-queue',
    ),
    listHeldNonces(sql, ref),
    readQueueLoad(sql, ref),
  ]);
  if (!row || row.paused_reason !== null) return { kind: 'paused' };
  const next = BigInt(row.next_nonce);
  const nonce = await passHeld(sql, ref, next, held);
  const found = nonce === next ? before : await readQueueLoad(sql, ref); // those passed over are open again
  const load = { open: found?.open ?? 0, openGas: BigInt(found?.open_gas ?? 0), limit: row.in_flight_limit };
  if (row.doubted || !queueHasRoom(load, isNewcomer)) return { kind: 'busy' };
  return { kind: 'free', nonce };
}

/** Moves a queue past the nonces that its own batches hold, and gives the first free one; a second call changes nothing. */
export async function passHeldNonces(database: Database, ref: RelayerRef): Promise<bigint> {
  return database.transaction(async (sql) => {
    const [row] = await sql.query<{ next_nonce: string }>(
      'select next_nonce from relayer where network = $1 and address = $2 for update',
      [ref.network, ref.address],
    );
    return passHeld(sql, ref, BigInt(row?.next_nonce ?? 0), await listHeldNonces(sql, ref));
  });
}

interface HeldNonce extends Record<string, unknown> {
  readonly nonce: string;
  readonly batch_id: string;
}

/** Nonces from the next one of a queue on that batches hold, lowest first, 100 at most. Call it under the queue's lock. */
function listHeldNonces(sql: Sql, ref: RelayerRef): Promise<HeldNonce[]> {
  return sql.query<HeldNonce>(
    `select nonce, batch_id from relayer_nonce where network = $1 and relayer = $2
        and nonce >= (select next_nonce from relayer where network = $1 and address = $2) order by nonce limit 100`,
    [ref.network, ref.address],
    'list-held-nonces',
  );
}

/** What is unmined of a queue. */
async function readQueueLoad(
  sql: Sql,
  ref: RelayerRef,
): Promise<{ readonly open: number; readonly open_gas: string } | undefined> {
  const [row] = await sql.query<{ open: number; open_gas: string }>(
    queueLoadSql('$2'),
    [ref.network, ref.address],
    'read-queue-load',
  );
  return row;
}

/** The first nonce from this one on that no batch holds; those passed over are opened again. */
async function passHeld(sql: Sql, ref: RelayerRef, from: bigint, held: readonly HeldNonce[]): Promise<bigint> {
  const passed = held.filter((one, at) => BigInt(one.nonce) === from + BigInt(at));
  for (const { batch_id: batchId } of passed) await setBatchState(sql, batchId, 'open');
  if (passed.length > 0) await setNextNonce(sql, ref, from + BigInt(passed.length));
  return from + BigInt(passed.length);
}

/** True while a flush of a network is on its way: what it pays out still shows as lying there. */
export async function hasOpenFlush(sql: Sql, network: string): Promise<boolean> {
  const rows = await sql.query(
    "select 1 from settlement_batch where network = $1 and kind = 'flush' and state = 'open' limit 1",
    [network],
  );
  return rows.length > 0;
}

/** What a claim writes once the bytes are signed. */
export interface SignedBatch {
  readonly network: string;
  readonly relayer: string;
  readonly batchId: string;
  readonly workflowId: string | null;
  readonly kind: 'settle' | 'flush';
  readonly nonce: bigint;
  readonly txHash: Hex;
  readonly raw: Hex;
  readonly gasLimit: bigint;
  readonly maxFeeWei: bigint;
  readonly priorityFeeWei: bigint;
  /** Who bears its gas, by weight: tenant ids. */
  readonly gasShares: ReadonlyMap<string, bigint>;
}

/** Takes the nonce and stores the signed bytes and what they carry; the queue is locked by the caller's transaction (safety 7). */
export async function insertBatch(
  sql: Sql,
  batch: SignedBatch,
  payments: readonly { readonly tenantId: string; readonly paymentId: string }[] = [],
): Promise<void> {
  const inserted = sql.query(
    `with taken as (
       update relayer set next_nonce = $5::bigint + 1 where network = $2 and address = $3
     ), held as (
       insert into relayer_nonce (network, relayer, nonce, batch_id) values ($2, $3, $5, $1)
     )
     insert into settlement_batch (batch_id, network, relayer, kind, workflow_id, nonce, gas_shares, tenant_ids, payment_ids)
     values ($1, $2, $3, $4, $6, $5, $7::jsonb, $8::uuid[], $9::uuid[])`,
    [
      batch.batchId,
      batch.network,
      batch.relayer,
      batch.kind,
      batch.nonce.toString(),
      batch.workflowId,
      JSON.stringify(Object.fromEntries([...batch.gasShares].map(([tenantId, weight]) => [tenantId, weight.toString()]))),
      payments.map(({ tenantId }) => tenantId),
      payments.map(({ paymentId }) => paymentId),
    ],
    'insert-batch',
  );
  await Promise.all([inserted, insertAttempt(sql, { ...batch, attempt: 1, kind: batch.kind })]);
}

/** The batch by id; null before its claim was committed. */
export async function findBatch(sql: Sql, batchId: string): Promise<Batch | null> {
  const rows = await sql.query<BatchRow>(`select ${SHOWN.text} from settlement_batch where batch_id = $1`, [batchId]);
  return rows[0] ? batchOf(rows[0]) : null;
}

/** Batches that are not safe yet: open ones first, then lowest nonce first, 200 at most. */
export async function listUnfinishedBatches(sql: Sql, ref: RelayerRef): Promise<Batch[]> {
  const rows = await sql.query<BatchRow>(
    `select ${SHOWN.text} from settlement_batch where network = $1 and relayer = $2 and state <> 'safe'
      order by state = 'open' desc, nonce limit 200`,
    [ref.network, ref.address],
  );
  return rows.map(batchOf);
}

/** Every batch of a queue from one nonce to below another, lowest first, whatever its state: a reorg lowers the chain's count. */
export async function listQueue(sql: Sql, ref: RelayerRef, fromNonce: bigint, belowNonce: bigint): Promise<Batch[]> {
  const rows = await sql.query<BatchRow>(
    `select ${SHOWN.text} from relayer_nonce join settlement_batch using (batch_id)
      where relayer_nonce.network = $1 and relayer_nonce.relayer = $2 and relayer_nonce.nonce >= $3 and relayer_nonce.nonce < $4
      order by relayer_nonce.nonce limit 200`,
    [ref.network, ref.address, fromNonce.toString(), belowNonce.toString()],
  );
  return rows.map(batchOf);
}

/** Every batch that holds a nonce of a queue from this one on, lowest first; 1,000 at most. */
export async function listHeldFrom(sql: Sql, ref: RelayerRef, fromNonce: bigint): Promise<Batch[]> {
  const rows = await sql.query<BatchRow>(
    `select ${SHOWN.text} from relayer_nonce join settlement_batch using (batch_id)
      where relayer_nonce.network = $1 and relayer_nonce.relayer = $2 and relayer_nonce.nonce >= $3
      order by relayer_nonce.nonce limit 1000`,
    [ref.network, ref.address, fromNonce.toString()],
  );
  return rows.map(batchOf);
}

/** Moves a batch on, or back to `open` when a reorg took its transaction. */
export async function setBatchState(sql: Sql, batchId: string, state: Batch['state']): Promise<void> {
  await sql.query(
    `update settlement_batch set state = $2, closed_at = case when $2 = 'safe' then now() else null end where batch_id = $1`,
    [batchId, state],
  );
}

/** Opens batches whose bytes go out again, whatever they were thought to be; what becomes of them is judged again (safety 8). */
export async function reopenBatches(sql: Sql, batchIds: readonly string[]): Promise<void> {
  if (batchIds.length === 0) return;
  await sql.query(
    `with held as (select batch_id from settlement_batch where batch_id = any ($1::uuid[]) order by batch_id for update)
     update settlement_batch set state = 'open', closed_at = null from held where settlement_batch.batch_id = held.batch_id`,
    [[...new Set(batchIds)]],
  );
}

/** Frees the batch's place in flight; true for the one caller that moved it on from `open`. */
export async function markMined(sql: Sql, batchId: string): Promise<boolean> {
  const rows = await sql.query(
    // As an expression, so that no index of open batches looks as good as the key.
    "update settlement_batch set state = 'mined' where batch_id = $1 and coalesce(state, '') = 'open' returning 1",
    [batchId],
    'mark-mined',
  );
  return rows.length === 1;
}

/** A batch without the list of what it carries. */
const SHOWN = columnsOf('settlement_batch settlement_batch', [
  'batchId',
  'network',
  'relayer',
  'kind',
  'nonce',
  'state',
  'createdAt',
]);
type BatchRow = RowOf<typeof SHOWN>;

function batchOf({ relayer, nonce, ...row }: BatchRow): Batch {
  return { ...row, address: relayer, nonce: BigInt(nonce) };
}
