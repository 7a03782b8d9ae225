import type { Process } from './actor.ts';
import { Actor, ask, RpcDown } from './actor.ts';
import type { FakeStore } from './fakeStore.ts';
import { eventOfMined, eventOfSpending, look } from './judging.ts';
import { RESOURCES } from './scenario.ts';
import type { BatchRow, NewPayment, PaymentRow, SignedTx } from './store.ts';
import type { Authorization } from './token.ts';
import { authorizationKey } from './token.ts';
import type { ChainTx, Group } from './transactions.ts';
import type { World } from './world.ts';

/** Seconds before `validBefore` in which nothing is sent any more (safety 10). */
export const LATE_SECONDS = 10;
const BATCH_LIMIT = 3;

/** True when an authorization is too near to its end to be sent. */
export function isTooLate(world: World, auth: Authorization): boolean {
  return auth.validBefore - world.nowSeconds < LATE_SECONDS;
}

/** One request to verify: find or insert the row, check it, hand it to a batch. Dies unrepeated when its process dies. */
export function* intake(world: World, payment: Omit<NewPayment, 'seenBlock'>): Process {
  let row: PaymentRow | null = yield* ask(() => world.store.find(payment.id));
  try {
    if (!row) {
      const key = authorizationKey(payment.auth.payer, payment.auth.nonce);
      const seen = yield* ask(() => world.rpc(() => ({ head: world.chain.head, used: world.chain.spendings.has(key) })));
      if (seen.used && world.mutant !== 'foreignEvidenceBeforeRow') return;
      row = yield* insert(world, { ...payment, seenBlock: seen.head });
    }
    if (row.facts.state !== 'accepted') return;
    if (!(yield* precheck(world, row))) return;
  } catch (error) {
    if (!(error instanceof RpcDown)) throw error;
    return; // 503, or pending: the sweeper goes on
  }
  world.queue.push(payment.id);
  const proposed = world.random.chance(0.5) ? world.queue.splice(0) : [payment.id];
  const batchId = world.name('batch');
  world.spawn(() => settleBatch(world, batchId, proposed), true);
}

function* insert(world: World, payment: NewPayment) {
  if (world.mutant !== 'guardWithoutLock') {
    return yield* ask(() => world.write(null, (commit) => world.store.intake(payment, commit)));
  }
  const store = world.store as FakeStore;
  const state = yield* ask(() => store.guard(payment));
  return yield* ask(() => world.write(null, (commit) => store.intake(payment, commit, state)));
}

/** Balance, nonce and times of an accepted payment; false when it was decided or must not be sent. Throws RpcDown. */
function* precheck(world: World, row: PaymentRow) {
  if (isTooLate(world, row.auth)) {
    yield* ask(() => world.apply(row.id, { type: 'refused', reason: 'authorization_invalid' }, row.facts));
    return false;
  }
  const authors = RESOURCES.find((thing) => thing.name === row.resource)?.authors ?? [];
  const seen = yield* ask(() =>
    world.rpc(() => ({ sight: look(world, row), why: world.chain.diagnose(row.auth, authors, world.nowSeconds + 1) })),
  );
  if (seen.sight.spending) {
    const event = eventOfSpending(world, row, { ...seen.sight, spending: seen.sight.spending });
    if (event) yield* ask(() => world.apply(row.id, event, row.facts));
    return false;
  }
  if (seen.why !== 'insufficient_funds') return true;
  yield* ask(() => world.apply(row.id, { type: 'refused', reason: 'insufficient_funds' }, row.facts));
  return false;
}

/** The workflow of one batch: claim and sign, send, await, decide. The engine runs it again after a crash, same id. */
export function* settleBatch(world: World, batchId: string, proposed: readonly string[]): Process {
  try {
    let batch = yield* ask(() => world.store.findBatch(batchId));
    const known = batch !== null;
    if (!batch) batch = yield* claim(world, batchId, proposed);
    if (!batch) return;
    yield* sendUpTo(world, batch.nonce, known ? 'send:again' : 'send:claimed');
  } catch (error) {
    if (!(error instanceof RpcDown)) throw error;
    if (world.mutant === 'newNonceOnRetry') yield* signAnew(world, batchId);
  }
  for (let poll = 0; poll < 3; poll += 1) {
    yield 2_000;
    try {
      const batch = yield* ask(() => world.store.findBatch(batchId));
      if (batch && (yield* judgeBatch(world, batch))) return;
    } catch (error) {
      if (!(error instanceof RpcDown)) throw error;
    }
  }
  if (world.mutant === 'timeoutMeansFailed') yield* failUnmined(world, batchId);
}

