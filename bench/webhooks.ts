/**
 * `node bench/webhooks.ts [deliveries, default 4000]`: first attempts to a local receiver (a process of its own) against an undici
 * Pool that POSTs as many bodies of the same size there in the same run; the lag from an event's commit to the receiver; and what
 * 100 hanging endpoints of 1,000 do to the others. A Postgres of its own, removed at the end.
 */
import { fork } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { createOutbound } from '../adapters/outbound.ts';
import { createSecretBox } from '../adapters/secretBox.ts';
import type { Database } from '../db/database.ts';
import { openDatabase } from '../db/database.ts';
import { listen } from '../db/listen.ts';
import { migrate } from '../db/migrate.ts';
import { DELIVERY_CHANNEL } from '../db/webhooks/events.ts';
import { startPostgres } from '../sandbox/parts/postgres.ts';
import { removeCluster } from '../sandbox/parts/postgres-cluster.ts';
import { createDatabase } from '../sandbox/parts/postgres-roles.ts';
import { WEBHOOK_LIMITS } from '../services/webhooks/deps.ts';
import { createDispatcher } from '../services/webhooks/dispatch.ts';
import { createRecorder } from '../services/webhooks/recorder.ts';
import { createWebhookSecret, secretContext } from '../services/webhooks/secret.ts';
import { createWake } from '../services/webhooks/wake.ts';

const DELIVERIES = Number(process.argv[2] ?? 4_000);
const SHARDS = 4;
const DATA = JSON.stringify({
  tenant: 't',
  legs: Array.from({ length: 4 }, (_, n) => ({ toAddress: `0x${'a'.repeat(40)}`, amountMicro: n })),
});
const secretBox = createSecretBox(Buffer.alloc(32, 1));

if (process.send !== undefined) receive();
else await main();

