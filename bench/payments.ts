import { generatePrivateKey } from 'viem/accounts';
import { localSigner } from '../chain/signer.ts';
import { fundGas } from '../sandbox/parts/chain-setup.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, percentile } from './harness/figure.ts';
import type { BenchService } from './harness/service.ts';
import { startBenchService } from './harness/service.ts';
import type { Buyer, SignedTransfer } from './settling/buyers.ts';
import { fundBuyers, signTransfer } from './settling/buyers.ts';
import { createOfficial, ratePerSecond, settleOfficially } from './settling/official.ts';
import type { Shop } from './settling/shop.ts';
import { buyAll, openShop, PRODUCT_INTERVALS, prepareCalls } from './settling/shop.ts';
import { startWorkflowEach } from './settling/workflowEach.ts';

/** How much is paid in a round, and by how many at once. */
interface Load {
  readonly rounds: number;
  readonly pages: number;
  readonly buyers: number;
  readonly parallel: number;
  readonly references: number;
}

const FULL: Load = { rounds: 3, pages: 25, buyers: 80, parallel: 300, references: 300 };
const QUICK: Load = { rounds: 1, pages: 5, buyers: 8, parallel: 20, references: 20 };
/** Callers of the references: more only make them slower. */
const OFFICIAL_PARALLEL = 20;
const EACH_PARALLEL = 100;

/** Payments a second over HTTP, everything on this machine, beside the official facilitator and beside one workflow a payment. */
export const paymentsBench: Bench = {
  id: 'payments',
  title: 'Payments a second',
  run: async ({ quick, log }) => {
    const load = quick ? QUICK : FULL;
    const service = await startBenchService({ workers: 1, environment: PRODUCT_INTERVALS });
    try {
      const buyers = await fundBuyers(service.chain.rpcUrl, load.buyers);
      const ours = prepareOurs(service, buyers, load, log);
      await ours();
      return [await besideOfficial(service, buyers, load, ours), await besideWorkflows(service, buyers, load, ours)];
    } finally {
      await service.stop();
    }
  },
};

/** One round of ours: a new site, so that every buyer buys every page for the first time. */
function prepareOurs(service: BenchService, buyers: readonly Buyer[], load: Load, log: (line: string) => void) {
  return async (): Promise<number> => {
    const shop: Shop = await openShop(service, load.pages);
    const calls = await prepareCalls(shop, buyers);
    const startedAt = performance.now();
    const times = await buyAll(shop, calls, load.parallel);
    const rate = (calls.length * 1000) / (performance.now() - startedAt);
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
    const { batches } = await batchesOf(service, shop);
    const size = (calls.length / batches).toFixed(0);
    log(`${rate.toFixed(0)} payments/s, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${size} a batch`);
    return rate;
  };
}

async function batchesOf(service: BenchService, shop: Shop): Promise<{ readonly batches: number }> {
  const rows = await service.database.query<{ batches: number; settled: number }>(
    `select count(distinct batch_id)::int as batches, (count(*) filter (where state in ('settled', 'final')))::int as settled
       from payment where tenant_id = $1`,
    [shop.tenantId],
  );
  return { batches: rows[0]?.batches ?? 0 };
}

function transfersOf(shop: Pick<Shop, 'network' | 'authors'>, buyers: readonly Buyer[], count: number): SignedTransfer[] {
  return Array.from({ length: count }, (_, index) => {
    const author = shop.authors[index % shop.authors.length] as Shop['authors'][number];
    return signTransfer(shop.network, buyers[index % buyers.length] as Buyer, author, 1_000n);
  });
}

async function newRelayer(service: BenchService): Promise<`0x${string}`> {
  const key = generatePrivateKey();
  await fundGas(service.chain.rpcUrl, localSigner(key).address);
  return key;
}

async function besideOfficial(
  service: BenchService,
  buyers: readonly Buyer[],
  load: Load,
  ours: () => Promise<number>,
): Promise<Figure> {
  const official = createOfficial(service.chain.rpcUrl, await newRelayer(service));
  const shop = await openShop(service, load.pages);
  const reference = (): Promise<number> => {
    const transfers = transfersOf(shop, buyers, load.references);
    return ratePerSecond(transfers, OFFICIAL_PARALLEL, (transfer) => settleOfficially(official, shop.network, transfer));
  };
  return makeFigure({
    id: 'payments.official',
    what: 'POST /_svc/verify, single-author pages',
    unit: 'payments/s',
    referenceName: `official facilitator in process, verify and settle, ${OFFICIAL_PARALLEL} at once`,
    rounds: await alternate({ rounds: load.rounds, sides: { ours, reference } }),
    target: { atLeast: 7 },
    notes: `${load.parallel} callers over HTTP; API, worker, Postgres, Temporal, anvil and callers on this machine; ${load.pages * load.buyers} payments a round`,
  });
}

async function besideWorkflows(
  service: BenchService,
  buyers: readonly Buyer[],
  load: Load,
  ours: () => Promise<number>,
): Promise<Figure> {
  const each = await startWorkflowEach(service, await newRelayer(service));
  try {
    const shop = await openShop(service, load.pages);
    const reference = (): Promise<number> =>
      ratePerSecond(transfersOf(shop, buyers, load.references), EACH_PARALLEL, (transfer) => each.settle(transfer));
    return makeFigure({
      id: 'payments.workflow',
      what: 'POST /_svc/verify, single-author pages',
      unit: 'payments/s',
      referenceName: `one workflow a payment on the same server, without HTTP and checks, ${EACH_PARALLEL} at once`,
      rounds: await alternate({ rounds: load.rounds, sides: { ours, reference } }),
      target: { atLeast: 10 },
    });
  } finally {
    await each.stop();
  }
}
