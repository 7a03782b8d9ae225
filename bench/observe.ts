import pg from 'pg';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Turn, Work } from './harness/cpu.ts';
import { LIBRARY, withCpu } from './harness/cpu.ts';
import { makeFigure } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { requestLoad } from './harness/http.ts';
import { sharedService } from './harness/service.ts';

const HOST = 'observed.example';
const ROWS = 50;
const CONCURRENCY = 32;
/** Connections of an API process to Postgres, as many as ours has. */
const POOL = 10;
const AGENTS = ['GPTBot/1.2', 'ClaudeBot/1.0', 'Mozilla/5.0 (compatible; bingbot/2.0)', 'curl/8.5', 'PerplexityBot/1.0'];
const VERDICTS = ['denied', 'denied', 'served-free', 'agent-reread', 'blocked'] as const;
const COLUMNS = [
  'tenant_id',
  'observation_id',
  'host',
  'slug',
  'verdict',
  'classified_as',
  'kind',
  'micro',
  'agent',
  'agent_ua',
  'classify_reason',
  'verified',
  'verified_agent',
  'sig_invalid',
  'at',
];

/** POST /_svc/observe with 50 reports beside prepared inserts of 50 rows into a table of the same columns and indexes. */
export const observeBench: Bench = {
  id: 'observe',
  title: 'Observations',
  run: async ({ quick }) => {
    const service = await sharedService();
    const site = await service.site({ hosts: [HOST], pricing: { priceUsdc: '0.001', articlePrefixes: ['/articles/'] } });
    const request: HttpRequest = {
      method: 'POST',
      path: '/_svc/observe',
      headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(Array.from({ length: ROWS }, (_, index) => report(index))),
    };
    const raw = await openRaw(service.urls.superUrl, site.tenantId);
    try {
      const seconds = quick ? 1 : 5;
      const ours = (): Promise<Turn> =>
        withCpu(service.parts(), async () => {
          const load = await requestLoad(service.baseUrl, request, { seconds, connections: CONCURRENCY, status: 202 });
          return { value: ROWS * load.value, operations: ROWS * load.operations };
        });
      const { postgres = [] } = service.parts();
      const reference = () => withCpu({ postgres, ...LIBRARY }, () => raw.load(seconds));
      if (!quick) await ours();
      const rounds = await alternate({
        rounds: quick ? 1 : 3,
        sides: { ours, reference },
      });
      return [
        makeFigure({
          id: 'observe.rows',
          what: 'POST /_svc/observe, 50 reports each, with rollups',
          unit: 'rows/s',
          referenceName: 'prepared multi-row inserts of 50, no rollups',
          rounds,
          target: { atLeast: 0.6 },
          notes: `${CONCURRENCY} at a time on both sides; ours is over HTTP, checked, durable at its answer, and counted in the rollups`,
        }),
      ];
    } finally {
      await raw.close();
    }
  },
};

function report(index: number): object {
  return {
    resource: `https://${HOST}/articles/page-${index % 20}`,
    verdict: VERDICTS[index % VERDICTS.length],
    classifiedAs: 'agent',
    kind: 'read',
    priceMicro: 1_000,
    agent: { ua: AGENTS[index % AGENTS.length], classifyReason: 'user-agent' },
  };
}

/** Inserts of 50 rows into `raw_observation`, whole transactions each, `CONCURRENCY` at a time over `POOL` connections. */
async function openRaw(url: string, tenantId: string) {
  const pool = new pg.Pool({ connectionString: url, max: POOL });
  await pool.query('create table raw_observation (like observation including all)');
  const row = (index: number): unknown[] => [
    tenantId,
    HOST,
    `page-${index % 20}`,
    VERDICTS[index % VERDICTS.length],
    'agent',
    'read',
    1_000,
    'other',
    AGENTS[index % AGENTS.length],
    'user-agent',
    null,
    null,
    null,
  ];
  const width = COLUMNS.length - 2;
  const tuples = Array.from({ length: ROWS }, (_, index) => {
    const values = Array.from({ length: width }, (__, column) => `$${index * width + column + 1}`);
    return `(${[values[0], 'uuidv7()', ...values.slice(1), 'now()'].join(', ')})`;
  });
  const text = `insert into raw_observation (${COLUMNS.join(', ')}) values ${tuples.join(', ')}`;
  const values = Array.from({ length: ROWS }, (_, index) => row(index)).flat();
  const load = async (seconds: number): Promise<Work> => {
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1000;
    let done = 0;
    const work = async (): Promise<void> => {
      while (performance.now() < endsAt) {
        await pool.query({ name: 'raw', text, values });
        done += 1;
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    const rows = ROWS * done;
    return { value: rows / ((performance.now() - startedAt) / 1000), operations: rows };
  };
  return { load, close: () => pool.end() };
}
