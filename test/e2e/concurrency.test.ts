import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestService, TestSite } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import type { TestQuote } from '../support/verify.ts';
import { base64Of, moneyVerdicts, payloadFor, postVerify, quoteOf } from '../support/verify.ts';

let service: TestService;
let site: TestSite;
let quote: TestQuote;
let payer: PrivateKeyAccount;

beforeAll(async () => {
  service = await startTestService({ apis: 2, environment: CALM });
});
afterAll(() => service?.stop());

async function newCase(): Promise<void> {
  site = await service.site();
  quote = await quoteOf(service, site, 'trio');
  payer = await service.payer(1_000_000n);
}

/** Calls of verify at once, one by one to the two API processes. */
function verifyAtOnce(payloads: readonly unknown[]) {
  return Promise.all(
    payloads.map((payload, index) => {
      const body = { payment: base64Of(payload), quote, legs: quote.legs };
      return postVerify(service, site, body, service.apis[index % 2]?.url);
    }),
  );
}

async function salesOf(): Promise<number> {
  const [row] = await service.database.query<{ count: string }>('select count(*) from crossing where tenant_id = $1', [
    site.tenantId,
  ]);
  return Number(row?.count);
}

test('one payment sent fifty times at once over two API processes is one settlement and fifty equal answers', async () => {
  await newCase();
  const payload = await payloadFor(service, quote, payer);
  const answers = await verifyAtOnce(Array.from({ length: 50 }, () => payload));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: 200, body: { ok: true, chargedMicro: '1000' } });
  expect(await salesOf()).toBe(1);
  expect(await moneyVerdicts(service, site)).toEqual(['paid']);
  expect(await balancesOf(service, [payer.address])).toEqual([999_000n]);
});

test('ten authorizations of one payer for one page at once charge once, and all ten get the one receipt', async () => {
  await newCase();
  const payloads = await Promise.all(Array.from({ length: 10 }, () => payloadFor(service, quote, payer)));
  const answers = await verifyAtOnce(payloads);
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect(new Set(answers.map(({ body }) => body.settlementRef)).size).toBe(1);
  expect(await salesOf()).toBe(1);
  expect(await moneyVerdicts(service, site)).toEqual(['paid']);
  expect(await balancesOf(service, [payer.address])).toEqual([999_000n]);
});

test('forty payers at once for one page are settled each once, in few transactions, to the micro', async () => {
  await newCase();
  const payers = await Promise.all(Array.from({ length: 40 }, () => service.payer(1_000n)));
  const wallets = quote.legs.map(({ toAddress }) => toAddress);
  const before = await balancesOf(service, wallets);
  const answers = await verifyAtOnce(await Promise.all(payers.map((one) => payloadFor(service, quote, one))));
  expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));
  const after = await balancesOf(service, wallets);
  expect(after.map((balance, index) => balance - (before[index] as bigint))).toEqual(
    quote.legs.map(({ amountMicro }) => BigInt(amountMicro) * 40n),
  );
  expect(await balancesOf(service, [...payers.map(({ address }) => address), service.chain.router, quote.payTo])).toEqual(
    Array(42).fill(0n),
  );
  expect(await salesOf()).toBe(40);
  expect(new Set(answers.map(({ body }) => body.settlementRef)).size).toBeLessThan(40);
});