/** The receiver: answers 200, hangs on `/hang`, and says on `/arrivals` when each delivery arrived (epoch ms). */
function receive(): void {
  const arrivals = new Map<string, number>();
  const server = createServer((request, response) => {
    if (request.url === '/arrivals') return void response.end(JSON.stringify([...arrivals]));
    if (request.url === '/hang') return void request.resume();
    const id = String(request.headers['svc-id']);
    request.resume().on('end', () => {
      arrivals.set(id, Date.now());
      response.end();
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit());
}

async function main(): Promise<void> {
  const folder = fileURLToPath(new URL(`../.test/${process.pid}-bench/`, import.meta.url));
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const receiver = fork(fileURLToPath(import.meta.url));
  const port = await new Promise<number>((resolve) => receiver.once('message', (value) => resolve(Number(value))));
  const postgres = await startPostgres({ folder: `${folder}postgres` });
  try {
    await createDatabase(postgres.superUrl, 'bench');
    const { ownerUrl, appUrl } = postgres.urlsOf('bench');
    await migrate(ownerUrl);
    const database = await openDatabase({ url: appUrl, poolSize: 10 });
    await measure(database, appUrl, `http://127.0.0.1:${port}`);
    await database.close();
  } finally {
    await postgres.stop();
    removeCluster(`${folder}postgres`);
    rmSync(folder, { recursive: true, force: true });
    receiver.disconnect();
  }
}

async function measure(database: Database, url: string, origin: string): Promise<void> {
  const poolRates: number[] = [];
  const ownRates: number[] = [];
  const endpoints = await addEndpoints(database, 500, `${origin}/`);
  for (let round = 0; round < 3; round++) {
    poolRates.push(await postAll(origin));
    await addDeliveries(database, endpoints, DELIVERIES);
    ownRates.push(await withDispatcher(database, url, () => drain(database, DELIVERIES)));
  }
  const [pool, own] = [median(poolRates), median(ownRates)];
  console.log(
    `undici Pool loop  ${pool.toFixed(0)}/s\ndeliveries        ${own.toFixed(0)}/s  ratio ${(own / pool).toFixed(2)} (asked: 0.40)`,
  );
  const idle = await withDispatcher(database, url, () => lags(database, endpoints.slice(0, 1), origin, 100, 20));
  console.log(`commit to receiver, idle          p50 ${at(idle, 0.5)} ms  p99 ${at(idle, 0.99)} ms (asked: p50 <= 100)`);
  const many = await addEndpoints(database, 900, `${origin}/`);
  const alone = await withDispatcher(database, url, () => lags(database, many, origin, 900, 2));
  const hanging = await addEndpoints(database, 100, `${origin}/hang`);
  await addDeliveries(database, hanging, 300);
  const beside = await withDispatcher(database, url, () => lags(database, many, origin, 900, 2));
  const [p99, p99Beside] = [at(alone, 0.99), at(beside, 0.99)];
  console.log(
    `900 endpoints p99 ${p99} ms, beside 100 that hang ${p99Beside} ms: ${(p99Beside / p99).toFixed(2)} x (asked: <= 2)`,
  );
}

/** The yardstick: the same number of POSTs, signed by nobody, recorded nowhere. */
async function postAll(origin: string): Promise<number> {
  const pool = new Pool(origin, { connections: 32, pipelining: 1 });
  const startedAt = performance.now();
  let left = DELIVERIES;
  const body = DATA.padEnd(DATA.length + 150);
  const loop = async (): Promise<void> => {
    while (left-- > 0) await (await pool.request({ path: '/', method: 'POST', body })).body.dump();
  };
  await Promise.all(Array.from({ length: 32 }, loop));
  const rate = (DELIVERIES * 1_000) / (performance.now() - startedAt);
  await pool.close();
  return rate;
}

interface Endpoint {
  readonly tenantId: string;
  readonly endpointId: string;
}

async function addEndpoints(database: Database, count: number, url: string): Promise<Endpoint[]> {
  const rows = await database.query<{ tenantId: string; endpointId: string }>(
    `with t as (insert into tenant (tenant_id, status, price_usdc) select gen_random_uuid(), 'active', 1 from generate_series(1, $1)
       returning tenant_id), e as (insert into webhook_endpoint (tenant_id, endpoint_id, url, event_types)
       select tenant_id, gen_random_uuid(), $2, '{settlement.completed}' from t returning tenant_id, endpoint_id),
     l as (insert into endpoint_lease (tenant_id, endpoint_id, slot) select tenant_id, endpoint_id, s from e, generate_series(1, 2) s)
     select tenant_id as "tenantId", endpoint_id as "endpointId" from e`,
    [count, url],
  );
  for (const { tenantId, endpointId } of rows) {
    const sealed = secretBox.seal(createWebhookSecret(), secretContext(tenantId, endpointId));
    await database.query(
      'insert into webhook_secret (tenant_id, endpoint_id, secret_id, sealed) values ($1, $2, gen_random_uuid(), $3)',
      [tenantId, endpointId, sealed],
    );
  }
  return rows;
}

/** Events with one delivery each, spread over the endpoints; returns when each was committed, by delivery. */
async function addDeliveries(database: Database, endpoints: readonly Endpoint[], count: number): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `with place as (select n, t, e from generate_series(0, $3 - 1) n
       join unnest($1::uuid[], $2::uuid[]) with ordinality u (t, e, o) on o = 1 + n % $4),
     event as (insert into webhook_event (tenant_id, event_id, type, detailed, summary)
       select t, 'evt_' || gen_random_uuid(), 'settlement.completed', $5, '{}' from place returning tenant_id, event_id),
     numbered as (select *, row_number() over (partition by tenant_id order by event_id) as k from event)
     insert into delivery (tenant_id, delivery_id, event_id, endpoint_id, bucket)
     select tenant_id, 'dlv_' || gen_random_uuid(), event_id, e, ('x' || right(e::text, 2))::bit(8)::integer
     from numbered join (select t, e from unnest($1::uuid[], $2::uuid[]) u (t, e)) u on t = tenant_id returning delivery_id as id`,
    [endpoints.map(({ tenantId }) => tenantId), endpoints.map(({ endpointId }) => endpointId), count, endpoints.length, DATA],
  );
  await database.query(`select pg_notify('${DELIVERY_CHANNEL}', '')`);
  return rows.map(({ id }) => id);
}

async function withDispatcher<T>(database: Database, url: string, work: () => Promise<T>): Promise<T> {
  const wake = createWake();
  const listener = listen(url, DELIVERY_CHANNEL, wake.wake);
  const outbound = createOutbound({ allowLoopback: true, perTarget: 10_000 });
  const stopping = new AbortController();
  const fixed = { shards: SHARDS, windowMs: 1_000, limits: WEBHOOK_LIMITS, stopping: stopping.signal, warn: console.error };
  const retries = { start: async () => undefined, recover: async () => undefined };
  const deps = { database, outbound, chatOutbound: outbound, secretBox, retries, wake, ...fixed };
  const dispatcher = createDispatcher(deps, createRecorder(database));
  const shards = Array.from({ length: SHARDS }, (_, shard) => dispatcher.run(shard, stopping.signal));
  const result = await work();
  stopping.abort();
  await outbound.close();
  await Promise.all(shards);
  await listener.close();
  return result;
}

/** Deliveries a second until none is pending. */
async function drain(database: Database, count: number): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const [row] = await database.query("select 1 from delivery where state = 'pending' and not retrying limit 1");
    if (row === undefined) return (count * 1_000) / (performance.now() - startedAt);
    await wait(10);
  }
}

/** Milliseconds from commit to receiver of `count` deliveries an event at a time, `gapMs` apart, sorted. */
async function lags(
  database: Database,
  endpoints: readonly Endpoint[],
  origin: string,
  count: number,
  gapMs: number,
): Promise<number[]> {
  const committed = new Map<string, number>();
  await wait(300);
  for (let place = 0; place < count; place++) {
    const [id] = await addDeliveries(database, endpoints.slice(place % endpoints.length, (place % endpoints.length) + 1), 1);
    committed.set(String(id), Date.now());
    await wait(gapMs);
  }
  await wait(1_500);
  const arrivals = new Map((await (await fetch(`${origin}/arrivals`)).json()) as [string, number][]);
  return [...committed].map(([id, at]) => Math.max(0, (arrivals.get(id) ?? Number.POSITIVE_INFINITY) - at)).sort((a, b) => a - b);
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function median(values: readonly number[]): number {
  return at(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}
