/** The whole purchase on a cluster, and one payment sent fifty times at once while a part of it is killed. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { privateKeyToAddress } from 'viem/accounts';
import { beforeAll, expect, inject, test } from 'vitest';
import { buyPage } from '../../../examples/buyer/buyer.ts';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import { newPrivateKey } from '../../../process/serviceSecrets.ts';
import { mintUsdc } from '../../../sandbox/parts/chain-setup.ts';
import type { QuoteBody, SaleAnswer } from '../buying.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../buying.ts';
import type { TestCluster } from '../cluster.ts';
import { scaled } from '../patience.ts';
import type { TestSite } from '../service.ts';
import { balancesOf, openShop } from '../shop.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/cluster.ts', import.meta.url));
const PORTS = ['PORT', 'PUBLISHER_PORT', 'SINK_PORT', 'SITE_PORT', 'POSTGRES_PORT', 'TEMPORAL_PORT', 'CHAIN_PORT'];

let cluster: TestCluster;
let site: TestSite;

/** One payment fifty times at once through the proxy, with something happening meanwhile. */
async function sellFiftyTimes(quote: QuoteBody, payment: string, meanwhile: () => Promise<void>): Promise<SaleAnswer[]> {
  const calls = Array.from({ length: 50 }, () => sell(cluster.proxy.url, site.key, quote, payment).catch(() => null));
  const [answers] = await Promise.all([Promise.all(calls), meanwhile()]);
  return answers.filter((answer) => answer !== null);
}

/** The payer was charged once, every author got his part once, and all who were told of a settlement were told the same. */
async function expectOneSale(payer: `0x${string}`, quote: QuoteBody, before: readonly bigint[], answers: readonly SaleAnswer[]) {
  const { service } = cluster;
  const wallets = quote.legs.map(({ toAddress }) => toAddress);
  const after = await balancesOf(service, wallets);
  expect(after.map((balance, at) => balance - (before[at] ?? 0n))).toEqual(quote.legs.map((leg) => BigInt(leg.amountMicro)));
  expect(await balancesOf(service, [payer])).toEqual([1_000_000n - BigInt(quote.price)]);
  const crossings = await service.database.query('select micro from crossing where payer = $1', [payer.toLowerCase()]);
  expect(crossings).toHaveLength(1);
  const settled = answers.filter(({ status }) => status === 200);
  expect(new Set(settled.map(({ text }) => text)).size).toBe(1);
  // The rest could not know: told to ask again, never that it failed, never offered to pay once more.
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect([402, 502, 503]).toContain(answer.status);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(answer.headers.get('payment-required')).toBeNull();
  }
}

/** What buyers see of a cluster, as tests of the suite that calls it. */
export function testPurchases(given: () => { readonly cluster: TestCluster; readonly site: TestSite }): void {
  beforeAll(() => {
    ({ cluster, site } = given());
  });

  test('plays the whole purchase from quote to webhook by one command, breaks Postgres while buyers buy, judges it, and ends by itself', {
    timeout: scaled(600_000),
  }, async () => {
    const folder = join(inject('parts').folder, 'cluster-program');
    const env = { ...process.env, TEMPORAL_ADDRESS: '', ...Object.fromEntries(PORTS.map((name) => [name, '0'])) };
    const child = spawn(process.execPath, [PROGRAM, '--fresh', '--play=postgres', '--folder', folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => {
        said += text.toString('utf8');
      });
    }
    const status = await new Promise((resolve) => child.once('close', resolve));
    expect(status, said).toBe(0);
    expect(said).toContain('settlement.completed');
    expect(said).toMatch(/kill -9 of Postgres .* bought .*\n\d+ purchases of \d+ buyers: ledger, chain and buyers agree/);
    expect(said).toMatch(/payer .*-0\.001 USDC\n(.*author .*\+0\.000\d USDC\n){3}/);
  });

  test('sells a page to the stock buyer through the proxy', async () => {
    const shop = await openShop({ baseUrl: cluster.proxy.url }, site);
    const privateKey = newPrivateKey();
    const payer = privateKeyToAddress(privateKey);
    await mintUsdc(cluster.service.chain.rpcUrl, payer.toLowerCase() as Address, 1_000_000n);
    const bought = await buyPage(`${shop.url}/articles/trio`, privateKey);
    await shop.close();
    expect(bought).toMatchObject({ status: 200, page: '<p>trio</p>', settlement: { success: true } });
    expect(await balancesOf(cluster.service, [payer])).toEqual([999_000n]);
    await cluster.checkInvariants();
  });

  test.for<readonly [string, () => Promise<void>]>([
    ['with everything running', async () => undefined],
    [
      'while an API is killed',
      async () => {
        await sleep(150);
        await cluster.liveApis()[0]?.kill();
        await cluster.addApi();
      },
    ],
    [
      'while a worker is killed',
      async () => {
        await sleep(150);
        await cluster.liveWorkers()[0]?.kill();
        await cluster.service.startWorker();
      },
    ],
    [
      'while the Temporal server is killed',
      async () => {
        await sleep(150);
        await cluster.killTemporal();
        await cluster.startTemporal();
      },
    ],
  ])('settles one payment sent fifty times at once %s: once, with equal answers', async ([, break_]) => {
    const payer = await cluster.service.payer(1_000_000n);
    const quote = await askQuote(cluster.proxy.url, site.key, 'trio');
    const before = await balancesOf(
      cluster.service,
      quote.legs.map(({ toAddress }) => toAddress),
    );
    const payment = await payFor(payer, quote);
    const answers = await sellFiftyTimes(quote, payment, break_);
    const last = await sellUntilDecided(cluster.proxy.url, site.key, quote, payment);
    expect(last.body).toMatchObject({ ok: true, chargedMicro: String(quote.price) });
    await expectOneSale(payer.address, quote, before, [...answers, last]);
    await cluster.checkInvariants();
  });
}
