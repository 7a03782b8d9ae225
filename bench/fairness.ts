import { randomBytes } from 'node:crypto';
import { callChain } from '../sandbox/parts/chain.ts';
import { mintUsdc } from '../sandbox/parts/chain-setup.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Turn } from './harness/cpu.ts';
import { withCpu } from './harness/cpu.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, percentile } from './harness/figure.ts';
import type { BenchService } from './harness/service.ts';
import { startBenchService } from './harness/service.ts';
import type { Buyer } from './settling/buyers.ts';
import { fundBuyers, newBuyer, signTransfer } from './settling/buyers.ts';
import type { Shop } from './settling/shop.ts';
import { buyAll, callAll, openShop, PRODUCT_INTERVALS, prepareCalls } from './settling/shop.ts';

const BLOCK_SECONDS = 1;
/** A contract wallet that accepts every signature in `eth_call`, and reverts in a transaction. */
const FICKLE_CODE = `0x3215600b5760006000fd005b7f1626ba7e${'00'.repeat(28)}60005260206000f3`;
const LARGEST_SIGNATURE = 1_536;
const LIMITLESS = `1${'0'.repeat(22)}`;

/** What one site does while another sells. */
interface Attack {
  readonly pages: number;
  readonly buyers: number;
  readonly parallel: number;
}

/**
 * Sales of one site while another one does its worst within the limits: pages of fifty authors, payers without money, and wallets of
 * code with the largest signatures that agree when asked and revert when it counts. Its gas budget is lifted, which would end it.
 */
export const fairnessBench: Bench = {
  id: 'fairness',
  title: 'A site beside a hostile one',
  run: async ({ quick, log }) => {
    const attack: Attack = quick ? { pages: 4, buyers: 2, parallel: 6 } : { pages: 60, buyers: 12, parallel: 60 };
    const sales = quick ? 3 : 20;
    const rounds = quick ? 1 : 3;
    const environment = { ...PRODUCT_INTERVALS, GAS_BUDGET_WEI_PER_DAY: LIMITLESS, NETWORK_GAS_BUDGET_WEI_PER_DAY: LIMITLESS };
    const service = await startBenchService({ workers: 1, environment });
    try {
      const buyers = await fundBuyers(service.chain.rpcUrl, sales);
      await warmUp(service, buyers);
      await callChain(service.chain.rpcUrl, 'evm_setAutomine', [false]);
      await callChain(service.chain.rpcUrl, 'evm_setIntervalMining', [BLOCK_SECONDS]);
      const sell = (): Promise<Turn> =>
        withCpu(service.parts(), async () => ({ value: await p95OfSales(service, buyers), operations: sales }));
      const beside = (): Promise<Turn> => besideHostile(service, attack, sell, log);
      return [figureOf(await alternate({ rounds, sides: { ours: beside, reference: sell } }))];
    } finally {
      await service.stop();
    }
  },
};

async function warmUp(service: BenchService, buyers: readonly Buyer[]): Promise<void> {
  const shop = await openShop(service, 2);
  await buyAll(shop, await prepareCalls(shop, buyers.slice(0, 3)), 3);
}

/** Sales of a new site, one after another, each of another buyer: the time that one in twenty takes longer than. */
async function p95OfSales(service: BenchService, buyers: readonly Buyer[]): Promise<number> {
  const shop = await openShop(service, 1);
  return percentile(await buyAll(shop, await prepareCalls(shop, buyers), 1), 0.95);
}

async function besideHostile(
  service: BenchService,
  attack: Attack,
  sell: () => Promise<Turn>,
  log: (line: string) => void,
): Promise<Turn> {
  const shop = await openShop(service, attack.pages, 50);
  const calls = await hostileCalls(service, shop, attack);
  const end = new AbortController();
  const statuses = new Map<number, number>();
  const note = ({ status }: { readonly status: number }) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const attacks = calls.map((some) => callAll(shop, some, attack.parallel, note, end.signal));
  try {
    return await sell();
  } finally {
    end.abort();
    await Promise.all(attacks);
    log(`the hostile site was answered ${[...statuses].map(([status, count]) => `${count} x ${status}`).join(', ')}`);
  }
}

/** Three kinds of calls at once: buyers with money, payers without any, wallets of code that revert. */
async function hostileCalls(service: BenchService, shop: Shop, attack: Attack): Promise<readonly (readonly Buffer[])[]> {
  const { rpcUrl } = service.chain;
  const rich = await fundBuyers(rpcUrl, attack.buyers);
  const poor = Array.from({ length: attack.buyers }, newBuyer);
  const wallets = Array.from({ length: attack.buyers }, newBuyer);
  for (const { address } of wallets) {
    await callChain(rpcUrl, 'anvil_setCode', [address, FICKLE_CODE]);
    await mintUsdc(rpcUrl, address, 1_000_000n);
  }
  const signBadly: typeof signTransfer = (...transfer) => ({
    ...signTransfer(...transfer),
    signature: `0x${randomBytes(LARGEST_SIGNATURE).toString('hex')}`,
  });
  return [await prepareCalls(shop, rich), await prepareCalls(shop, poor), await prepareCalls(shop, wallets, signBadly)];
}

function figureOf(rounds: Awaited<ReturnType<typeof alternate>>): Figure {
  return makeFigure({
    id: 'fairness.sales',
    what: 'POST /_svc/verify of one site, one at a time, p95, while another attacks',
    unit: 'ms',
    referenceName: 'the same sales when the other site is quiet',
    rounds,
    target: { atMost: 2 },
    notes: `CPU with what the other's calls take; a block every ${BLOCK_SECONDS} s; the other: 180 callers, pages of 50 authors, a third without money, a third wallets of code that revert`,
  });
}
