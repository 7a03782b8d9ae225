import type { Carrier } from '../../modules/kernel/payment/sight.ts';
import { isClaimable } from '../../modules/kernel/payment/state.ts';
import { fateOf, isOvertaken } from '../../modules/settlement/rules/carrier.ts';
import { wasUsedBefore } from '../../modules/settlement/rules/firstLook.ts';
import { judge } from '../../modules/settlement/rules/judge.ts';
import type { WaitingPayment } from '../../modules/settlement/rules/pickBatch.ts';
import { pickBatch } from '../../modules/settlement/rules/pickBatch.ts';
import { resendFrom } from '../../modules/settlement/rules/resend.ts';
import type { Call, Process } from './actor.ts';
import { Actor, ask, RpcDown } from './actor.ts';
import type { Receipt, View } from './chain.ts';
import { judgedOf, look, momentOf, simulateOne, UNSEEN } from './look.ts';
import type { Safe } from './round.ts';
import { runBlindRound, runRound } from './round.ts';
import { RESOURCES } from './scenario.ts';
import type { BatchRow, NewPayment, PaymentRow, SignedTx, UnfinalBatch } from './store.ts';
import { authorizationKey } from './token.ts';
import type { ChainTx, Group } from './transactions.ts';
import type { World } from './world.ts';

const BATCH_LIMIT = 3;

/** One request to verify: find or insert the row, check it, hand it to a batch. Dies unrepeated when its process dies. */
export function* intake(world: World, payment: Omit<NewPayment, 'seenBlock' | 'seenReorgs'>): Process {
  let row: PaymentRow | null = yield* ask(() => world.store.find(payment.id));
  try {
    if (!row) {
      const key = authorizationKey(payment.auth.payer, payment.auth.nonce);
      const seen = yield* ask(() =>
        world.rpc((view) => ({ block: view.head, used: view.spentIn(key) !== null, reorgs: world.chain.reorgs })),
      );
      if (wasUsedBefore(seen)) return;
      const fresh = { ...payment, seenBlock: seen.block, seenReorgs: seen.reorgs };
      row = yield* ask(() => world.write(null, (commit) => world.store.intake(fresh, commit)));
    }
  } catch (error) {
    if (!(error instanceof RpcDown)) throw error;
    return; // 503: nothing is stored, nothing counted
  }
  if (row.facts.state !== 'accepted') return;
  world.queue.push(payment.id);
  yield world.random.between(0, 6_000); // payments that arrive meanwhile go with it
  propose(world, world.queue.splice(0));
}

/** Workers are told of what waits, and one of them takes it. */
export function propose(world: World, proposed: readonly string[]): void {
  if (proposed.length === 0) return;
  const batchId = world.name('batch');
  world.spawn(() => fly(world, batchId, [...new Set(proposed)]), false);
}

/** Starts the workflow that owns a batch, unless it runs; nothing happens while Temporal is away. */
export function hold(world: World, batchId: string): void {
  const isAway = !world.calm && world.random.chance(0.2);
  if (isAway || world.held.has(batchId)) return;
  world.held.add(batchId);
  world.spawn(() => ownBatch(world, batchId), true);
}

/** Looks at an accepted payment before its first byte is sent, as `modules/settlement/use/batch/examine.ts` does; true when it may be sent. */
function* examine(world: World, row: PaymentRow): Generator<Call, boolean, unknown> {
  const payment = judgedOf(row);
  const clocks = judge(payment, null, momentOf(world));
  if (clocks !== 'wait') {
    yield* world.decide(row, clocks, { sight: null, reorgs: world.chain.reorgs });
    return false;
  }
  const seen = yield* ask(() =>
    world.rpc((view) => {
      const simulation = simulateOne(world, view, row);
      const sight = simulation ? { ...UNSEEN, head: BigInt(view.head), simulation } : look(world, view, row, false);
      return { sight, reorgs: world.chain.reorgs };
    }),
  );
  const verdict = judge(payment, seen.sight, momentOf(world));
  if (verdict !== 'wait') yield* world.decide(row, verdict, seen);
  return verdict === 'wait' && seen.sight.simulation !== null;
}

/** A flight: claims and signs, has the batch held, sends, and looks a few times soon. It dies with its process, and nobody repeats it. */
function* fly(world: World, batchId: string, proposed: readonly string[]): Process {
  try {
    const batch = yield* claim(world, batchId, proposed);
    if (!batch) return;
    hold(world, batchId);
    yield* sendUpTo(world, batch, 'send:claimed');
    for (let looks = 0; looks < 3; looks += 1) {
      yield world.random.between(100, 1_000);
      if (yield* judgeBatch(world, batch)) break;
    }
  } catch (error) {
    if (!(error instanceof RpcDown)) throw error;
  }
}

