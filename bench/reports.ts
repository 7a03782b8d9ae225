/**
 * `node bench/reports.ts [crossings = observations, default 1000000]`: earnings, audit, newest page and CSV of a busy tenant against
 * the plain aggregate and COPY of the same run; equal results are asserted. A Postgres of its own, removed at the end.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { crossingSums, observationDaySums, observationHourSums } from '../db/rollups.ts';
import { startPostgres } from '../sandbox/parts/postgres.ts';
import { removeCluster } from '../sandbox/parts/postgres-cluster.ts';
import { createDatabase } from '../sandbox/parts/postgres-roles.ts';
import { readAudit } from '../services/reports/audit.ts';
import { readEarnings } from '../services/reports/earnings.ts';
import { exportCsv } from '../services/reports/exportCsv.ts';
import { createExportSlots } from '../services/reports/exportSlots.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const TENANTS = 200;
const DAY = 86_400_000;
const NOW = Date.now();
const BUSY = '00000000-0000-4000-8000-000000000001';
const folder = fileURLToPath(new URL(`../.test/${process.pid}-bench/`, import.meta.url));

mkdirSync(folder, { recursive: true, mode: 0o755 });
const postgres = await startPostgres({ folder: `${folder}postgres` });
try {
  await createDatabase(postgres.superUrl, 'bench');
  const urls = postgres.urlsOf('bench');
  await migrate(urls.ownerUrl);
  await load(urls.superUrl);
  await measure(urls.appUrl);
} finally {
  await postgres.stop();
  removeCluster(`${folder}postgres`);
  rmSync(folder, { recursive: true, force: true });
}

/** Rows of 400 days; a tenth of them are the busy tenant's, who has two hosts, 400 slugs and 30 authors. */
async function load(superUrl: string): Promise<void> {
  const database = await openDatabase({ url: superUrl, poolSize: 1, statementTimeoutMs: 3_600_000 });
  const run = (statement: string) => database.query(statement);
  await run('set session_replication_role = replica');
  await run(`create temporary table source as select n, gen_random_uuid() as crossing_id, gen_random_uuid() as payment_id,
      ('00000000-0000-4000-8000-' || lpad((case when n % 10 = 0 then 1 else 2 + n % ${TENANTS - 1} end)::text, 12, '0'))::uuid as tenant_id,
      date_trunc('milliseconds', to_timestamp(${NOW / 1000}) - (random() * interval '399 days')) as at,
      case when random() < 0.8 then 'one.example' else 'two.example' end as host,
      'slug-' || floor(400 * random() * random()) as slug, case when random() < 0.9 then 'read' else 'citation' end as kind,
      '0x' || lpad(to_hex((30 * random())::int), 40, '0') as a, '0x' || lpad(to_hex(100 + (30 * random())::int), 40, '0') as b,
      (array['served-free','agent-reread','denied','denied','denied','blocked','paid','payment-failed'])[1 + (7 * random())::int] as verdict,
      (array['other','gptbot','claudebot','perplexitybot','googlebot','bingbot','ccbot','agent.example'])[1 + (7 * random())::int] as agent
    from generate_series(1, ${ROWS}) n order by at`);
  const legs = `jsonb_build_array(jsonb_build_object('toAddress', a, 'amountMicro', '700'), jsonb_build_object('toAddress', b, 'amountMicro', '300'))`;
  await run(
    `insert into crossing select tenant_id, crossing_id, payment_id, 0, host, slug, kind, 1000, ${legs}, a, agent, at, at from source`,
  );
  await run(`insert into leg select tenant_id, crossing_id, o, payment_id, case o when 0 then a else b end, 700 - 400 * o, 'author', 'x',
      0.7 - 0.4 * o, host, slug, kind, at from source, generate_series(0, 1) o`);
  await run(`insert into payment (tenant_id, payment_id, network, asset, payer, pay_to, nonce, valid_after, valid_before, signature,
      x402_version, host, slug, resource, resource_key, kind, amount_micro, legs, router, binding, state, tx_hash, at)
    select tenant_id, payment_id, 'n', 'a', a, b, payment_id, 0, 1, '0x', 2, host, slug, 'r', 'r', kind, 1000, ${legs}, 'r', 'b', 'final',
      '0x' || md5(n::text) || md5((-n)::text), at from source where tenant_id = '${BUSY}'`);
  await run(`insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, kind, micro, reason, agent, agent_ua, at)
    select tenant_id, crossing_id, host, slug, verdict, case when verdict = 'served-free' then 'human' else 'agent' end, kind, 1000,
      case when verdict = 'payment-failed' then 'insufficient_funds' end, agent, agent, at from source`);
  for (const unit of ['hour', 'day'] as const) await run(`insert into crossing_${unit} ${crossingSums(unit, 'true')}`);
  await run(`insert into observation_hour ${observationHourSums('observation')}`);
  await run(`insert into observation_day ${observationDaySums('observation')}`);
  await run('vacuum analyze');
  await database.close();
}

