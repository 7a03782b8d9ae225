/**
 * First attempts of deliveries to a local receiver against an undici Pool that POSTs bodies of the same size there; the time from
 * an event's commit to its receiver; and what 100 endpoints that hang do to 900 that do not.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Database } from '../db/database.ts';
import { openDatabase } from '../db/database.ts';
import type { SecretBox } from '../platform/tokens/secretBox.ts';
import { createSecretBox } from '../platform/tokens/secretBox.ts';
import { whileDispatching } from './delivering/dispatching.ts';
import type { BenchReceiver } from './delivering/receiver.ts';
import { startBenchReceiver } from './delivering/receiver.ts';
import type { BenchEndpoint } from './delivering/rows.ts';
import { addDeliveries, addEndpoints, EVENT_DATA } from './delivering/rows.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Turn, Work } from './harness/cpu.ts';
import { withCpu } from './harness/cpu.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, percentile } from './harness/figure.ts';
import { benchDatabase, benchParts } from './harness/parts.ts';

const PENDING = `select 1 from delivery where state = 'pending' and not retrying
  order by bucket, tenant_id, endpoint_id, delivery_id limit 1`;

interface World {
  readonly database: Database;
  readonly url: string;
  readonly box: SecretBox;
  readonly receiver: BenchReceiver;
  readonly quick: boolean;
  analyze(): Promise<void>;
}

/** Figures of webhook delivery. */
export const webhooksBench: Bench = {
  id: 'webhooks',
  title: 'Webhook delivery',
  run: async ({ quick, log }) => {
    const urls = await benchDatabase();
    const receiver = await startBenchReceiver();
    const database = await openDatabase({ url: urls.appUrl, poolSize: 10 });
    const owner = await openDatabase({ url: urls.ownerUrl, poolSize: 1 });
    const analyze = async () => void (await owner.query('analyze delivery, webhook_event, webhook_endpoint, endpoint_lease'));
    const box = createSecretBox(Buffer.alloc(32, 1));
    const world: World = { database, url: urls.appUrl, box, receiver, quick, analyze };
    try {
      const figures: Figure[] = [];
      for (const measure of [rate, lag, besideHanging]) {
        figures.push(await measure(world));
        log(`${figures.at(-1)?.id} measured`);
      }
      return figures;
    } finally {
      await Promise.all([database.close(), owner.close()]);
      await receiver.stop();
      await urls.drop();
    }
  },
};

async function rate(world: World): Promise<Figure> {
  const { database, box, url, receiver, quick } = world;
  const count = quick ? 200 : 18_000;
  const endpoints = await addEndpoints(database, box, quick ? 50 : 500, `${receiver.origin}/`);
  // This process is the worker in our turns, and what is compared with in the others.
  const { postgres = [] } = await benchParts();
  const ours = async (): Promise<Turn> => {
    await addDeliveries(database, endpoints, count);
    await world.analyze(); // as autovacuum does where the service runs for longer than a bench
    const work = async (): Promise<Work> => ({ value: await drain(database, count), operations: count });
    const parts = { worker: [process.pid], postgres, client: [receiver.pid] };
    return withCpu(parts, () => whileDispatching(database, box, url, work));
  };
  const reference = (): Promise<Turn> =>
    withCpu({ reference: [process.pid], client: [receiver.pid] }, async () => ({
      value: await postAll(receiver.origin, count),
      operations: count,
    }));
  if (!quick) await ours(); // warm
  return makeFigure({
    id: 'webhooks.rate',
    what: 'first attempts, signed, leased and recorded',
    unit: 'deliveries/s',
    referenceName: 'undici Pool POST loop',
    rounds: await alternate({ rounds: quick ? 1 : 5, sides: { ours, reference } }),
    target: { atLeast: 0.4 },
    notes:
      `Each side sends ${count} a round: a worker runs for months, connections are opened once. Ours go to ${endpoints.length} ` +
      'endpoints over at most two connections each, the reference uses 32; both meet the same receiver, a process of its own.',
  });
}