/** The workflow of one batch: sends what is not mined, decides, and stays until the safe block has. The engine runs it again after a crash. */
function* ownBatch(world: World, batchId: string): Process {
  for (;;) {
    yield world.random.between(100, 6_000);
    if (!world.calm && world.random.chance(0.02)) break; // an operator ended it
    try {
      const batch = yield* ask(() => world.store.findBatch(batchId));
      if (!batch || (yield* lookAfter(world, batch))) break;
    } catch (error) {
      if (!(error instanceof RpcDown)) throw error;
    }
  }
  world.held.delete(batchId);
}

/** One look of a batch's owner; true when it is over. Throws RpcDown. */
function* lookAfter(world: World, batch: BatchRow): Generator<Call, boolean, unknown> {
  if (!batch.closed) {
    const isDone = yield* judgeBatch(world, batch);
    const mined = yield* ask(() => world.rpc((view) => ({ found: minedIn(view, batch), safe: view.safe })));
    if (!mined.found) yield* sendUpTo(world, batch, 'send:again');
    else if (isDone && mined.found.receipt.block <= mined.safe)
      yield* ask(() => world.write('closed:batch', (commit) => world.store.closeBatch(batch.id, commit)));
  }
  const unfinal = yield* ask(() => world.store.listUnfinal());
  const own = unfinal.find(({ id }) => id === batch.id);
  if (own) yield* watchBatch(world, own);
  return batch.closed && !own;
}

function* claim(world: World, batchId: string, proposed: readonly string[]) {
  const rows = new Map<string, PaymentRow>();
  for (const id of proposed) {
    const row = yield* ask(() => world.store.find(id));
    if (row && isClaimable({ mode: 'live', facts: row.facts })) rows.set(id, row);
  }
  const { picked, left } = pickBatch([...rows.values()].map(waitingOf), { openRoom, payerRoom: () => BATCH_LIMIT, last: null });
  const chosen: PaymentRow[] = [];
  for (const { paymentId } of picked) {
    const row = rows.get(paymentId) as PaymentRow;
    if (yield* examine(world, row)) chosen.push(row);
  }
  propose(
    world,
    left.map(({ paymentId }) => paymentId),
  );
  if (chosen.length === 0 || world.gasEmpty) return null;
  return yield* ask(() => {
    const sign = (nonce: number, rows: readonly PaymentRow[]) => signBatch(world, nonce, rows);
    return world.write(
      null,
      (commit) => world.store.claim(batchId, chosen, BATCH_LIMIT, sign, commit),
      (batch) => world.stored(batch),
    );
  });
}

/** A payment as the service chooses from. */
function waitingOf({ id, auth, payerKind, legs, facts, batchSize }: PaymentRow): WaitingPayment {
  const { payer, to: payTo } = auth;
  const age = { acceptedAtMs: Number(id.slice(3)), attempts: facts.attempts, batchSize };
  return { tenantId: 'site', paymentId: id, payer, payTo, payerKind, router: '', legs: legs.length, signatureBytes: 65, ...age };
}

/** Room for a few payments, all of one weight. */
function openRoom() {
  let count = 0;
  return {
    costOf: () => (count < BATCH_LIMIT ? 1n : null),
    add: () => {
      count += 1;
    },
  };
}

/** Signs a batch: one group per payTo; a single payment to a single author goes straight to the token. */
function signBatch(world: World, nonce: number, rows: readonly PaymentRow[]): ChainTx {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const authors = RESOURCES.find((thing) => thing.name === row.resource)?.authors ?? [];
    const group = groups.get(row.auth.to);
    groups.set(row.auth.to, { to: row.auth.to, authors, items: [...(group?.items ?? []), row.auth] });
  }
  const direct = rows.length === 1 && [...groups.values()][0]?.authors.length === 1;
  // Gas that is enough for one may not be for several.
  const starved = !world.calm && world.random.chance(world.faults.starved * (rows.length > 1 ? 2 : 1));
  const refused = !world.calm && world.random.chance(world.faults.refused);
  const body = { kind: 'batch', groups: [...groups.values()], direct, starved } as const;
  return { hash: world.hash(), from: 'relayer', nonce, fee: world.chain.baseFee, body, refused };
}

/** Sends a batch, and before it what its queue must have mined first (`resendFrom`). Throws RpcDown. */
export function* sendUpTo(world: World, batch: BatchRow, step: string): Generator<Call, void, unknown> {
  const counts = yield* ask(() =>
    world.rpc(({ count }) => {
      let pending = count;
      while (world.chain.mempool.has(pending)) pending += 1;
      return { latest: BigInt(count), pending: BigInt(pending) };
    }),
  );
  const state = batch.closed ? 'safe' : 'open';
  const from = resendFrom({ nonce: BigInt(batch.nonce), state }, counts);
  if (from === null) return;
  const queue = yield* ask(() => world.store.listBatches(Number(from)));
  const lower = queue.filter(({ nonce }) => nonce >= Number(from) && nonce < batch.nonce);
  for (const one of [...lower, batch]) {
    if (one.closed) yield* ask(() => world.write('reopened:batch', (commit) => world.store.reopenBatch(one.id, commit)));
    yield* sendLatest(world, one, one === batch ? step : 'send:again');
  }
}

