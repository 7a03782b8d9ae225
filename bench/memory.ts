import { setTimeout as sleep } from 'node:timers/promises';
import type { PartProcess } from '../sandbox/parts/processes.ts';
import type { Bench } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import { requestRate } from './harness/http.ts';
import type { BenchService } from './harness/service.ts';
import { startBenchService } from './harness/service.ts';
import { fundBuyers } from './settling/buyers.ts';
import { buyAll, openShop, PRODUCT_INTERVALS, prepareCalls } from './settling/shop.ts';
import type { Memory } from './topology/memory.ts';
import { COLLECTING, memoryOf, slopeOf } from './topology/memory.ts';

const SLOPE_MB_PER_MINUTE = 1;

interface Watched {
  readonly name: string;
  readonly process: PartProcess;
  readonly samples: (Memory & { readonly minute: number })[];
}

/** Whether the memory of API and worker stays under quotes and payments; MEMORY_MINUTES long, 10 unless told. */
export const memoryBench: Bench = {
  id: 'memory',
  title: 'Memory over a long run',
  run: async ({ quick, log }) => {
    const service = await startBenchService({ workers: 1, environment: { ...PRODUCT_INTERVALS, ...COLLECTING } });
    try {
      return await growth(service, quick ? 0.05 : Number(process.env['MEMORY_MINUTES'] ?? 10), quick, log);
    } finally {
      await service.stop();
    }
  },
};

async function growth(service: BenchService, minutes: number, quick: boolean, log: (line: string) => void): Promise<Figure[]> {
  const shop = await openShop(service, 12);
  const request = { method: 'GET', path: '/_svc/quote?slug=page-0', headers: { authorization: `Bearer ${shop.key}` } } as const;
  if (!quick) await requestRate(service.baseUrl, request, { seconds: 30 });
  const [api, worker] = [service.apis[0]?.process, service.workers[0]?.process];
  if (!api || !worker) throw new Error('an API and a worker are needed');
  const watched: Watched[] = [
    { name: 'API', process: api, samples: [] },
    { name: 'worker', process: worker, samples: [] },
  ];
  const begun = performance.now();
  const minute = (): number => (performance.now() - begun) / 60_000;
  while (minute() < minutes) {
    await requestRate(service.baseUrl, request, { seconds: quick ? 1 : 5 });
    await buyAll(shop, await prepareCalls(shop, await fundBuyers(service.chain.rpcUrl, 1)), 12);
    for (const one of watched) one.samples.push({ minute: minute(), ...(await memoryOf(one.process)) });
    log(`${watched.map(sizes).join('; ')}; ${minute().toFixed(1)} minutes`);
    await sleep(10);
  }
  return watched.flatMap((one) => growthOf(one, minutes));
}

function sizes({ name, samples }: Watched): string {
  const { resident, collected, live } = samples.at(-1) ?? { resident: 0, collected: 0, live: 0 };
  return `${name} ${resident.toFixed(0)} MB, collected ${collected.toFixed(0)} MB, live ${live.toFixed(1)} MB`;
}

/** Both sizes that a leak would make grow: what the machine gives the process, and what the process still holds on to. */
function growthOf({ name, samples }: Watched, minutes: number): Figure[] {
  const largest = Math.max(...samples.map(({ resident }) => resident));
  const figure = (id: string, what: string, slope: number): Figure => ({
    id: `memory.${id}-${name.toLowerCase()}`,
    what: `growth of the ${name}'s ${what} over ${minutes} minutes of quotes and payments`,
    unit: 'MB/min',
    ours: slope,
    reference: SLOPE_MB_PER_MINUTE,
    referenceName: 'what is allowed',
    ratio: slope,
    target: `≤ ${SLOPE_MB_PER_MINUTE} MB/min`,
    reached: slope <= SLOPE_MB_PER_MINUTE,
    rounds: samples.length,
    spread: [slope, slope],
    ...(id === 'live' || name === 'worker' ? { isDetail: true } : {}),
    notes:
      `the ratio column is the slope in the second half, the median over all pairs of samples; each sample right after a full ` +
      `collection. The largest resident size, garbage included, was ${largest.toFixed(0)} MB`,
  });
  const of = (size: 'collected' | 'live') => samples.map((sample) => ({ minute: sample.minute, megabytes: sample[size] }));
  return [
    figure('resident', 'resident memory', slopeOf(of('collected'))),
    figure('live', 'live objects and buffers', slopeOf(of('live'))),
  ];
}
