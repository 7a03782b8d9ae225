/**
 * Quotes of one site, a hundred a second, while a key of another asks the dearest queries that the limits of GraphQL let through, one
 * after another without a pause, beside the same quotes when nobody asks. Rates are those of the product: they are limits, too.
 */
import { GRAPHQL_PATH } from '../graphql/request/path.ts';
import { insertPurchases } from '../test/support/reports.ts';
import { DEAREST } from './dearestQueries.ts';
import { alternate, roundsOf } from './harness/alternate.ts';
import type { Attack } from './harness/attacker.ts';
import type { Bench } from './harness/bench.ts';
import { besideCallers } from './harness/beside.ts';
import type { Turn } from './harness/cpu.ts';
import { withCpu } from './harness/cpu.ts';
import type { Figure, Rounds } from './harness/figure.ts';
import { makeFigure, median, percentile } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { pacedTimes, requestTimes } from './harness/http.ts';
import type { BenchService, BenchSite } from './harness/service.ts';
import { PRODUCT_RATES, sharedService, startBenchService } from './harness/service.ts';

const AUTHORS = 50;
const PURCHASES = 400;
const CREDITS = { solo: { title: 'Alone', contributors: [{ authorId: 'ann', wallet: `0x${'a'.repeat(40)}` }] } };
/** Connections of the hostile site that ask at once: what it may have on its way, and as much again that waits. */
const ASKING = 4;

/** Figures of a hostile analyst beside another site's quotes. */
export const hostileQueriesBench: Bench = {
  id: 'hostile-queries',
  title: 'Quotes beside hostile questions',
  run: async ({ quick }) => {
    const rated = await startBenchService({ environment: PRODUCT_RATES });
    const figures = await measure(rated, quick, { isRated: true }).finally(rated.stop);
    return [...figures, ...(await measure(await sharedService(), quick, { isRated: false }))];
  },
};

/** The site that asks, whose pages have fifty authors, and the one that is quoted. */
async function openSites(
  service: BenchService,
  quick: boolean,
): Promise<{ readonly hostile: BenchSite; readonly quiet: BenchSite }> {
  const pricing = { priceUsdc: '0.001', articlePrefixes: ['/news/'], creditsInline: CREDITS };
  const hostile = await service.site({ hosts: ['hostile.example'], pricing });
  const quiet = await service.site({ hosts: ['quiet.example'], pricing });
  await sellToFifty(service, hostile, quick ? 50 : PURCHASES);
  return { hostile, quiet };
}

async function sellToFifty({ database }: BenchService, { tenantId, host }: BenchSite, count: number): Promise<void> {
  const legs = Array.from({ length: AUTHORS }, (_, n) => ({
    toAddress: `0x${String(n + 10).repeat(20)}`,
    amountMicro: 1_000,
    authorId: `author-${n}`,
  }));
  const nowMs = Date.now();
  const purchases = Array.from({ length: count }, (_, n) => ({
    ...({ tenantId, host, slug: `fifty-${n % 20}`, kind: 'read', atMs: nowMs - n * 60_000, steps: 1, legs } as const),
  }));
  await insertPurchases(database, purchases);
  await database.query('analyze crossing, leg, payment_intake, payment_state');
}

/** Quotes beside the askers, with the rates of the product; without them fewer rounds, as a detail. */
async function measure(service: BenchService, quick: boolean, { isRated }: { readonly isRated: boolean }): Promise<Figure[]> {
  const { baseUrl: url, parts } = service;
  const { hostile, quiet } = await openSites(service, quick);
  const quote: HttpRequest = {
    method: 'GET',
    path: `/_svc/quote?resource=${encodeURIComponent(`https://${quiet.host}/news/solo`)}`,
    headers: { authorization: `Bearer ${quiet.key}` },
  };
  const [count, rounds] = quick ? [50, 1] : isRated ? [1_500, 5] : [600, 3];
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
  const requests = Object.values(DEAREST).map((query) => question(hostile.key, query));
  const attack: Attack = { url, callers: [{ connections: ASKING, requests }] };
  const note = (answers: string): void => void answered.push((JSON.parse(answers) as Record<string, number>)['200'] ?? 0);
  const worst = await alternate({
    rounds,
    sides: {
      ours: () => besideCallers(attack, () => quotes('ours'), note),
      reference: () => quotes('reference'),
    },
  });
  const middle = roundsOf(middles.ours, middles.reference);
  const told = `${ASKING} askers without a pause, ${Math.round(median(answered))} answers a round; crossings with ${AUTHORS} legs each`;
  const cores = 'one API process; its thread, its database and both clients share two cores with it (docs/adr/0051)';
  const figure = (id: string, share: string, measured: Rounds, notes: string) =>
    makeFigure({
      ...(id === 'p99' ? {} : { isDetail: true }),
      id: `hostile-queries.${id}`,
      what: `${share} of a quote, 100 a second, while another site asks the dearest queries${isRated ? '' : ', without rates'}`,
      unit: 'ms',
      referenceName: 'when nobody asks',
      rounds: measured,
      target: { atMost: 2 },
      notes,
    });
  if (!isRated) return [figure('p99-unrated', 'p99', worst, told)];
  return [figure('p50', 'p50', middle, `${told}; CPU with what theirs take`), figure('p99', 'p99', worst, `${told}; ${cores}`)];
}

function question(key: string, query: string): HttpRequest {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return { method: 'POST', path: GRAPHQL_PATH, headers, body: JSON.stringify({ query }) };
}
