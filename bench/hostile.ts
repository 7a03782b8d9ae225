import { setTimeout as sleep } from 'node:timers/promises';
import { callChain } from '../sandbox/parts/chain.ts';
import { DEAREST } from './dearestQueries.ts';
import { alternate, roundsOf } from './harness/alternate.ts';
import type { Attack } from './harness/attacker.ts';
import type { Bench, BenchOptions } from './harness/bench.ts';
import { besideCallers } from './harness/beside.ts';
import type { Turn } from './harness/cpu.ts';
import { withCpu } from './harness/cpu.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, percentile } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { requestTimes } from './harness/http.ts';
import type { BenchService } from './harness/service.ts';
import { PRODUCT_RATES, startBenchService } from './harness/service.ts';
import { fundBuyers } from './settling/buyers.ts';
import type { Shop } from './settling/shop.ts';
import { buyAll, openShop, PRODUCT_INTERVALS, prepareCalls } from './settling/shop.ts';

const BLOCK_SECONDS = 1;
/** Between two quotes of the site. */
const PACE_MS = 8;
/** Kept connections of each hostile caller. */
export const CONNECTIONS = 32;

/** Who is asked and sells while hostile callers call, and what these send. */
export interface Scene {
  /** What a site's gate asks. */
  readonly quote: HttpRequest;
  /** Milliseconds of each of so many sales, one after another; as many at every call. */
  readonly sell: () => Promise<readonly number[]>;
  readonly sales: number;
  /** Made for each turn, since what is signed ends. */
  readonly attack: () => Attack | Promise<Attack>;
}

/**
 * Quotes and sales of one site while two callers are as hostile as they can be: one without a credential, one with the key of another
 * site. Each has 32 connections and calls again as soon as it is answered; both are one process of the lowest priority, in a session that has
 * it too, so that what is measured is what the service gives them, and not that they take the CPU. No proxy stands in front.
 */
export const hostileBench: Bench = {
  id: 'hostile',
  title: 'A site beside two hostile callers',
  run: async (options) => {
    const sales = options.quick ? 3 : 15;
    const service = await startBenchService({ workers: 1, environment: { ...PRODUCT_INTERVALS, ...PRODUCT_RATES } });
    try {
      const [shop, foe] = [await openShop(service, 1), await openShop(service, 200)];
      const buyers = await fundBuyers(service.chain.rpcUrl, sales);
      const sell = async (): Promise<readonly number[]> => {
        const own = await openShop(service, 1);
        return await buyAll(own, await prepareCalls(own, buyers), 1);
      };
      const attack = attackOn(service, foe);
      return await measureBeside(service, { quote: quoteOf(shop), sell, sales, attack: () => attack }, options, {
        id: 'hostile',
        sale: 'POST /_svc/verify of one site, one at a time, p95',
        notes: `two callers of ${CONNECTIONS} connections each, a session of the lowest priority (docs/adr/0051), rates of the product, no proxy in front`,
        quoteNotes: '; until 2026-11-27 quotes of both kinds were one figure',
      });
    } finally {
      await service.stop();
    }
  },
};

/**
 * The figures of a scene, each beside the same without hostile callers, in turns. Quotes beside them are measured twice in a round: while the callers spend
 * the ten seconds that their buckets hold, which takes them about two, and from then on. The first is a detail of its own: in a round of ten seconds it
 * would be a fifth of what is in a longer attack next to nothing, and decide the p99 of all.
 */
