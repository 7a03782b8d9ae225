import type { InferResult } from 'kysely';
import { sql as text } from 'kysely';
import { raiseAlert } from '../../../db/alerts.ts';
import type { Database, Sql } from '../../../db/database.ts';
import { anyOf, run, statement, tables } from '../../../db/statement.ts';
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

const keyOf = ({ network, address }: RelayerRef) =>
  tables.selectFrom('relayer').where('network', '=', network).where('address', '=', address);
const changeOf = ({ network, address }: RelayerRef) =>
  tables.updateTable('relayer').where('network', '=', network).where('address', '=', address);
/** No count of the chain is ahead of ours. */
const NONE_SEEN = { seenNonce: null, seenAt: null };

/** Makes sure a relayer has its row; a new one starts at `firstNonce`. One that is there keeps its nonce, whatever the chain says. */
export async function ensureRelayer(database: Sql, ref: RelayerRef, firstNonce: bigint, inFlightLimit: number): Promise<void> {
  const { network, address } = ref;
  await run(
    database,
    tables
      .insertInto('relayer')
      .values({ network, address, nextNonce: firstNonce.toString(), inFlightLimit })
      .onConflict((known) => known.columns(['network', 'address']).doUpdateSet({ inFlightLimit })),
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
  const [row] = await run(
    sql,
    keyOf(ref).select(({ selectFrom, fn }) => [
      'nextNonce',
      'seenNonce',
      selectFrom('settlement_batch as b')
        .select(fn.countAll<string>().as('count'))
        .where('b.network', '=', ref.network)
        .where('b.relayer', '=', ref.address)
        .where('b.state', '=', 'open')
        .as('open'),
    ]),
  );
  if (!row) return null;
  const { nextNonce, seenNonce, open } = row;
  return { nextNonce: BigInt(nextNonce), inFlight: Number(open), seenNonce: seenNonce === null ? null : BigInt(seenNonce) };
}

/** Notes a count of the chain that is ahead of ours, or that there is none; the queue takes no batch while one is noted. */
export async function noteSeenNonce(sql: Sql, ref: RelayerRef, count: bigint | null): Promise<void> {
  const noted = changeOf(ref);
  await run(
    sql,
    count === null
      ? noted.set(NONE_SEEN).where('seenNonce', 'is not', null)
      : noted.set({ seenNonce: count.toString(), seenAt: text<Date>`now()` }),
  );
}

/** Moves a relayer on to a count of the chain, never back, and tells the operator once. */
export async function adoptCount(database: Database, ref: RelayerRef, count: bigint): Promise<void> {
  await database.transaction(async (sql) => {
    const nextNonce = count.toString();
    const moved = await run(
      sql,
      changeOf(ref)
        .set({ nextNonce, ...NONE_SEEN })
        .where('nextNonce', '<', nextNonce)
        .returning('nextNonce'),
    );
    if (moved.length > 0) await raiseAlert(sql, 'relayer_nonce_adopted', `${ref.network} ${ref.address}`);
  });
}

/** A person's nonce for a queue, which is locked by the caller's transaction; any way. */
export async function setNextNonce(sql: Sql, ref: RelayerRef, nonce: bigint): Promise<void> {
  await run(sql, changeOf(ref).set({ nextNonce: nonce.toString(), ...NONE_SEEN }));
}

/** A query for the unmined batches of a key on network $1, and the gas limits of their newest bytes together. */
export function queueLoadSql(address: string): string {
  return `select count(*)::int as open, coalesce(sum(bytes.gas_limit), 0) as open_gas from settlement_batch batch
     left join lateral (select gas_limit from relayer_transaction where batch_id = batch.batch_id order by attempt desc limit 1) bytes on true
    where batch.network = $1 and batch.relayer = ${address} and batch.state = 'open'`;
}

const lockKey = statement<RelayerRef>()(
  (place) =>
    keyOf({ network: place('network'), address: place('address') })
      .select(['nextNonce', 'inFlightLimit', 'pausedReason'])
      .select(text<boolean>`coalesce(seen_nonce > next_nonce and seen_at > now() - interval '1 minute', false)`.as('doubted'))
      .forUpdate(),
  'lock-queue',
);

/**
 * Locks a relayer's queue and tells whether a batch may take its next nonce (`queueHasRoom`; the limit is the key's, safety 10). A queue whose count the
 * chain has put in doubt within the last minute takes none until the next round has looked again. A nonce that a batch held before the
 * queue was set back stays that batch's for good, and is passed over; the batch is opened again, so that its own bytes fill the place.
 */
export async function lockQueue(sql: Sql, ref: RelayerRef, isNewcomer = false): Promise<QueueHead> {
  // At once, so that they travel together: what is behind the lock begins when it is held, and sees what its last holder left.
  const [[row], held, before] = await Promise.all([lockKey(sql, ref), listHeldNonces(sql, ref), readQueueLoad(sql, ref)]);
  if (!row || row.pausedReason !== null) return { kind: 'paused' };
  const next = BigInt(row.nextNonce);
  const nonce = await passHeld(sql, ref, next, held);
  const found = nonce === next ? before : await readQueueLoad(sql, ref); // those passed over are open again
  const load = { open: found?.open ?? 0, openGas: BigInt(found?.open_gas ?? 0), limit: row.inFlightLimit };
  if (row.doubted || !queueHasRoom(load, isNewcomer)) return { kind: 'busy' };
  return { kind: 'free', nonce };
}

/** Moves a queue past the nonces that its own batches hold, and gives the first free one; a second call changes nothing. */
export async function passHeldNonces(database: Database, ref: RelayerRef): Promise<bigint> {
  return database.transaction(async (sql) => {
    const [row] = await run(sql, keyOf(ref).select('nextNonce').forUpdate());
    return passHeld(sql, ref, BigInt(row?.nextNonce ?? 0), await listHeldNonces(sql, ref));
  });
}

/** Nonces from the next one of a queue on that batches hold, lowest first, 100 at most. Call it under the queue's lock. */
const listHeldNonces = statement<RelayerRef>()(
  (place) =>
    tables
      .selectFrom('relayer_nonce')
      .select(['nonce', 'batchId'])
      .where('network', '=', place('network'))
      .where('relayer', '=', place('address'))
      .where('nonce', '>=', ({ selectFrom }) =>
        selectFrom('relayer as r')
          .select('r.nextNonce')
          .where('r.network', '=', place('network'))
          .where('r.address', '=', place('address')),
      )
      .orderBy('nonce')
      .limit(text.lit(100)),
  'list-held-nonces',
);
type HeldNonce = Awaited<ReturnType<typeof listHeldNonces>>[number];

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
  for (const { batchId } of passed) await setBatchState(sql, batchId, 'open');
  if (passed.length > 0) await setNextNonce(sql, ref, from + BigInt(passed.length));
  return from + BigInt(passed.length);
}

