import { whyNoBuiltTemporalServer } from '../sandbox/parts/temporal-server-binary.mjs';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Turn } from './harness/cpu.ts';
import { withCpu } from './harness/cpu.ts';
import type { Figure, MissingFigure } from './harness/figure.ts';
import { makeFigure, median } from './harness/figure.ts';
import { requestLoad } from './harness/http.ts';
import type { BenchService } from './harness/service.ts';
import { startBenchService } from './harness/service.ts';
import { fundBuyers } from './settling/buyers.ts';
import type { Shop } from './settling/shop.ts';
import { buyAll, openShop, PRODUCT_INTERVALS, prepareCalls } from './settling/shop.ts';
import { serverSources, startBenchCluster } from './topology/cluster.ts';

/** What more processes bring, and what a Temporal on Postgres costs. */
export const scaleBench: Bench = {
  id: 'scale',
  title: 'More processes',
  run: async ({ quick, log }) => {
    const service = await startBenchService({ apis: quick ? 2 : 4, workers: 1, environment: PRODUCT_INTERVALS });
    try {
      const idle = await temporalOnPostgres(service, quick, log);
      const quotes = await moreApis(service, quick);
      const payments = await moreWorkers(service, quick);
      return [...quotes, ...payments, idle];
    } finally {
      await service.stop();
    }
  },
};

/** Quotes/s of 2 and of 4 API processes beside one; the load is shared evenly among them. */
async function moreApis(service: BenchService, quick: boolean): Promise<Figure[]> {
  const shop = await openShop(service, 1);
  const request = { method: 'GET', path: '/_svc/quote?slug=page-0', headers: { authorization: `Bearer ${shop.key}` } } as const;
  const seconds = quick ? 1 : 5;
  const rateOf = (count: number): Promise<Turn> =>
    withCpu(service.parts(), async () => {
      const loads = await Promise.all(service.apis.slice(0, count).map(({ url }) => requestLoad(url, request, { seconds })));
      const sum = (of: 'value' | 'operations'): number => loads.reduce((total, load) => total + load[of], 0);
      return { value: sum('value'), operations: sum('operations') };
    });
  return sides(quick, 'quotes', 'req/s', 'API processes', rateOf);
}

/** Payments/s with 2 and with 4 workers beside one: workers are added, one count after the other. */
async function moreWorkers(service: BenchService, quick: boolean): Promise<Figure[]> {
  const counts = quick ? [1, 2] : [1, 2, 4];
  const rates = new Map<number, number>();
  const shop = await openShop(service, 12);
  for (const count of counts) {
    while (service.workers.length < count) await service.startWorker();
    rates.set(count, await paymentRate(service, shop, quick));
  }
  const reference = rates.get(1) ?? 0;
  return counts.slice(1).map((count): Figure => {
    const ours = rates.get(count) ?? 0;
    const figure = growth(
      `scale.payments-${count}`,
      `payments/s with ${count} workers`,
      'payments/s',
      'one worker',
      ours,
      reference,
    );
    return count === 2 ? { ...figure, isDetail: true } : figure;
  });
}

async function paymentRate(service: BenchService, shop: Shop, quick: boolean): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    const calls = await prepareCalls(shop, await fundBuyers(service.chain.rpcUrl, quick ? 2 : 40));
    const startedAt = performance.now();
    await buyAll(shop, calls, 64);
    rates.push((calls.length * 1_000) / (performance.now() - startedAt));
  }
  return median(rates);
}

async function sides(
  quick: boolean,
  name: string,
  unit: string,
  processes: string,
  rateOf: (count: number) => Promise<Turn>,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const count of quick ? [2] : [2, 4]) {
    const rounds = await alternate({ rounds: quick ? 1 : 3, sides: { ours: () => rateOf(count), reference: () => rateOf(1) } });
    const what = `${name}/s with ${count} ${processes}`;
    figures.push(
      makeFigure({
        id: `scale.${name}-${count}`,
        what,
        unit,
        referenceName: 'one process',
        rounds,
        target: { atLeast: 0.8 },
        ...(count === 2 ? { isDetail: true } : {}),
        notes: NOTE,
      }),
    );
  }
  return figures;
}

const NOTE = 'two cores for service, parts and load together: more processes than cores share them, and must not cost';

function growth(id: string, what: string, unit: string, referenceName: string, ours: number, reference: number): Figure {
  const ratio = ours / reference;
  return {
    id,
    what,
    unit,
    referenceName,
    ours,
    reference,
    ratio,
    target: '≥ 0.8',
    reached: ratio >= 0.8,
    rounds: 3,
    spread: [ratio, ratio],
    notes: NOTE,
  };
}

/** One idle payment, p50, with the Temporal server on Postgres beside the development server. */
async function temporalOnPostgres(
  home: BenchService,
  quick: boolean,
  log: (line: string) => void,
): Promise<Figure | MissingFigure> {
  const id = 'scale.temporal-on-postgres';
  const what = 'POST /_svc/verify when idle, p50, Temporal server on Postgres';
  if (quick) return { id, what, missing: 'not with --quick: that the same server starts is shown by the recovery bench' };
  const reason = await whyNoBuiltTemporalServer(serverSources());
  if (reason !== null) return { id, what, missing: reason };
  const cluster = await startBenchCluster(log);
  let service: BenchService | null = null;
  try {
    service = await startBenchService({ workers: 1, environment: PRODUCT_INTERVALS, on: cluster });
    const ours = await openIdle(service);
    const reference = await openIdle(home);
    const rounds = await alternate({ rounds: 3, sides: { ours, reference } });
    return makeFigure({ id, what, unit: 'ms', referenceName: 'the development server', rounds, target: { atMost: 1.5 } });
  } finally {
    await service?.stop();
    await cluster.stop();
  }
}

async function openIdle(service: BenchService): Promise<() => Promise<number>> {
  const shop = await openShop(service, 12);
  const calls = [...(await prepareCalls(shop, await fundBuyers(service.chain.rpcUrl, 8)))];
  await buyAll(shop, calls.splice(0, 3), 1);
  return async () => median(await buyAll(shop, calls.splice(0, 20), 1));
}
