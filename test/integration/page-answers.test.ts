/** What became of a page that was paid for: delivered, lost on its way, served again for nothing, and what its buyer says it holds. */
import { createHash } from 'node:crypto';
import { request as send } from 'node:http';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callChain } from '../../sandbox/parts/chain.ts';
import { askQuote, payFor, sell } from '../support/buying.ts';
import { openExpressSite, openFetchSite, UA } from '../support/publisher-site.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const HASH = 'b'.repeat(64);

let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await startTestService();
  site = await service.site();
});
afterAll(() => service?.stop());

/** How often money of a wallet moved. */
async function paymentsOf({ address }: { readonly address: string }): Promise<number> {
  const from = `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const asked = { address: service.chain.usdc, topics: [TRANSFER, from], fromBlock: '0x0', toBlock: 'latest' };
  return (await callChain<unknown[]>(service.chain.rpcUrl, 'eth_getLogs', [asked])).length;
}

async function post(path: string, body: unknown, key?: string) {
  const answer = await fetch(`${service.baseUrl}/_svc${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const say = (...words: readonly object[]) => post('/receipts/bodies', words, site.key);
const recordOf = async (id: string) => (await fetch(`${service.baseUrl}/_svc/receipts/${id}?format=json`)).json();

/** A page bought over the wire by a wallet of its own. */
async function buy(slug: string, payer?: PrivateKeyAccount) {
  const wallet = payer ?? (await service.payer(100_000n));
  const quote = await askQuote(service.baseUrl, site.key, slug);
  const payment = await payFor(wallet, quote);
  const answer = await sell(service.baseUrl, site.key, quote, payment);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return { wallet, quote, payment, answer, id: answer.body.receiptId as string };
}

/** Its licence is over; it was settled so long ago. */
async function age(id: string, hours: number): Promise<void> {
  await service.database.query(
    `update payment_state set licence_issued_at = licence_issued_at - 3600, licence_expires_at = licence_expires_at - 3600,
       settled_at = settled_at - make_interval(hours => $2), decided_at = decided_at - make_interval(hours => $2) where payment_id = $1`,
    [id, hours],
  );
}

const again = ({ quote, payment }: { quote: Awaited<ReturnType<typeof askQuote>>; payment: string }) =>
  sell(service.baseUrl, site.key, quote, payment);

test('a sale whose answer was lost is served again for nothing to the wallet that signs anew; the payment as it was shown, other wallets and other pages are not', async () => {
  const lost = await buy('trio');
  expect(await say({ receiptId: lost.id, at: 1_000, sha256: HASH, bytes: 10 })).toEqual({ status: 200, body: { noted: 1 } });
  expect((await say({ receiptId: lost.id, at: 1_000, outcome: 'lost' })).body).toEqual({ noted: 1 });
  await age(lost.id, 3);
  const shown = await again(lost); // anybody could: the chain publishes it
  expect([shown.status, shown.text]).toEqual([402, expect.stringContaining('already used')]);

  const anew = await buy('trio', lost.wallet); // a stock client signs by the present offer
  expect([anew.answer.body.chargedMicro, anew.id, await paymentsOf(lost.wallet)]).toEqual(['0', lost.id, 1]);
  const stranger = await buy('trio');
  expect([stranger.answer.body.chargedMicro === '0', await paymentsOf(stranger.wallet)]).toEqual([false, 1]);
  const page = await buy('duo', lost.wallet);
  expect([page.answer.body.chargedMicro === '0', await paymentsOf(lost.wallet)]).toEqual([false, 2]);
});

test('a page at another site is paid for, by whoever lost one of the same name elsewhere', async () => {
  const lost = await buy('trio');
  await say({ receiptId: lost.id, at: 1_000, outcome: 'lost' });
  await age(lost.id, 3);
  const other = await service.site();
  const quote = await askQuote(service.baseUrl, other.key, 'trio');
  const answer = await sell(service.baseUrl, other.key, quote, await payFor(lost.wallet, quote));
  expect([answer.status, answer.body.chargedMicro === '0', await paymentsOf(lost.wallet)]).toEqual([200, false, 2]);
});

test('five licences are given to the wallet and the sixth is paid for, also when all are asked for at once; after a day each is paid for', async () => {
  const lost = await buy('duo');
  await say({ receiptId: lost.id, at: 1_000, outcome: 'lost' });
  await age(lost.id, 3);
  for (let n = 0; n < 3; n += 1) {
    const next = await buy('duo', lost.wallet);
    expect([next.answer.body.chargedMicro, next.id]).toEqual(['0', lost.id]);
  }
  const last = await Promise.all(Array.from({ length: 5 }, () => buy('duo', lost.wallet)));
  const free = last.filter(({ id }) => id === lost.id);
  expect([free.length, await paymentsOf(lost.wallet)]).toEqual([2, 2]); // one of the others was paid, and answered the rest

  const old = await buy('solo');
  await say({ receiptId: old.id, at: 1_000, outcome: 'lost' });
  await age(old.id, 25);
  expect((await again(old)).status).toBe(402);
  const paid = await buy('solo', old.wallet);
  expect([paid.answer.body.chargedMicro === '0', await paymentsOf(old.wallet)]).toEqual([false, 2]);
});

test('pages that are asked for at once are counted each', async () => {
  const wallet = await service.payer(1_000_000n);
  const sold = [];
  for (const slug of ['solo', 'duo', 'trio']) sold.push(await buy(slug, wallet));
  for (const { id } of sold) {
    await say({ receiptId: id, at: 1_000, outcome: 'lost' });
    await age(id, 3);
  }
  const given = await Promise.all(['solo', 'duo', 'trio'].map((slug) => buy(slug, wallet)));
  expect(given.map(({ id }) => id)).toEqual(sold.map(({ id }) => id));
  const counts = await service.database.query('select owed_given from page_answer where payment_id = any($1)', [
    sold.map(({ id }) => id),
  ]);
  expect([counts, await paymentsOf(wallet)]).toEqual([sold.map(() => ({ owed_given: 1 })), 3]);
});

test('one payment named in two spellings is one, and only eight words about it are read', async () => {
  const { id } = await buy('solo');
  const twice = await say({ receiptId: id, at: 1_000 }, { receiptId: id.toUpperCase(), at: 2_000, sha256: HASH, bytes: 10 });
  expect(twice).toEqual({ status: 200, body: { noted: 2 } });
  expect((await recordOf(id)).answer).toMatchObject({ servedAgain: 1, bodyAgain: null });
  const words = Array.from({ length: 50 }, (_, n) => ({ receiptId: id, at: 3_000 + n }));
  expect((await say(...words)).body).toEqual({ noted: 8 });
});

test('a page is paid for again once its licence has ended, if it was delivered, if its buyer says it holds it, or if it was revoked', async () => {
  const charged = async ({ wallet, id }: { wallet: PrivateKeyAccount; id: string }) => {
    await age(id, 3);
    const next = await buy('solo', wallet);
    return [next.id === id, next.answer.body.chargedMicro === '0', await paymentsOf(wallet)];
  };
  const good = await buy('solo');
  await say({ receiptId: good.id, at: 1_000, sha256: HASH, bytes: 10, outcome: 'delivered' });
  expect(await charged(good)).toEqual([false, false, 2]);

  const held = await buy('solo');
  await say({ receiptId: held.id, at: 1_000, sha256: HASH, bytes: 10, outcome: 'lost' });
  const message = `I hold the page of the receipt ${held.id} with the SHA-256 ${HASH}. This signature moves no money.`;
  const signature = await held.wallet.signMessage({ message });
  expect((await post(`/receipts/${held.id}/held`, { sha256: HASH, signature })).status).toBe(200);
  expect(await charged(held)).toEqual([false, false, 2]);

  const revoked = await buy('solo');
  await say({ receiptId: revoked.id, at: 1_000, outcome: 'lost' });
  await service.database.query("insert into denied_licence (tenant_id, jti, reason) values ($1, $2, 'revoked')", [
    site.tenantId,
    revoked.id,
  ]);
  expect(await charged(revoked)).toEqual([false, false, 2]);
});

test('an answer that was asked for again is owed, too: a proxy may have lost what the site delivered; another site cannot say so', async () => {
  const sold = await buy('duo');
  await say({ receiptId: sold.id, at: 1_000, sha256: HASH, bytes: 10, outcome: 'delivered' });
  const other = await service.site();
  expect((await post('/receipts/bodies', [{ receiptId: sold.id, at: 2_000, outcome: 'lost' }], other.key)).body).toEqual({
    noted: 0,
  });
  const changed = { receiptId: sold.id, at: 2_000, sha256: 'c'.repeat(64), bytes: 11, outcome: 'delivered' };
  expect((await say(changed)).body).toEqual({ noted: 1 });
  expect((await say(changed)).body).toEqual({ noted: 0 }); // the same word again
  expect(await recordOf(sold.id)).toMatchObject({
    body: { sha256: HASH, bytes: 10 },
    answer: { outcome: 'delivered', lostAt: null, servedAgain: 1, bodyAgain: { sha256: 'c'.repeat(64), bytes: 11 } },
    held: null,
  });
  await age(sold.id, 3);
  expect((await buy('duo', sold.wallet)).answer.body.chargedMicro).toBe('0');
});

test('a buyer says which page it holds, once, by its wallet; strangers, the site and a second word change nothing', async () => {
  const { id, wallet } = await buy('trio');
  const other = await service.payer(1n);
  const message = (sha256: string) =>
    `I hold the page of the receipt ${id} with the SHA-256 ${sha256}. This signature moves no money.`;
  const hold = async (sha256: string, by: PrivateKeyAccount, of = id) =>
    post(`/receipts/${of}/held`, { sha256, signature: await by.signMessage({ message: message(sha256) }) });
  expect(await hold(HASH, other)).toMatchObject({ status: 401, body: { error: expect.stringContaining(message(HASH)) } });
  expect((await hold(HASH, wallet, crypto.randomUUID())).status).toBe(404);
  expect((await post(`/receipts/${id}/held`, { sha256: 'no', signature: '0x' })).status).toBe(400);
  expect((await recordOf(id)).held).toBeNull();

  const first = await hold(HASH, wallet);
  expect(first).toEqual({ status: 200, body: { id, sha256: HASH, heldAt: expect.any(Number), isAsSent: null } });
  expect(await hold(HASH, wallet)).toEqual(first);
  const otherPage = 'c'.repeat(64);
  expect(await hold(otherPage, wallet)).toMatchObject({ status: 409, body: { error: expect.stringContaining(HASH) } });
  await say({ receiptId: id, sha256: HASH, bytes: 10, at: 1_000, outcome: 'delivered' });
  const record = await recordOf(id);
  expect(record.held).toMatchObject({ sha256: HASH, message: message(HASH), isAsSent: true });
  expect(record.body).toEqual({ sha256: HASH, bytes: 10 });
});

test.each([
  ['Express', openExpressSite],
  ['a fetch handler', openFetchSite],
])(
  'the record of a page sold with %s has the hash of what its buyer holds, and says that it was delivered',
  async (_name, open) => {
    const own = await service.site();
    const shop = await open({ serviceUrl: service.baseUrl, apiKey: own.key, origin: `https://${own.host}` });
    const quote = await askQuote(service.baseUrl, own.key, 'trio');
    const payment = await payFor(await service.payer(10_000n), quote);
    const answer = await shop.get('/articles/trio', { 'user-agent': UA.agent, 'payment-signature': payment });
    const page = Buffer.from(await answer.arrayBuffer());
    const sha256 = createHash('sha256').update(page).digest('hex');
    expect(answer.status).toBe(200);
    const licence = answer.headers.get('x-licence') ?? '';
    const { jti } = JSON.parse(Buffer.from(licence.split('.')[1] ?? '', 'base64url').toString()) as { jti: string };
    await expect
      .poll(async () => {
        await shop.flush();
        return recordOf(jti);
      })
      .toMatchObject({ body: { sha256, bytes: page.length }, answer: { outcome: 'delivered', servedAgain: 0, lostAt: null } });
    await shop.close();
  },
);

test('a client that leaves while its payment settles has lost its page: the gate says so, and serves it again without a second charge', async () => {
  const own = await service.site();
  const left = Promise.withResolvers<void>();
  let isSettled = false;
  /** The service's word on the payment comes when the client has left. */
  const late: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (!String(input instanceof Request ? input.url : input).endsWith('/_svc/verify')) return answer;
    isSettled = true;
    await left.promise;
    return answer;
  };
  const shop = await openExpressSite({
    serviceUrl: service.baseUrl,
    apiKey: own.key,
    origin: `https://${own.host}`,
    fetch: late,
  });
  const wallet = await service.payer(10_000n);
  const payment = await payFor(wallet, await askQuote(service.baseUrl, own.key, 'trio'));
  const headers = { 'user-agent': UA.agent, 'payment-signature': payment };
  const gone = send(shop.url, { path: '/articles/trio', headers });
  gone.on('error', () => undefined);
  gone.end();
  await expect.poll(() => isSettled).toBe(true);
  gone.destroy();
  await expect.poll(() => gone.closed).toBe(true);
  setTimeout(() => left.resolve(), 300); // the site has heard of it
  await expect.poll(() => paymentsOf(wallet)).toBe(1);
  const answerOf = async () => {
    await shop.flush();
    return service.database.query<{ outcome: string; payment_id: string }>(
      'select outcome, payment_id from page_answer where tenant_id = $1',
      [own.tenantId],
    );
  };
  await expect.poll(answerOf).toMatchObject([{ outcome: 'lost' }]);
  const [{ payment_id: id } = { payment_id: '' }] = await answerOf();
  await age(id, 3);
  const anew = await payFor(wallet, await askQuote(service.baseUrl, own.key, 'trio'));
  const served = await shop.get('/articles/trio', { ...headers, 'payment-signature': anew });
  expect([served.status, await served.text(), await paymentsOf(wallet)]).toEqual([200, '<p>trio</p>', 1]);
  await expect
    .poll(async () => (await answerOf()) && (await recordOf(id)).answer)
    .toMatchObject({ outcome: 'delivered', servedAgain: 1, lostAt: expect.any(Number) });
  await shop.close();
});
