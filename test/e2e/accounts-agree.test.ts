import { afterAll, beforeAll, expect, test } from 'vitest';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';

let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
});
afterAll(() => service.stop());

async function read(path: string): Promise<Response> {
  const answer = await fetch(`${service.baseUrl}${path}`, { headers: { authorization: `Bearer ${site.key}` } });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
const json = async (path: string): Promise<any> => (await read(path)).json();

/** The rows of a CSV without quoted cells, as objects. */
function rowsOf(csv: string): Record<string, string>[] {
  const [head = '', ...lines] = csv.trim().split('\r\n');
  const names = head.replace('\ufeff', '').split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, n) => [names[n] ?? '', cell])));
}

const SALES = [
  ['solo', 'read'],
  ['duo', 'read'],
  ['trio', 'read'],
  ['trio', 'citation'],
  ['duo', 'citation'],
  ['solo', 'citation'],
  ['trio', 'read'],
] as const;

test('totals, statements, CSV, reconciliation and audit agree with each other and with the chain, to the micro', async () => {
  const quotes = await Promise.all(SALES.map(([slug, kind]) => askQuote(service.baseUrl, site.key, slug, kind)));
  const wallets = [...new Set(quotes.flatMap((quote) => quote.legs.map((leg) => leg.toAddress.toLowerCase())))];
  const before = await balancesOf(service, wallets);
  const payers: Awaited<ReturnType<TestService['payer']>>[] = [];
  for (const _ of quotes) payers.push(await service.payer(100_000n));
  const answers = await Promise.all(
    quotes.map(async (quote, n) => {
      const payer = payers[n];
      if (!payer) throw new Error('no payer');
      return sellUntilDecided(service.baseUrl, site.key, quote, await payFor(payer, quote));
    }),
  );
  expect(answers.map((answer) => answer.status)).toEqual(SALES.map(() => 200));
  const total = quotes.reduce((sum, quote) => sum + quote.price, 0);
  const after = await balancesOf(service, wallets);
  const onChain = new Map(wallets.map((wallet, n) => [wallet, Number((after[n] ?? 0n) - (before[n] ?? 0n))]));
  expect([...onChain.values()].reduce((a, b) => a + b, 0)).toBe(total);

  const earnings = await json('/_svc/earnings?groupBy=kind');
  expect(earnings.totals).toMatchObject({ events: 7, reads: 4, citations: 3, grossMicroUsdc: total });
  expect(earnings.breakdown.reduce((sum: number, row: { grossMicroUsdc: number }) => sum + row.grossMicroUsdc, 0)).toBe(total);

  const statements = await json('/_svc/earnings/statements');
  expect(statements.totalMicroUsdc).toBe(total);
  const stated = new Map(
    statements.statements.map((one: { wallet: string; grossMicroUsdc: number }) => [
      one.wallet.toLowerCase(),
      one.grossMicroUsdc,
    ]),
  );
  expect(stated).toEqual(onChain);

  const legs = rowsOf(await (await read('/_svc/earnings/export.csv')).text());
  const exported = new Map<string, number>();
  for (const leg of legs) {
    const wallet = (leg['wallet'] ?? '').toLowerCase();
    exported.set(wallet, (exported.get(wallet) ?? 0) + Number(leg['amount_micro']));
  }
  expect(exported).toEqual(onChain);
  expect(new Set(legs.map((leg) => leg['settlement_ref']))).toEqual(new Set(answers.map((answer) => answer.body.settlementRef)));

  const audit = await json('/_svc/audit');
  expect(audit.totals).toMatchObject({ paid: 7, paymentFailed: 0, earnedMicroUsdc: total });

  await expect
    .poll(async () => (await json('/_svc/earnings/reconciliation')).outstanding, { interval: 500 })
    .toEqual({ legs: 0, micro: 0 });
  const reconciliation = await json('/_svc/earnings/reconciliation');
  expect(reconciliation.recorded).toEqual({ events: 7, grossMicroUsdc: total });
  expect(reconciliation.settled).toEqual({ legs: legs.length, micro: total });
});