export async function measureBeside(
  service: BenchService,
  scene: Scene,
  { quick, log }: Pick<BenchOptions, 'quick' | 'log'>,
  told: { readonly id: string; readonly sale: string; readonly notes: string; readonly quoteNotes?: string },
): Promise<readonly Figure[]> {
  const [quotes, first, rounds] = quick ? [50, 20, 1] : [1_000, 250, 5];
  // At its own pace, within its rate: as a site's gate, it asks when it is asked.
  const ask = async (count: number): Promise<number> => {
    const times: number[] = [];
    for (let at = 0; at < count; at++) {
      times.push(...(await requestTimes(service.baseUrl, scene.quote, 1)));
      await sleep(PACE_MS);
    }
    return percentile(times, 0.99);
  };
  await ask(quotes);
  const alone = (work: () => Promise<number>, operations: number) => (): Promise<Turn> =>
    withCpu(service.parts(), async () => ({ value: await work(), operations }));
  const beside = (work: () => Promise<Turn>) => async (): Promise<Turn> =>
    besideCallers(await scene.attack(), work, (answers) => log(`the hostile callers were answered ${answers}`));
  const sell = async (): Promise<number> => percentile(await scene.sell(), 0.95);
  const [asksFirst, asks, sells] = [alone(() => ask(first), first), alone(() => ask(quotes), quotes), alone(sell, scene.sales)];
  const begins = { ours: [] as Turn[], reference: [] as Turn[] };
  const asksFrom = (side: keyof typeof begins) => async (): Promise<Turn> => {
    begins[side].push(await asksFirst());
    return await asks();
  };
  const asked = await alternate({ rounds, sides: { ours: beside(asksFrom('ours')), reference: asksFrom('reference') } });
  await sell();
  await callChain(service.chain.rpcUrl, 'evm_setAutomine', [false]);
  await callChain(service.chain.rpcUrl, 'evm_setIntervalMining', [BLOCK_SECONDS]);
  const sold = await alternate({ rounds: quick ? 1 : 3, sides: { ours: beside(sells), reference: sells } });
  const { id, sale, notes, quoteNotes = '' } = told;
  const common = { unit: 'ms', target: { atMost: 2 }, referenceName: 'the same without hostile callers' } as const;
  return [
    makeFigure({
      ...common,
      id: `${id}.quotes`,
      what: 'GET /_svc/quote of one site, one at a time, p99, once full buckets are spent',
      rounds: asked,
      notes: `${notes}${quoteNotes}`,
    }),
    makeFigure({
      ...common,
      isDetail: true,
      id: `${id}.quotes-first`,
      what: `the same, the first ${first} quotes: the callers spend full buckets`,
      rounds: roundsOf(begins.ours, begins.reference),
      notes: `${notes}${quoteNotes}`,
    }),
    makeFigure({
      ...common,
      id: `${id}.sales`,
      what: sale,
      rounds: sold,
      notes: `the same callers; a block every ${BLOCK_SECONDS} s`,
    }),
  ];
}

/** A quote as a site's gate asks for it. */
export function quoteOf(shop: Shop): HttpRequest {
  return { method: 'GET', path: '/_svc/quote?slug=page-0', headers: keyOf(shop) };
}

function keyOf({ key }: Shop): { readonly authorization: string } {
  return { authorization: `Bearer ${key}` };
}

/** Everything that costs most, for who has no credential and for who has a key. */
function attackOn(service: BenchService, foe: Shop): Attack {
  const json = { 'content-type': 'application/json' };
  const get = (path: string, headers = {}): HttpRequest => ({ method: 'GET', path, headers });
  const post = (path: string, body: unknown, headers = {}): HttpRequest => ({
    method: 'POST',
    path,
    body: JSON.stringify(body),
    headers: { ...json, ...headers },
  });
  const scope = Array.from({ length: 50 }, (_, at) => `/articles/*p*a*g*e*-*${at}*`);
  const observations = Array.from({ length: 50 }, (_, at) => ({
    resource: `https://${foe.host}/articles/page-${at}`,
    slug: `page-${at}`,
    verdict: 'denied',
    classifiedAs: 'agent',
    kind: 'read',
    priceMicro: 1_000,
  }));
  const key = keyOf(foe);
  return {
    url: service.baseUrl,
    callers: [
      {
        connections: CONNECTIONS,
        requests: [
          post('/_svc/licenses/quote', { host: foe.host, scope, terms: ['ai-input'], periodDays: 30, kind: 'read' }),
          get('/_svc/accounts/challenge?address=0x1111111111111111111111111111111111111111'),
          post('/_svc/accounts/token', { message: 'x'.repeat(2_000), signature: `0x${'11'.repeat(65)}` }),
          get('/readyz'),
        ],
      },
      {
        connections: CONNECTIONS,
        requests: [
          post('/_svc/observe', observations, key),
          get('/_svc/audit?groupBy=slug&compare=1&limit=500', key),
          get('/_svc/earnings?groupBy=author&compare=1', key),
          get('/_svc/earnings/export.csv', key),
          get('/_svc/earnings/export.pdf', key),
          ...Object.values(DEAREST).map((query) => post('/_svc/graphql', { query }, key)),
        ],
      },
    ],
  };
}
