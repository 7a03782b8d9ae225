/**
 * GraphQL beside REST: earnings by author of a busy site over 30 days of 10 million rows; and quotes of the same process, a hundred a
 * second, while an analyst asks the questions of docs/graphql.md one after another, beside quotes when nobody does.
 */
import { GRAPHQL_PATH } from '../graphql/request/path.ts';
import { EXAMPLES } from '../graphql/schema/examples.ts';
import { setPricing } from '../modules/tenants/use/tenants.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Parts } from './harness/cpu.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, percentile } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { pacedTimes, requestMedianOn, requestTimes } from './harness/http.ts';
import { startRecordsApi } from './records/api.ts';
import { BUSY } from './records/load.ts';
import type { RecordStore } from './records/store.ts';
import { sharedRecordStore } from './records/store.ts';

const HOST = 'graph.example';
const DAY_MS = 86_400_000;
const CREDITS = { solo: { title: 'Alone', contributors: [{ authorId: 'ann', wallet: `0x${'a'.repeat(40)}` }] } };

/** Figures of the GraphQL endpoint. */
export const graphqlBench: Bench = {
  id: 'graphql',
  title: 'GraphQL',
  run: async (options) => {
    const store = await sharedRecordStore(options.quick ? 20_000 : 10_000_000, options);
    return await measure(store, options.quick);
  },
};

async function measure(store: RecordStore, quick: boolean): Promise<Figure[]> {
  const { database, nowMs } = store;
  await database.query(
    'insert into tenant_host (tenant_id, host, position, verified_at) values ($1, $2, 9, now()) on conflict do nothing',
    [BUSY, HOST],
  );
  await setPricing(
    { database },
    { tenantId: BUSY, pricing: { priceUsdc: '0.001', articlePrefixes: ['/news/'], creditsInline: CREDITS } },
  );
  const { api, key, parts } = await startRecordsApi(store);
  try {
    return [await besideRest({ url: api.url, key, parts }, nowMs, quick), await besideAnalyst(api.url, key, quick)];
  } finally {
    await api.stop();
  }
}

function operation(key: string, query: string): HttpRequest {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return { method: 'POST', path: GRAPHQL_PATH, headers, body: JSON.stringify({ query }) };
}

async function besideRest(
  { url, key, parts }: { readonly url: string; readonly key: string; readonly parts: Parts },
  nowMs: number,
  quick: boolean,
): Promise<Figure> {
  const from = nowMs - 30 * DAY_MS;
  const query = `{ tenant { earnings(window: { from: ${from} }, groupBy: AUTHOR) {
    totals { events reads citations grossMicro authors } lastEventAt
    breakdown(first: 100) { nodes { key authorId events reads citations grossMicro } } } } }`;
  const headers = { authorization: `Bearer ${key}` };
  const rest: HttpRequest = { method: 'GET', path: `/_svc/earnings?from=${from}&groupBy=author&limit=1`, headers };
  const times = quick ? 3 : 21;
  const rounds = await alternate({
    rounds: quick ? 1 : 5,
    sides: {
      ours: () => requestMedianOn(parts, url, operation(key, query), times),
      reference: () => requestMedianOn(parts, url, rest, times),
    },
  });
  return makeFigure({
    id: 'graphql.earnings',
    what: 'earnings by author, 30 days, over GraphQL',
    unit: 'ms',
    referenceName: 'the same over REST',
    rounds,
    isDetail: true,
    target: { atMost: 2 },
  });
}

/** Quotes come at a fixed rate, so that the client asks for no more of the machine on one side; the analyst as fast as answers come. */
async function besideAnalyst(url: string, key: string, quick: boolean): Promise<Figure> {
  const resource = encodeURIComponent(`https://${HOST}/news/solo`);
  const quote: HttpRequest = {
    method: 'GET',
    path: `/_svc/quote?resource=${resource}`,
    headers: { authorization: `Bearer ${key}` },
  };
  const count = quick ? 50 : 1_500;
  const p99 = async (): Promise<number> => percentile(await pacedTimes(url, quote, count), 0.99);
  await pacedTimes(url, quote, Math.min(count, 300));
  for (const { query } of EXAMPLES) await requestTimes(url, operation(key, query), 1);
  const rounds = await alternate({
    rounds: quick ? 1 : 5,
    sides: { ours: () => whileAsking(url, key, p99), reference: p99 },
  });
  return makeFigure({
    id: 'graphql.quote-p99',
    what: 'p99 of a quote, 100 a second, while an analyst asks ten questions in a loop',
    unit: 'ms',
    referenceName: 'when nobody asks',
    rounds,
    target: { atMost: 1.5 },
    notes: 'one API process; its database and the client share both cores with it',
  });
}

async function whileAsking<T>(url: string, key: string, work: () => Promise<T>): Promise<T> {
  let isAsking = true;
  const ask = async (): Promise<void> => {
    while (isAsking) {
      for (const { query } of EXAMPLES) {
        if (isAsking) await requestTimes(url, operation(key, query), 1);
      }
    }
  };
  const asking = ask();
  try {
    return await work();
  } finally {
    isAsking = false;
    await asking;
  }
}
