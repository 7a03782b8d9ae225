import type { PaymentState } from '../../domain/payment/state.ts';
import type { Process } from './actor.ts';
import { ask, RpcDown } from './actor.ts';
import { eventOfWatching, look } from './judging.ts';
import { isTooLate, judgeBatch, sendLatest, sendUpTo, settleBatch } from './processes.ts';
import type { BatchRow, PaymentRow } from './store.ts';
import type { World } from './world.ts';

/** Seconds after `validBefore` without an answer of the chain: a person looks (ten minutes in the service). */
export const OVERDUE_SECONDS = 6;
const ALL: readonly PaymentState[] = [
  'accepted',
  'held',
  'broadcast',
  'settled',
  'final',
  'failed',
  'superseded',
  'expired',
  'review',
];
const FORGOTTEN: readonly PaymentState[] = ['failed', 'superseded', 'expired'];

/** One round of the scheduled sweeper: whatever no live workflow holds goes on from here. */
export function* sweep(world: World): Process {
  const tasks = [enqueue(world), lane(world), watch(world), held(world)];
  for (const task of world.random.shuffle(tasks)) {
    try {
      yield* task;
    } catch (error) {
      if (!(error instanceof RpcDown)) throw error;
    }
  }
}

/** Accepted rows go to a batch again; claims keep them from going twice. */
function* enqueue(world: World): Process {
  const rows = yield* ask(() => world.store.list(['accepted'], false));
  if (rows.length === 0) return;
  const batchId = world.name('batch');
  const extra: readonly PaymentState[] =
    world.mutant === 'noClaimCas'
      ? ['accepted', 'broadcast']
      : world.mutant === 'sendsHeld'
        ? ['accepted', 'held']
        : ['accepted'];
  const proposed = (yield* ask(() => world.store.list(extra, false))).map((row) => row.id);
  world.spawn(() => settleBatch(world, batchId, proposed), true);
}

/** Every nonce from the chain's count on is sent again, mined ones are judged, and closed when they are safe (safety 8). */
function* lane(world: World): Process {
  const count = yield* ask(() => world.rpc(() => world.chain.relayerNonce));
  const batches = yield* ask(() => world.store.listBatches(count));
  const skip = world.mutant === 'laneSkipsLower' ? batches.slice(-1) : batches;
  for (const batch of skip) {
    if (batch.nonce >= count) yield* sendLatest(world, batch, 'send:again');
    else if (!batch.closed) yield* finish(world, batch);
  }
}

function* finish(world: World, batch: BatchRow) {
  if (!(yield* judgeBatch(world, batch))) return;
  const safe = yield* ask(() =>
    world.rpc(() =>
      batch.attempts.some((one) => (world.chain.receipts.get(one.raw.hash)?.block ?? Infinity) <= world.chain.safe),
    ),
  );
  if (safe) yield* ask(() => world.write('closed:batch', (commit) => world.store.closeBatch(batch.id, commit)));
}

/** Looks at every payment whose money may still move, or move back; after a deep reorg the reconciler looks at all. */
function* watch(world: World): Process {
  const states = world.mutant === 'forgetWatch' ? ALL.filter((state) => !FORGOTTEN.includes(state)) : ALL;
  const rows = yield* ask(() => world.store.list(states, !world.deepReorged));
  for (const row of world.random.shuffle(rows)) yield* watchOne(world, row);
}

function* watchOne(world: World, row: PaymentRow) {
  let sight: ReturnType<typeof look>;
  try {
    sight = yield* ask(() => world.rpc(() => look(world, row)));
  } catch (error) {
    const overdue = world.nowSeconds > row.auth.validBefore + OVERDUE_SECONDS;
    if (overdue) yield* ask(() => world.apply(row.id, { type: 'overdue' }, row.facts));
    throw error;
  }
  const event = eventOfWatching(world, row, sight);
  if (!event) return;
  const { effects } = yield* ask(() => world.apply(row.id, event, row.facts));
  if (!effects.some((effect) => effect.type === 'resend')) return;
  const batch = yield* ask(() => world.store.findBatch(row.facts.batchId ?? ''));
  if (batch) yield* sendUpTo(world, batch.nonce, 'send:reorged');
}

/** Held payments that can no longer be sent lapse; those behind nothing go out, or are superseded. */
function* held(world: World): Process {
  const rows = yield* ask(() => world.store.list(['held'], false));
  for (const row of rows) {
    if (isTooLate(world, row.auth)) yield* ask(() => world.apply(row.id, { type: 'lapsed' }, row.facts));
  }
  yield* ask(() => world.write(null, (commit) => world.store.sweepHeld(commit)));
}
