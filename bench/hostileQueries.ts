/**
 * Quotes of one site, a hundred a second, while a key of another asks the dearest queries that the limits of GraphQL let through, one
 * after another without a pause, beside the same quotes when nobody asks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { GRAPHQL_PATH } from '../graphql/request/engine.ts';
import { insertPurchases } from '../test/support/reports.ts';
import { DEAREST } from './dearestQueries.ts';
import { alternate, roundsOf } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Turn } from './harness/cpu.ts';
import { withCpu } from './harness/cpu.ts';
import type { Figure, Rounds } from './harness/figure.ts';
import { makeFigure, median, percentile } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { pacedTimes, requestTimes } from './harness/http.ts';
import type { BenchService, BenchSite } from './harness/service.ts';
import { sharedService } from './harness/service.ts';

const AUTHORS = 50;
const PURCHASES = 400;
const CREDITS = { solo: { title: 'Alone', contributors: [{ authorId: 'ann', wallet: `0x${'a'.repeat(40)}` }] } };
/** Keys of the hostile site that ask at once: what it may have on its way, and as much again that waits. */
const ASKING = 4;

/** Figures of a hostile analyst beside another site's quotes. */
export const hostileQueriesBench: Bench = {
  id: 'hostile-queries',
  title: 'Quotes beside hostile questions',
  run: async ({ quick }) => {
    const service = await sharedService();
    const pricing = { priceUsdc: '0.001', articlePrefixes: ['/news/'], creditsInline: CREDITS };
    const hostile = await service.site({ hosts: ['hostile.example'], pricing });
    const quiet = await service.site({ hosts: ['quiet.example'], pricing });
    await sellToFifty(service, hostile, quick ? 50 : PURCHASES);
    return await measure(service, { hostile, quiet }, quick);
  },
};

async function sellToFifty({ database }: BenchService, { tenantId, host }: BenchSite, count: number): Promise<void> {
  const legs = Array.from({ length: AUTHORS }, (_, n) => ({
    ...{ toAddress: `0x${String(n + 10).repeat(20)}`, amountMicro: 1_000, authorId: `author-${n}` },
  }));
  const nowMs = Date.now();
  const purchases = Array.from({ length: count }, (_, n) => ({
    ...({ tenantId, host, slug: `fifty-${n % 20}`, kind: 'read', atMs: nowMs - n * 60_000, steps: 1, legs } as const),
  }));
  await insertPurchases(database, purchases);
  await database.query('analyze crossing, leg, payment_intake, payment_state');
}

async function measure(
  { baseUrl: url, parts }: BenchService,
  { hostile, quiet }: { readonly hostile: BenchSite; readonly quiet: BenchSite },
  quick: boolean,
): Promise<Figure[]> {
  const quote: HttpRequest = {
    method: 'GET',
    path: `/_svc/quote?resource=${encodeURIComponent(`https://${quiet.host}/news/solo`)}`,
    headers: { authorization: `Bearer ${quiet.key}` },
  };
  const count = quick ? 50 : 1_500;
  const rounds = quick ? 1 : 5;
  await pacedTimes(url, quote, Math.min(count, 300));
  for (const query of Object.values(DEAREST)) await requestTimes(url, question(hostile.key, query), 1);
  const middles = { ours: [] as Turn[], reference: [] as Turn[] };
  const answered: number[] = [];
  const quotes = async (side: keyof typeof middles): Promise<Turn> => {
    let p50 = 0;
    const worst = await withCpu(parts(), async () => {
      const times = await pacedTimes(url, quote, count);
      p50 = percentile(times, 0.5);
      return { value: percentile(times, 0.99), operations: count };
    });
    middles[side].push({ ...worst, value: p50 });
    return worst;
  };
  const worst = await alternate({
    rounds,
    sides: {
      ours: () => whileAsking(url, hostile.key, answered, () => quotes('ours')),
      reference: () => quotes('reference'),
    },
  });
  const middle = roundsOf(middles.ours, middles.reference);
  const figure = (id: string, share: string, measured: Rounds, atMost: number, notes: string) =>
    makeFigure({
      ...(id === 'p50' ? { isDetail: true } : {}),
      ...{
        id: `hostile-queries.${id}`,
        what: `${share} of a quote, 100 a second, while another site asks the dearest queries`,
        unit: 'ms',
      },
      ...{ referenceName: 'when nobody asks', rounds: measured, target: { atMost }, notes },
    });
  const asked = `${ASKING} askers without a pause, ${Math.round(median(answered))} answers a round; crossings with ${AUTHORS} legs each; CPU with what theirs take`;
  return [
    figure('p50', 'p50', middle, 2, asked),
    figure(
      'p99',
      'p99',
      worst,
      2,
      'one API process; its thread, its database and the client share both cores with it: it waits for a core (docs/adr/0013), its loop is free',
    ),
  ];
}

function question(key: string, query: string): HttpRequest {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return { method: 'POST', path: GRAPHQL_PATH, headers, body: JSON.stringify({ query }) };
}

/** Does some work while questions are asked; adds how many were answered. Those without a turn ask again in a moment. */
async function whileAsking<T>(url: string, key: string, answered: number[], work: () => Promise<T>): Promise<T> {
  let isAsking = true;
  let count = 0;
  const ask = async (): Promise<void> => {
    while (isAsking) {
      for (const query of Object.values(DEAREST)) {
        if (!isAsking) break;
        const { path, ...rest } = question(key, query);
        const response = await fetch(`${url}${path}`, rest);
        await response.arrayBuffer();
        if (response.status === 200) count += 1;
        else if (response.status === 429) await sleep(50);
        else throw new Error(`a question is answered ${response.status}`);
      }
    }
  };
  const asking = Promise.all(Array.from({ length: ASKING }, ask));
  try {
    return await work();
  } finally {
    isAsking = false;
    await asking;
    answered.push(count);
  }
}