/** The yardstick: the same number of POSTs of about the same bytes, signed by nobody, recorded nowhere. */
async function postAll(origin: string, count: number): Promise<number> {
  const pool = new Pool(origin, { connections: 32, pipelining: 1 });
  const startedAt = performance.now();
  let left = count;
  const body = EVENT_DATA.padEnd(EVENT_DATA.length + 150);
  const loop = async (): Promise<void> => {
    while (left-- > 0) await (await pool.request({ path: '/', method: 'POST', body })).body.dump();
  };
  await Promise.all(Array.from({ length: 32 }, loop));
  const found = (count * 1_000) / (performance.now() - startedAt);
  await pool.close();
  return found;
}

/**
 * Deliveries a second until none is pending. The order of the index that first attempts are found by keeps the look cheap: without
 * it the planner reads the whole table, ever more of it, on the cores that are measured.
 */
async function drain(database: Database, count: number): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const [row] = await database.query(PENDING);
    if (row === undefined) return (count * 1_000) / (performance.now() - startedAt);
    await wait(20);
  }
}

async function lag(world: World): Promise<Figure> {
  const { database, box, url, receiver, quick } = world;
  const endpoints = await addEndpoints(database, box, 1, `${receiver.origin}/`);
  const found: number[] = [];
  const ours = async (): Promise<number> => {
    const lags = await whileDispatching(database, box, url, () => lagsOf(world, endpoints, quick ? 5 : 100, 20));
    found.push(...lags);
    return percentile(lags, 0.5);
  };
  const rounds = await alternate({ rounds: quick ? 1 : 3, sides: { ours, reference: () => postOnce(receiver.origin) } });
  return makeFigure({
    id: 'webhooks.lag',
    what: "from an event's commit to its receiver, idle, p50",
    unit: 'ms',
    referenceName: 'one POST of the same Pool',
    rounds,
    isDetail: true,
    target: { atMost: 100, of: 'ours' },
    notes: `p99 ${percentile(found, 0.99)} ms. A window closes and writes its event in the same commit.`,
  });
}

async function postOnce(origin: string): Promise<number> {
  const pool = new Pool(origin, { connections: 1 });
  const taken: number[] = [];
  for (let count = 0; count < 50; count++) {
    const startedAt = performance.now();
    await (await pool.request({ path: '/', method: 'POST', body: EVENT_DATA })).body.dump();
    taken.push(performance.now() - startedAt);
  }
  await pool.close();
  return percentile(taken, 0.5);
}

async function besideHanging(world: World): Promise<Figure> {
  const { database, box, url, receiver, quick } = world;
  const [quickOnes, hangingOnes] = quick ? [20, 4] : [900, 100];
  const many = await addEndpoints(database, box, quickOnes, `${receiver.origin}/`);
  const p99 = (lags: readonly number[]): number => Math.max(1, percentile(lags, 0.99));
  const measure = () => lagsOf(world, many, quickOnes, 2);
  const reference = async () => p99(await whileDispatching(database, box, url, measure));
  const ours = async (): Promise<number> => {
    const hanging = await addEndpoints(database, box, hangingOnes, `${receiver.origin}/hang`);
    await addDeliveries(database, hanging, 3 * hangingOnes);
    const found = p99(await whileDispatching(database, box, url, measure));
    await database.query("update delivery set state = 'failed', reason = 'bench' where state = 'pending'");
    return found;
  };
  return makeFigure({
    id: 'webhooks.beside-hanging',
    isDetail: true,
    what: `p99 of ${quickOnes} endpoints beside ${hangingOnes} that hang`,
    unit: 'ms',
    referenceName: 'p99 without them',
    rounds: await alternate({ rounds: quick ? 1 : 3, sides: { ours, reference } }),
    target: { atMost: 2 },
  });
}

/** Milliseconds from commit to receiver, an event at a time, `gapMs` apart. */
async function lagsOf(
  { database, receiver }: World,
  endpoints: readonly BenchEndpoint[],
  count: number,
  gapMs: number,
): Promise<number[]> {
  const committed = new Map<string, number>();
  await wait(300);
  for (let place = 0; place < count; place++) {
    const one = endpoints.slice(place % endpoints.length, (place % endpoints.length) + 1);
    const [id] = await addDeliveries(database, one, 1);
    committed.set(String(id), Date.now());
    await wait(gapMs);
  }
  await wait(1_000);
  const arrivals = await receiver.arrivals();
  return [...committed].map(([id, at]) => Math.max(0, (arrivals.get(id) ?? Number.POSITIVE_INFINITY) - at));
}