/** True while a flush of a network is on its way: what it pays out still shows as lying there. */
export async function hasOpenFlush(sql: Sql, network: string): Promise<boolean> {
  const flushes = tables.selectFrom('settlement_batch').select('batchId').where('network', '=', network);
  const open = await run(sql, flushes.where('kind', '=', 'flush').where('state', '=', 'open').limit(1));
  return open.length > 0;
}

/** How long a claim holds its batch, milliseconds, in which the claimant starts its workflow. A batch without a workflow is not held. */
export function claimHoldMs(workflowId: string | null): number {
  return workflowId === null ? 0 : 5_000;
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
     insert into settlement_batch (batch_id, network, relayer, kind, workflow_id, nonce, gas_shares, tenant_ids, payment_ids, held_until)
     values ($1, $2, $3, $4, $6, $5, $7::jsonb, $8::uuid[], $9::uuid[], now() + $10::double precision * interval '1 millisecond')`,
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
      claimHoldMs(batch.workflowId),
    ],
    'insert-batch',
  );
  await Promise.all([inserted, insertAttempt(sql, { ...batch, attempt: 1, kind: batch.kind })]);
}

/** A batch without the list of what it carries. */
const BATCH = ['b.batchId', 'b.network', 'b.relayer as address', 'b.kind', 'b.nonce', 'b.state', 'b.createdAt'] as const;
const batches = tables.selectFrom('settlement_batch as b').select(BATCH);
/** Batches that hold a nonce of a queue from one on, lowest first. */
const heldFrom = ({ network, address }: RelayerRef, nonce: bigint) =>
  batches
    .innerJoin('relayer_nonce as held', 'held.batchId', 'b.batchId')
    .where('held.network', '=', network)
    .where('held.relayer', '=', address)
    .where('held.nonce', '>=', nonce.toString())
    .orderBy('held.nonce');

/** The batch by id; null before its claim was committed. */
export async function findBatch(sql: Sql, batchId: string): Promise<Batch | null> {
  const [row] = await run(sql, batches.where('batchId', '=', batchId));
  return row ? batchOf(row) : null;
}

/** A hold that is too short is prolonged by so much more, so that of several looks in a row one writes. */
const MORE_HELD_MS = 60_000;

/**
 * Holds a batch for its workflow for so long from now on, at least, and up to `moreMs` longer, and gives it; null: it has no row. The sweeper leaves
 * it alone, but for bytes that are not mined. A hold that is long enough stays, and nothing is written: none is cut short but by a reorganisation
 * (`endHolds`) or an operator.
 */
export async function holdBatch(sql: Sql, batchId: string, forMs: number, moreMs = MORE_HELD_MS): Promise<Batch | null> {
  const from = (ms: number) => text<Date>`now() + ${ms}::double precision * interval '1 millisecond'`;
  const held = tables.with('held', (beside) =>
    beside
      .updateTable('settlement_batch')
      .set({ heldUntil: from(forMs + moreMs) })
      .where('batchId', '=', batchId)
      .where('heldUntil', '<', from(forMs)),
  );
  const [row] = await run(sql, held.selectFrom('settlement_batch as b').select(BATCH).where('b.batchId', '=', batchId));
  return row ? batchOf(row) : null;
}

/** Batches that are not safe yet and that nobody holds, unmined ones in any case: these first, then lowest nonce first, 200 at most. */
export async function listUnfinishedBatches(sql: Sql, ref: RelayerRef): Promise<Batch[]> {
  const unfinished = batches.where('network', '=', ref.network).where('relayer', '=', ref.address).where('state', '<>', 'safe');
  const looked = unfinished.where((is) => is.or([is('state', '=', 'open'), is('heldUntil', '<=', text<Date>`now()`)]));
  const openFirst = looked.orderBy((is) => is('state', '=', 'open'), 'desc');
  return (await run(sql, openFirst.orderBy('nonce').limit(200))).map(batchOf);
}

/** Every batch of a queue from one nonce to below another, lowest first, whatever its state: a reorg lowers the chain's count. */
export async function listQueue(sql: Sql, ref: RelayerRef, fromNonce: bigint, belowNonce: bigint): Promise<Batch[]> {
  const queue = heldFrom(ref, fromNonce).where('held.nonce', '<', belowNonce.toString());
  return (await run(sql, queue.limit(200))).map(batchOf);
}

/** Every batch that holds a nonce of a queue from this one on, lowest first; 1,000 at most. */
export async function listHeldFrom(sql: Sql, ref: RelayerRef, fromNonce: bigint): Promise<Batch[]> {
  return (await run(sql, heldFrom(ref, fromNonce).limit(1_000))).map(batchOf);
}

/**
 * Ends the holds of the mined batches of a queue from this nonce on: the chain counts fewer transactions, so a reorganisation took theirs, while
 * their workflows sleep. A count that one node got wrong costs a look.
 */
export async function endHolds(sql: Sql, { network, address }: RelayerRef, fromNonce: bigint): Promise<void> {
  const mined = tables.updateTable('settlement_batch').where('network', '=', network).where('relayer', '=', address);
  const gone = mined.where('state', '=', text.lit('mined')).where('nonce', '>=', fromNonce.toString());
  await run(sql, gone.where('heldUntil', '>', text<Date>`now()`).set({ heldUntil: text<Date>`now()` }));
}

/** Moves a batch on, or back to `open` when a reorg took its transaction. Where it is in that state already nothing is written: `closed_at` stays. */
export async function setBatchState(sql: Sql, batchId: string, state: Batch['state']): Promise<void> {
  const closedAt = state === 'safe' ? text<Date>`now()` : null;
  const batch = tables.updateTable('settlement_batch').where('batchId', '=', batchId).where('state', '<>', state);
  await run(sql, batch.set({ state, closedAt }));
}

/** Opens batches whose bytes go out again, whatever they were thought to be; what becomes of them is judged again (safety 8). */
export async function reopenBatches(sql: Sql, batchIds: readonly string[]): Promise<void> {
  if (batchIds.length === 0) return;
  await run(
    sql,
    tables
      .with('held', (from) =>
        from
          .selectFrom('settlement_batch')
          .select('batchId')
          .where('batchId', '=', anyOf([...new Set(batchIds)]))
          .orderBy('batchId')
          .forUpdate(),
      )
      .updateTable('settlement_batch')
      .from('held')
      .set({ state: 'open', closedAt: null })
      .whereRef('settlement_batch.batchId', '=', 'held.batchId'),
  );
}

const moveOn = statement<{ batchId: string }>()(
  (place) =>
    tables
      .updateTable('settlement_batch')
      .set({ state: text.lit('mined') })
      .where('batchId', '=', place('batchId'))
      // As an expression, so that no index of open batches looks as good as the key.
      .where(text<boolean>`coalesce(state, '') = 'open'`)
      .returning('batchId'),
  'mark-mined',
);

/** Frees the batch's place in flight; true for the one caller that moved it on from `open`. */
export async function markMined(sql: Sql, batchId: string): Promise<boolean> {
  return (await moveOn(sql, { batchId })).length === 1;
}

function batchOf({ address, nonce, ...row }: InferResult<typeof batches>[number]): Batch {
  return { ...row, address, nonce: BigInt(nonce) };
}