/** Sends a batch's newest bytes; refused for good: a self-transfer at the same nonce; too cheap: the same with a fee. */
function* sendLatest(world: World, batch: BatchRow, step: string) {
  const last = batch.attempts.at(-1) as SignedTx;
  const answer = yield* ask(() => world.send(last.raw, last.kind === 'void' ? 'send:void' : step));
  const dear = Math.ceil(Math.max(last.raw.fee * 1.25, world.chain.baseFee));
  if (answer === 'refused') {
    const raw: ChainTx = { ...last.raw, hash: world.hash(), fee: dear, body: { kind: 'self' }, refused: false };
    yield* replace(world, { batchId: batch.id, attempt: last.attempt + 1, kind: 'void', raw });
  } else if (answer === 'known' && last.raw.fee < world.chain.baseFee) {
    const raw = { ...last.raw, hash: world.hash(), fee: dear };
    yield* replace(world, { batchId: batch.id, attempt: last.attempt + 1, kind: last.kind, raw });
  }
}

function* replace(world: World, signed: SignedTx) {
  const stored = yield* ask(() =>
    world.write(
      `replaced:${signed.kind}`,
      (commit) => world.store.addAttempt(signed, commit),
      (value) => world.storedAttempt(value),
    ),
  );
  yield* ask(() => world.send(stored.raw, stored.kind === 'void' ? 'send:void' : 'send:again'));
}

/** The attempt of a batch that is mined, as one node shows it. */
export function minedIn(view: View, batch: BatchRow): { readonly attempt: SignedTx; readonly receipt: Receipt } | null {
  for (const attempt of batch.attempts) {
    const receipt = view.receiptOf(attempt.raw.hash);
    if (receipt) return { attempt, receipt };
  }
  return null;
}

/** What became of a batch's bytes, as one node shows it. The safe count must have been read before the batch and its attempts were. */
function carrierIn(view: View, batch: BatchRow, safeCount: bigint, size: number): Carrier | null {
  const mined = minedIn(view, batch);
  if (mined) {
    return { batchId: batch.id, size, fate: fateOf(mined.attempt.kind, mined.receipt.ok ? 'success' : 'reverted') };
  }
  return isOvertaken(BigInt(batch.nonce), safeCount) ? { batchId: batch.id, size, fate: 'overtaken' } : null;
}

/** Decides every payment of a batch whose nonce can carry nothing else; false while one is undecided. Throws RpcDown. */
export function* judgeBatch(world: World, batch: BatchRow, safeCount = 0n): Generator<Call, boolean, unknown> {
  if (!(yield* ask(() => world.rpc((view) => carrierIn(view, batch, safeCount, 0))))) return false;
  let open = 0;
  const again: string[] = [];
  for (const id of batch.items) {
    const row = yield* ask(() => world.store.find(id));
    if (row?.facts.state !== 'broadcast' || row.facts.batchId !== batch.id) continue;
    const { isDecided } = yield* runRound(world, row, {
      atSafe: world.random.chance(0.3),
      carrierIn: (view) => carrierIn(view, batch, safeCount, row.batchSize ?? 0),
    });
    if (!isDecided) open += 1;
    else if ((yield* ask(() => world.store.find(id)))?.facts.state === 'accepted') again.push(id);
  }
  propose(world, again);
  return open === 0;
}

/** All that is settled in a batch: what is safe makes the batch final, or itself where another is not. */
export function* watchBatch(world: World, batch: UnfinalBatch) {
  const safe: Safe[] = [];
  for (const row of batch.payments) {
    const round = yield* watchOne(world, row, { leaveSafe: true });
    if (round.safe) safe.push(round.safe);
  }
  const judged = safe.map(({ row }) => row);
  const isFinal = yield* ask(() => world.write('final:batch', (commit) => world.store.finalise(batch.id, judged, commit)));
  if (isFinal) return;
  for (const one of safe) yield* world.decide(one.row, one.verdict, one.judged);
}

export function* watchOne(world: World, row: PaymentRow, options: { readonly leaveSafe?: true } = {}) {
  try {
    const round = yield* runRound(world, row, { atSafe: true, ...options });
    if (!round.resend || row.facts.batchId === null) return round;
    const { batchId } = row.facts;
    yield* ask(() => world.write('reopened:batch', (commit) => world.store.reopenBatch(batchId, commit)));
    const batch = yield* ask(() => world.store.findBatch(batchId));
    if (batch) yield* sendUpTo(world, batch, 'send:reorged');
    return round;
  } catch (error) {
    if (!(error instanceof RpcDown)) throw error;
    yield* runBlindRound(world, row);
    throw error;
  }
}

/** A process that the workflow engine runs again after a crash, a little later. */
export function revive(actor: Actor, nowMs: number): Actor | null {
  return actor.again ? new Actor(actor.again(), actor.again, nowMs + 500) : null;
}
