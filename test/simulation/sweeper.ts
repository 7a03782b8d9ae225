import { LOOSE_STATES, PAYMENT_STATES, SETTLED_STATES } from '../../modules/kernel/payment/state.ts';
import { isOvertaken } from '../../modules/settlement/rules/carrier.ts';
import { judgeNonce } from '../../modules/settlement/rules/relayerNonce.ts';
import type { Call, Process } from './actor.ts';
import { ask, RpcDown } from './actor.ts';
import { hold, judgeBatch, minedIn, propose, sendUpTo, watchBatch, watchOne } from './processes.ts';
import type { BatchRow, PaymentRow, UnfinalBatch } from './store.ts';
import type { World } from './world.ts';

/** What the sweeper looks at one by one: settled evidence, what may move although nothing of ours carries it, and what was sent. */
const WATCHED = [...SETTLED_STATES.filter((state) => state !== 'final'), ...LOOSE_STATES, 'broadcast'] as const;

/** One round of the scheduled sweeper: whatever no live workflow holds goes on from here. */
export function* sweep(world: World): Process {
  const tasks = [enqueue(world), queue(world), watch(world), held(world), doubt(world)];
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
  propose(
    world,
    rows.map((row) => row.id),
  );
}

/** Batches that are not done, and not mined or nobody's, are judged, or sent again, and closed at the safe block; a count ahead of ours is adopted (safety 8). */
function* queue(world: World): Process {
  const safeCount = yield* adoptNonce(world);
  for (const batch of yield* ask(() => world.store.listBatches(null))) {
    const isMined = yield* ask(() => world.rpc((view) => minedIn(view, batch) !== null));
    if (!(isMined && world.held.has(batch.id))) yield* sweepBatch(world, batch, safeCount);
    hold(world, batch.id);
  }
}

/** The chain's count is adopted where two rounds see it ahead of ours; returns what may be believed of batches on their way. */
function* adoptNonce(world: World): Generator<Call, bigint, unknown> {
  const known = yield* ask(() => world.store.findNonce());
  const safeCount = yield* ask(() => world.rpc((view) => BigInt(view.safeCount)));
  const latestCount = yield* ask(() => world.rpc((view) => BigInt(view.count)));
  const verdict = judgeNonce({ ...known, safeCount, latestCount, seenBefore: world.seenNonce });
  world.seenNonce = verdict.kind === 'seen' || verdict.kind === 'suspect' ? verdict.count : null;
  if (verdict.kind === 'suspect') return 0n;
  if (verdict.kind === 'adopt') {
    yield* ask(() => world.write('adopted:nonce', (commit) => world.store.adoptNonce(Number(verdict.count), commit)));
  }
  if (latestCount < safeCount) return latestCount;
  return safeCount;
}

function* sweepBatch(world: World, batch: BatchRow, safeCount: bigint) {
  const isDone = yield* judgeBatch(world, batch, safeCount);
  const seen = yield* ask(() =>
    world.rpc((view) => {
      const mined = minedIn(view, batch);
      const isOver = mined === null && isOvertaken(BigInt(batch.nonce), safeCount);
      return { mined, isOver, isSafe: mined !== null && mined.receipt.block <= view.safe };
    }),
  );
  if (seen.isOver || (isDone && seen.isSafe))
    yield* ask(() => world.write('closed:batch', (commit) => world.store.closeBatch(batch.id, commit)));
  else if (!seen.mined) yield* sendUpTo(world, batch, 'send:again');
}

/** Looks at every payment whose money may still move, or move back; after a deep reorg the reconciler looks at all. */
function* watch(world: World): Process {
  const rows = yield* ask(() => world.store.list(world.deepReorged ? PAYMENT_STATES : WATCHED, !world.deepReorged));
  const batches = yield* ask(() => world.store.listUnfinal());
  const inBatches = new Set(batches.flatMap(({ payments }) => payments.map(({ id }) => id)));
  const alone = rows.filter(({ id }) => !inBatches.has(id));
  for (const one of world.random.shuffle<PaymentRow | UnfinalBatch>([...alone, ...batches])) {
    if (!('payments' in one)) yield* watchOne(world, one);
    else if (!world.held.has(one.id)) {
      yield* watchBatch(world, one);
      hold(world, one.id);
    }
  }
}

/** Held payments that nothing holds any more are superseded or released. */
function* held(world: World): Process {
  yield* ask(() => world.write(null, (commit) => world.store.sweepHeld(commit)));
}

/** A reconciler that read a lie has what nobody watches looked at again: the chain decides it as before. */
function* doubt(world: World): Process {
  if (world.calm) return;
  const rows = yield* ask(() => world.store.list(['failed', 'superseded', 'expired'], false));
  for (const row of rows) {
    if (row.facts.watched || !world.random.chance(0.05)) continue;
    yield* world.decide(row, { event: { type: 'contradicted' } }, { sight: null, reorgs: world.chain.reorgs });
  }
}
