import { Crash, InvariantBroken } from './actor.ts';
import type { Coverage } from './coverage.ts';
import { FakeStore } from './fakeStore.ts';
import { checkRest } from './invariants.ts';
import { intake, revive } from './processes.ts';
import { Random } from './random.ts';
import type { Order } from './scenario.ts';
import { drawFaults, drawOrders, signOrder } from './scenario.ts';
import type { Store } from './store.ts';
import { actAsStranger, cancel, disturbNode, mineBlock, reorgChain, useKeyElsewhere } from './strangers.ts';
import { sweep } from './sweeper.ts';
import type { Authorization } from './token.ts';
import { World } from './world.ts';

/** What a schedule showed: null, or the sentence of the broken invariant. The seed alone replays it. */
export interface Outcome {
  readonly seed: number;
  readonly broken: string | null;
}

/** How to run a schedule: which store, and where to count what it hits. */
export interface ScheduleOptions {
  readonly openStore?: (nowMs: () => number) => Store;
  readonly coverage: Coverage;
}

/** Past the end of every authorization, and ten minutes. */
const LONG_OUTAGE_MS = 680_000;
const CHAOS_STEPS = 1400;
const REST_ROUNDS = 120;

/** Runs one schedule: chaos for a while, then all faults stop and the chain runs on until everything is decided. */
export async function runSchedule(seed: number, options: ScheduleOptions): Promise<Outcome> {
  const random = new Random(seed);
  const open = options.openStore ?? ((nowMs) => new FakeStore(nowMs));
  const world = new World({ random, faults: drawFaults(random), coverage: options.coverage }, open);
  try {
    await chaos(world, drawOrders(random));
    await rest(world);
  } catch (error) {
    if (error instanceof InvariantBroken) return { seed, broken: error.message };
    throw error;
  }
  return { seed, broken: null };
}

async function chaos(world: World, orders: readonly Order[]): Promise<void> {
  const { random } = world;
  const auths = new Map<string, Authorization>();
  const posts = random.shuffle(orders.flatMap((order) => Array.from({ length: order.posts }, () => order)));
  mineBlock(world, 2000);
  for (let step = 0; step < CHAOS_STEPS; step += 1) {
    world.nowMs += 20;
    const draw = random.next();
    if (draw < 0.1) mineBlock(world, random.pick([1000, 2000, 4000]) ?? 2000);
    else if (draw < 0.13) for (const order of posts.splice(0, random.between(1, 3))) post(world, order, auths);
    else if (draw < 0.16) world.spawn(() => sweep(world), false);
    else if (draw < 0.16 + world.faults.stranger) actAsStranger(world, orders, auths);
    else if (draw < 0.27) disturb(world, auths);
    else await stepOne(world);
  }
  for (const order of posts) post(world, order, auths);
}

function disturb(world: World, auths: Map<string, Authorization>): void {
  const { random, faults } = world;
  if (random.chance(faults.reorg * 8)) reorgChain(world, random.between(1, 3));
  if (faults.deepReorg && random.chance(0.06)) reorgChain(world, random.between(5, 9));
  if (random.chance(faults.outage * 8)) toggleOutage(world, auths);
  if (random.chance(faults.gasEmpty * 8)) world.gasEmpty = !world.gasEmpty;
  if (random.chance(faults.node * 8)) disturbNode(world);
  if (random.chance(faults.elsewhere * 8)) useKeyElsewhere(world);
}

/** The node goes, sometimes for so long that a person is asked, or comes back; a payer may have cancelled meanwhile. */
function toggleOutage(world: World, auths: Map<string, Authorization>): void {
  world.down = !world.down;
  if (world.down && world.random.chance(0.35)) world.nowMs += LONG_OUTAGE_MS;
  const auth = world.random.pick([...auths.values()]);
  if (world.down || !auth || !world.random.chance(0.8)) return;
  cancel(world, auth);
  mineBlock(world, 1000);
}

/** A buyer posts an authorization; the first post signs it. */
function post(world: World, order: Order, auths: Map<string, Authorization>): void {
  const auth = auths.get(order.payment.id) ?? signOrder(order, world.nowSeconds);
  auths.set(order.payment.id, auth);
  world.spawn(() => intake(world, { ...order.payment, auth }), false);
}

/** One step of one process that is ready; false when none is. */
async function stepOne(world: World): Promise<boolean> {
  const ready = world.actors.filter((actor) => actor.wakeAtMs <= world.nowMs);
  const actor = world.random.pick(ready);
  if (!actor) return false;
  let over = false;
  try {
    const going = actor.step(world.nowMs);
    if (going) await going;
    over = actor.done;
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    over = true;
    const again = revive(actor, world.nowMs);
    if (again) world.actors.push(again);
  }
  if (over) world.actors.splice(world.actors.indexOf(actor), 1);
  return true;
}

async function rest(world: World): Promise<void> {
  world.calm = true;
  world.down = false;
  world.gasEmpty = false;
  for (let round = 0; round < REST_ROUNDS; round += 1) {
    while (await stepOne(world)) world.nowMs += 1;
    if (round > 3 && (await isAtRest(world))) break;
    mineBlock(world, round < 12 ? 2000 : 6000);
    world.spawn(() => sweep(world), false);
  }
  const ids = [...world.history.payments.keys()];
  checkRest(world, await world.store.audit(ids), await world.store.listBatches(0));
}

async function isAtRest(world: World): Promise<boolean> {
  if (world.actors.length > 0) return false;
  const watched = await world.store.list(
    ['accepted', 'held', 'broadcast', 'settled', 'failed', 'superseded', 'expired', 'review'],
    true,
  );
  const open = (await world.store.listBatches(null)).length;
  return watched.length === 0 && open === 0;
}