async function measure(url: string): Promise<void> {
  const database = await openDatabase({ url, poolSize: 4, statementTimeoutMs: 600_000 });
  const deps = { database, clock: () => NOW, exports: createExportSlots() };
  const site = { tenantId: BUSY, hosts: ['one.example'], plan: 'studio' as const, keyId: 'bench' };
  const query = { compare: false, cursorMs: null, limit: 50, host: null, kind: null };
  for (const [name, fromMs] of [
    ['30 days', NOW - 30 * DAY - 777],
    ['all time', null],
  ] as const) {
    const window = { fromMs, toMs: NOW - 1_234_567 };
    const bounds = [BUSY, new Date(fromMs ?? NOW - 400 * DAY), new Date(window.toMs)];
    const where = 'tenant_id = $1 and at >= $2 and at < $3';
    for (const groupBy of [null, 'host', 'author', 'slug'] as const) {
      await compare(
        `earnings ${name} by ${groupBy ?? 'nothing'}`,
        async () => (await readEarnings(deps, site, { ...query, ...window, groupBy })).totals.grossMicro,
        async () => {
          const [row] = await database.query<{ micro: string }>(
            `select sum(micro) as micro, count(*) filter (where kind = 'read'), (select count(distinct to_address) from leg where ${where})
             from crossing where ${where}`,
            bounds,
          );
          return BigInt(row?.micro ?? 0);
        },
      );
    }
    await compare(
      `audit ${name}`,
      async () =>
        BigInt((await readAudit(deps, site, { ...query, ...window, groupBy: null, verdict: null, agent: null })).totals.denied),
      async () => {
        const rows = await database.query<{ verdict: string; hits: string }>(
          `select verdict, agent, host, sum(count) as hits, sum(micro) from observation where ${where} group by 1, 2, 3`,
          bounds,
        );
        return rows.reduce((sum, row) => (row.verdict === 'denied' ? sum + BigInt(row.hits) : sum), 0n);
      },
    );
  }
  await csv(database, deps, site);
  await database.close();
}

async function compare(name: string, ours: () => Promise<bigint>, plain: () => Promise<bigint>): Promise<void> {
  const [a, b] = [await ours(), await plain()];
  if (a !== b) throw new Error(`${name}: ${a} is not ${b}`);
  const mine = await times(ours, 60);
  const theirs = await times(plain, 5);
  const ratio = (theirs.p50 / mine.p50).toFixed(1);
  console.log(
    `${name}: p50 ${mine.p50.toFixed(1)} ms, p99 ${mine.p99.toFixed(1)} ms; plain ${theirs.p50.toFixed(0)} ms = ${ratio} x`,
  );
}

async function times(work: () => Promise<unknown>, count: number) {
  const taken: number[] = [];
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await work();
    taken.push(performance.now() - start);
  }
  taken.sort((x, y) => x - y);
  const at = (part: number) => taken[Math.min(taken.length - 1, Math.floor(part * taken.length))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

async function csv(
  database: Awaited<ReturnType<typeof openDatabase>>,
  deps: Parameters<typeof exportCsv>[0],
  site: Parameters<typeof exportCsv>[1],
) {
  const ours = await times(async () => {
    const file = await exportCsv(deps, site, { fromMs: null, toMs: null });
    let bytes = 0;
    for await (const chunk of file.chunks) bytes += chunk.length;
    await file.close();
    return bytes;
  }, 5);
  const plain = await times(
    () =>
      database.query(
        `select string_agg(line, e'\\r\\n') from (select concat_ws(',', c.at, c.host, c.slug, c.kind, l.amount_micro, l.author_id, l.to_address,
           l.share, l.role, p.tx_hash, c.payer, c.agent) as line
         from crossing c join leg l using (tenant_id, crossing_id) join payment p on p.tenant_id = c.tenant_id and p.payment_id = c.payment_id
         where c.tenant_id = $1 order by c.at desc, c.crossing_id desc, l.ordinal limit 50000) row`,
        [site.tenantId],
      ),
    5,
  );
  console.log(
    `csv 50,000 rows: p50 ${ours.p50.toFixed(0)} ms; the same rows as one text from Postgres ${plain.p50.toFixed(0)} ms`,
  );
}