function* claim(world: World, batchId: string, proposed: readonly string[]) {
  const good: string[] = [];
  for (const id of proposed) {
    const row = yield* ask(() => world.store.find(id));
    if (row?.facts.state === 'broadcast' && world.mutant === 'noClaimCas') good.push(id);
    if (row?.facts.state === 'held' && world.mutant === 'sendsHeld') good.push(id);
    if (row?.facts.state === 'accepted' && (yield* precheck(world, row))) good.push(id);
  }
  if (good.length === 0 || world.gasEmpty) return null;
  return yield* ask(() => {
    const sign = (nonce: number, rows: readonly PaymentRow[]) => signBatch(world, nonce, rows);
    return world.write(
      null,
      (commit) => world.store.claim(batchId, good, BATCH_LIMIT, sign, commit),
      (batch) => world.stored(batch),
    );
  });
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
  const starved = !world.calm && world.random.chance(world.faults.starved);
  const refused = !world.calm && world.random.chance(world.faults.refused);
  const body = { kind: 'batch', groups: [...groups.values()], direct, starved } as const;
  const raw: ChainTx = { hash: world.name('0xb'), from: 'relayer', nonce, fee: world.chain.baseFee, body, refused };
  if (world.mutant === 'sendBeforeCommit') world.send(raw, 'send:claimed');
  return raw;
}

/** Sends what the lane holds up to a nonce, lowest first (safety 8). Throws RpcDown. */
export function* sendUpTo(world: World, nonce: number, step: string) {
  const mined = yield* ask(() => world.rpc(() => world.chain.relayerNonce));
  const lane = yield* ask(() => world.store.listBatches(mined));
  for (const batch of lane) {
    if (batch.nonce < mined || batch.nonce > nonce) continue;
    if (batch.nonce < nonce && world.mutant === 'laneSkipsLower') continue;
    yield* sendLatest(world, batch, batch.nonce === nonce ? step : 'send:again');
  }
}

/** Sends a batch's newest bytes; refused for good: a self-transfer at the same nonce; too cheap: the same with a fee. */
export function* sendLatest(world: World, batch: BatchRow, step: string) {
  const last = batch.attempts.at(-1) as SignedTx;
  const answer = yield* ask(() => world.send(last.raw, last.kind === 'void' ? 'send:void' : step));
  const dear = Math.ceil(Math.max(last.raw.fee * 1.25, world.chain.baseFee));
  if (answer === 'refused') {
    const raw: ChainTx = { ...last.raw, hash: world.name('0xv'), fee: dear, body: { kind: 'self' }, refused: false };
    yield* replace(world, { batchId: batch.id, attempt: last.attempt + 1, kind: 'void', raw });
    if (world.mutant === 'unsentBeforeMined') yield* returnAll(world, batch);
  } else if (answer === 'known' && last.raw.fee < world.chain.baseFee) {
    const raw = { ...last.raw, hash: world.name('0xf'), fee: dear };
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

/** Decides every payment of a batch whose nonce is mined; false while it is not. Throws RpcDown. */
export function* judgeBatch(world: World, batch: BatchRow) {
  const receipt = yield* ask(() =>
    world.rpc(() => batch.attempts.map((one) => world.chain.receipts.get(one.raw.hash)).find((found) => found !== undefined)),
  );
  if (!receipt) return false;
  let open = 0;
  for (const id of batch.items) {
    const row = yield* ask(() => world.store.find(id));
    if (row?.facts.state !== 'broadcast' || row.facts.batchId !== batch.id) continue;
    const judged = yield* ask(() =>
      world.rpc(() => ({ event: eventOfMined(world, row, batch.id, receipt), reorgs: world.chain.reorgs })),
    );
    const { event } = judged;
    if (event) yield* ask(() => world.apply(id, event, row.facts, judged.reorgs));
    else open += 1;
  }
  return open === 0;
}

function* returnAll(world: World, batch: BatchRow) {
  for (const id of batch.items) {
    const row = yield* ask(() => world.store.find(id));
    if (row) yield* ask(() => world.apply(id, { type: 'unsent', batchId: batch.id }, row.facts));
  }
}

function* failUnmined(world: World, batchId: string) {
  const batch = yield* ask(() => world.store.findBatch(batchId));
  for (const id of batch?.items ?? []) {
    const row = yield* ask(() => world.store.find(id));
    if (row) yield* ask(() => world.apply(id, { type: 'itemFailed', batchId, reason: 'settlement_failed' }, row.facts));
  }
}

function* signAnew(world: World, batchId: string) {
  const batch = yield* ask(() => world.store.findBatch(batchId));
  if (!batch) return;
  const last = batch.attempts.at(-1) as SignedTx;
  const raw = { ...last.raw, hash: world.name('0xn'), nonce: (world.store as FakeStore).takeNonce() };
  const signed = { batchId, attempt: last.attempt + 1, kind: 'settle', raw } as const;
  yield* ask(() => world.write('replaced:settle', (commit) => world.store.addAttempt(signed, commit)));
  const stored = yield* ask(() => world.store.findBatch(batchId));
  yield* ask(() => world.stored(stored));
}

/** A process that the workflow engine runs again after a crash, a little later. */
export function revive(actor: Actor, nowMs: number): Actor | null {
  return actor.again ? new Actor(actor.again(), actor.again, nowMs + 500) : null;
}
