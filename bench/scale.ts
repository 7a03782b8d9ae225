import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { whyNoBuiltTemporalServer } from '../sandbox/parts/temporal-server-binary.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Figure, MissingFigure } from './harness/figure.ts';
import { makeFigure, median } from './harness/figure.ts';
import { requestRate } from './harness/http.ts';
import type { BenchService } from './harness/service.ts';
import { startBenchService } from './harness/service.ts';
import { fundBuyers } from './settling/buyers.ts';
import type { Shop } from './settling/shop.ts';
import { buyAll, openShop, PRODUCT_INTERVALS, prepareCalls } from './settling/shop.ts';
import { serverSources, startBenchCluster } from './topology/cluster.ts';

const SLOPE_MB_PER_MINUTE = 1;

/** What more processes bring, what a Temporal on Postgres costs, and whether memory stays. */
export const scaleBench: Bench = {
  id: 'scale',
  title: 'More processes, and a long run',
  run: async ({ quick, log }) => {
    const service = await startBenchService({ apis: quick ? 2 : 4, workers: 1, environment: PRODUCT_INTERVALS });
    try {
      const idle = await temporalOnPostgres(service, quick, log);
      const quotes = await moreApis(service, quick);
      const payments = await moreWorkers(service, quick);
      await Promise.all(service.workers.slice(1).map((worker) => worker.stop()));
      return [...quotes, ...payments, idle, ...(await memory(service, quick, log))];
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
  const rateOf = async (count: number): Promise<number> => {
    const rates = await Promise.all(service.apis.slice(0, count).map(({ url }) => requestRate(url, request, { seconds })));
    return rates.reduce((sum, rate) => sum + rate, 0);
  };
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
    return growth(`scale.payments-${count}`, `payments/s with ${count} workers`, 'payments/s', 'one worker', ours, reference);
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
  rateOf: (count: number) => Promise<number>,
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
    ...{ id, what, unit, referenceName, ours, reference, ratio },
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

interface Sample {
  readonly minute: number;
  readonly megabytes: number;
}

/** Growth of API and worker under quotes and payments; SCALE_MINUTES long, 10 unless told. */
async function memory(service: BenchService, quick: boolean, log: (line: string) => void): Promise<Figure[]> {
  const minutes = quick ? 0.05 : Number(process.env['SCALE_MINUTES'] ?? 10);
  const shop = await openShop(service, 12);
  const request = { method: 'GET', path: '/_svc/quote?slug=page-0', headers: { authorization: `Bearer ${shop.key}` } } as const;
  if (!quick) await requestRate(service.baseUrl, request, { seconds: 30 });
  const processes = [
    { name: 'API', pid: service.apis[0]?.process.pid ?? 0, samples: [] as Sample[] },
    { name: 'worker', pid: service.workers[0]?.process.pid ?? 0, samples: [] as Sample[] },
  ];
  const begun = performance.now();
  const minute = (): number => (performance.now() - begun) / 60_000;
  while (minute() < minutes) {
    await requestRate(service.baseUrl, request, { seconds: quick ? 1 : 5 });
    await buyAll(shop, await prepareCalls(shop, await fundBuyers(service.chain.rpcUrl, 1)), 12);
    for (const { pid, samples } of processes) samples.push({ minute: minute(), megabytes: residentMegabytes(pid) });
    const sizes = processes.map(({ name, samples }) => `${name} ${samples.at(-1)?.megabytes.toFixed(0)} MB`);
    log(`${sizes.join(', ')} after ${minute().toFixed(1)} minutes`);
    await sleep(10);
  }
  return processes.map(({ name, samples }) => growthOf(name, samples, minutes));
}

function growthOf(name: string, samples: readonly Sample[], minutes: number): Figure {
  const slope = slopeOf(samples);
  return {
    id: `scale.memory-${name.toLowerCase()}`,
    what: `growth of the ${name}'s memory over ${minutes} minutes of quotes and payments`,
    unit: 'MB/min',
    ours: slope,
    reference: Math.max(...samples.map(({ megabytes }) => megabytes)),
    referenceName: 'its largest size, MB',
    ratio: slope,
    target: `≤ ${SLOPE_MB_PER_MINUTE} MB/min`,
    reached: slope <= SLOPE_MB_PER_MINUTE,
    rounds: samples.length,
    spread: [slope, slope],
    notes: 'the ratio column is the slope, by least squares over the second half, when caches are full',
  };
}

function residentMegabytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

/** Least squares over the second half; 0 with fewer than two samples. */
function slopeOf(samples: readonly Sample[]): number {
  const late = samples.slice(Math.floor(samples.length / 2));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const minute = mean(late.map((sample) => sample.minute));
  const size = mean(late.map((sample) => sample.megabytes));
  const spread = late.reduce((sum, sample) => sum + (sample.minute - minute) ** 2, 0);
  if (spread === 0) return 0;
  return late.reduce((sum, sample) => sum + (sample.minute - minute) * (sample.megabytes - size), 0) / spread;
}
