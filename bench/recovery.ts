import { setTimeout as sleep } from 'node:timers/promises';
import { whyNoBuiltTemporalServer } from '../sandbox/parts/temporal-server-binary.mjs';
import type { Bench } from './harness/bench.ts';
import type { Figure, MissingFigure } from './harness/figure.ts';
import { median } from './harness/figure.ts';
import type { BenchService } from './harness/service.ts';
import { startBenchService } from './harness/service.ts';
import { fundBuyers } from './settling/buyers.ts';
import { buyAll, openShop, PRODUCT_INTERVALS, prepareCalls } from './settling/shop.ts';
import type { BenchCluster } from './topology/cluster.ts';
import { kill, serverSources, startBenchCluster } from './topology/cluster.ts';

const LIMIT_MS = 2_000;
const GIVE_UP_MS = 60_000;

/** Ends one part by SIGKILL; resolves when it is back, as whoever runs it sees it. */
type Loss = (service: BenchService, cluster: BenchCluster) => Promise<void>;

const LOSSES: Readonly<Record<string, Loss>> = {
  api: async (service) => {
    await kill(service.apis.at(-1)?.process ?? null);
    await service.startApi();
  },
  worker: async (service) => {
    await kill(service.workers.at(-1)?.process ?? null);
    await service.startWorker();
  },
  temporal: async (_service, cluster) => {
    await cluster.killTemporal();
    await cluster.startTemporal();
  },
  postgres: async (_service, cluster) => {
    await cluster.killPostgres();
    await cluster.startPostgres();
  },
  chain: (service) => service.chain.killNode(),
};

/** From the moment a killed part is back until the next payment is settled. */
export const recoveryBench: Bench = {
  id: 'recovery',
  title: 'Coming back after kill -9',
  run: async ({ quick, log }) => {
    const reason = await whyNoBuiltTemporalServer(serverSources());
    if (reason !== null)
      return Object.keys(LOSSES).map((part): MissingFigure => ({ id: `recovery.${part}`, what: whatOf(part), missing: reason }));
    const cluster = await startBenchCluster(log);
    let service: BenchService | null = null;
    try {
      const options = { apis: 1, workers: 1, environment: PRODUCT_INTERVALS, on: cluster };
      service = await startBenchService({ ...options, chain: { keep: true } });
      const figures: Figure[] = [];
      for (const [part, lose] of Object.entries(LOSSES)) figures.push(await measure(part, lose, service, cluster, quick ? 1 : 3));
      return figures;
    } finally {
      await service?.stop();
      await cluster.stop();
    }
  },
};

function whatOf(part: string): string {
  return `from ${part === 'chain' ? "the chain's node" : part} being back to the next payment settled`;
}

async function measure(part: string, lose: Loss, service: BenchService, cluster: BenchCluster, rounds: number): Promise<Figure> {
  const opened = await openShop(service, rounds + 1);
  const calls = [...(await prepareCalls({ ...opened, url: urlOf(service) }, await fundBuyers(service.chain.rpcUrl, 1)))];
  const shop = () => ({ ...opened, url: urlOf(service) });
  const [usual = 0] = await buyAll(shop(), calls.splice(0, 1), 1);
  const times: number[] = [];
  for (const call of calls) {
    await lose(service, cluster);
    const back = performance.now();
    await untilBought(() => buyAll(shop(), [call], 1), back);
    times.push(performance.now() - back);
  }
  const ours = median(times);
  return {
    id: `recovery.${part}`,
    what: whatOf(part),
    unit: 'ms',
    ours,
    reference: usual,
    referenceName: 'a payment with everything running',
    ratio: ours,
    target: `≤ ${LIMIT_MS} ms`,
    reached: ours <= LIMIT_MS,
    rounds: times.length,
    spread: [Math.min(...times), Math.max(...times)],
    ...(part === 'postgres' ? {} : { isDetail: true }),
    notes: 'the ratio column is our time in ms; “back” is when the part answers its own readiness question',
  };
}

/** The API that was started last. */
function urlOf(service: BenchService): string {
  return service.apis.at(-1)?.url ?? service.baseUrl;
}

/** The same payment again until it is settled. */
async function untilBought(buy: () => Promise<unknown>, sinceMs: number): Promise<void> {
  for (;;) {
    try {
      await buy();
      return;
    } catch (error) {
      if (performance.now() - sinceMs > GIVE_UP_MS) throw error;
      await sleep(20);
    }
  }
}
