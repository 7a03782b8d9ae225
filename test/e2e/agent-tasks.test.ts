/** Ten tasks of an agent over `POST /_svc/mcp`, as an account with a budget: on a whole service, with the chain and the ledger as witnesses. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideApproval, listApprovals } from '../../modules/budgets/store/approvals.ts';
import { limits } from '../../sandbox/limits.ts';
import type { Agent, AgentWorld, Told } from '../support/agentWorld.ts';
import { pageIn, startAgentWorld } from '../support/agentWorld.ts';
import { WALLETS } from '../support/api.ts';
import type { TestSite } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { moneyVerdicts } from '../support/verify.ts';

const FUNDS = 1_000_000n;
let world: AgentWorld;
let kelp: TestSite;
let reef: TestSite;

beforeAll(async () => {
  world = await startAgentWorld();
  kelp = await world.site('kelp', '0.001', { forest: 'Kelp forests', tides: 'Kelp and the tides', urchin: 'Kelp and urchins' });
  reef = await world.site('reef', '0.004', { coral: 'Coral after kelp', shark: 'Sharks' });
});
afterAll(() => world?.stop());

const urlOf = (site: TestSite, slug: string): string => `https://${site.host}/articles/${slug}`;
const paidMicro = async ({ wallet }: Agent): Promise<bigint> => {
  const [left = 0n] = await balancesOf(world.service, [wallet.address]);
  return FUNDS - left;
};
const textOf = (told: Told): string => told.content[0].text;
/** A refusal that offers nothing to pay, in any dialect. */
function expectNoOffer(told: Told, code: string): void {
  expect(textOf(told)).toMatch(new RegExp(`^${code}: `));
  expect(told.isError).toBe(true);
  expect(JSON.stringify(told)).not.toMatch(/"accepts"|payTo|payment_required|x402\/error/);
}

test('1: finds the pages about a subject across sites, and those alone that cost no more than it likes', async () => {
  const agent = await world.agent(FUNDS, {});
  const all = await agent.call('find_pages', { query: 'kelp' });
  const found = all.structuredContent.pages.map(({ url }: { url: string }) => url).toSorted();
  expect(found).toEqual([urlOf(kelp, 'forest'), urlOf(kelp, 'tides'), urlOf(kelp, 'urchin'), urlOf(reef, 'coral')].toSorted());
  const cheap = await agent.call('find_pages', { query: 'kelp', maxPriceMicro: 1_000 });
  expect(new Set(cheap.structuredContent.pages.map(({ host }: { host: string }) => host))).toEqual(new Set([kelp.host]));
  expect(await paidMicro(agent)).toBe(0n);
});

test('2: compares pages of two sites in one call, with who is paid', async () => {
  const agent = await world.agent(FUNDS, {});
  const urls = [urlOf(reef, 'coral'), urlOf(kelp, 'forest'), 'https://nobody.example/articles/x'];
  const { pages } = (await agent.call('quote_pages', { urls })).structuredContent;
  expect(pages).toMatchObject([{ url: urls[0] }, { url: urls[1] }, { url: urls[2] }]);
  expect(JSON.stringify(pages[0])).toContain('4000');
  expect(JSON.stringify(pages[1])).toContain('1000');
  expect(JSON.stringify(pages[2])).not.toContain('payTo');
  expect(await paidMicro(agent)).toBe(0n);
});

test('3: buys a page within its budget: three authors are paid on chain, and the text comes with its address and a licence', async () => {
  const agent = await world.agent(FUNDS, { totalMicro: 5_000n });
  const before = await balancesOf(world.service, WALLETS);
  const url = urlOf(kelp, 'forest');
  const told = await agent.buy('buy_page', { url });
  expect(told).toMatchObject({ structuredContent: { state: 'bought', chargedMicro: 1_000, license: expect.any(String) } });
  expect(pageIn(told)).toMatchObject({ uri: url, text: expect.stringContaining('The whole article forest.') });
  const after = await balancesOf(world.service, WALLETS);
  expect(after.map((micro, at) => micro - (before[at] ?? 0n))).toEqual([500n, 300n, 200n, 0n]);
  expect([await paidMicro(agent), await agent.spentMicro()]).toEqual([1_000n, 1_000n]);
});

test('4: reads a page again, by its account and by a licence in its hands, and nothing is charged', async () => {
  const agent = await world.agent(FUNDS, {});
  const url = urlOf(kelp, 'tides');
  const { license } = (await agent.buy('buy_page', { url })).structuredContent;
  const again = await agent.call('read_held', { url });
  expect(again.structuredContent).toMatchObject({ state: 'held' });
  expect(pageIn(again)?.text).toContain('The whole article tides.');
  expect((await agent.buy('buy_page', { url })).structuredContent).toMatchObject({ state: 'held' });
  const stranger = await world.agent(0n, {});
  expect(pageIn(await stranger.call('read_held', { url, license }))?.text).toContain('The whole article tides.');
  expect((await stranger.call('read_held', { url })).structuredContent).toMatchObject({ state: 'not_held' });
  expect([await paidMicro(agent), await agent.spentMicro()]).toEqual([1_000n, 1_000n]);
});

test('5: is refused above each of its limits, without an offer, before it signs and when it signed before the limit was there', async () => {
  const agent = await world.agent(FUNDS, {});
  const ask = { url: urlOf(reef, 'coral') };
  const payment = await agent.sign(await agent.call('buy_page', ask));
  for (const limit of [{ pageMicro: 3_999n }, { pageMicro: null, hostMicro: 3_999n }, { hostMicro: null, totalMicro: 3_999n }]) {
    await agent.allow(limit);
    expectNoOffer(await agent.call('buy_page', ask), 'budget_exceeded');
    expectNoOffer(await agent.call('buy_page', ask, { payment }), 'budget_exceeded');
  }
  expect([await paidMicro(agent), await agent.spentMicro()]).toEqual([0n, 0n]);
  await agent.allow({ totalMicro: 4_000n });
  expect((await agent.call('buy_page', ask, { payment })).structuredContent).toMatchObject({ state: 'bought' });
  expectNoOffer(await agent.call('buy_page', { url: urlOf(kelp, 'urchin') }), 'budget_exceeded');
  expect(await paidMicro(agent)).toBe(4_000n);
});

test('6: asks its owner about what costs more than it may decide alone, once, and buys it once when he says yes', async () => {
  const agent = await world.agent(FUNDS, { approveAboveMicro: 1_000n });
  const ask = { url: urlOf(reef, 'shark') };
  expectNoOffer(await agent.call('buy_page', ask), 'approval_required');
  expectNoOffer(await agent.call('buy_page', ask), 'approval_required');
  const { database } = world.service;
  const [asked, ...others] = await listApprovals(database, agent.accountId, 10);
  expect([asked, others]).toMatchObject([{ resource: ask.url, amountMicro: 4_000n, state: 'asked' }, []]);
  await decideApproval(database, { accountId: agent.accountId, approvalId: asked?.approvalId ?? '', isApproved: true });
  expect((await agent.buy('buy_page', ask)).structuredContent).toMatchObject({ state: 'bought' });
  expect(await listApprovals(database, agent.accountId, 10)).toMatchObject([{ state: 'used' }]);
  expect((await agent.buy('buy_page', { url: urlOf(kelp, 'forest') })).structuredContent).toMatchObject({ state: 'bought' });
  expect(await paidMicro(agent)).toBe(5_000n);
});

test('7: is stopped by its owner in the very next call, also with a payment that was signed before', async () => {
  const agent = await world.agent(FUNDS, {});
  const ask = { url: urlOf(kelp, 'forest') };
  const payment = await agent.sign(await agent.call('buy_page', ask));
  await agent.allow({ isStopped: true });
  expectNoOffer(await agent.call('buy_page', ask), 'budget_exceeded');
  expectNoOffer(await agent.call('buy_page', ask, { payment }), 'budget_exceeded');
  expect(await paidMicro(agent)).toBe(0n);
});

test('8: buys a licence over many pages for a period, finds it in its list, and reads each of them by it', async () => {
  const agent = await world.agent(FUNDS, {});
  const ask = { host: kelp.host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' };
  const quote = (await agent.call('quote_licence', ask)).structuredContent;
  expect(quote).toMatchObject({ priceMicro: 3_000, resourceCount: 3 });
  const bought = (await agent.buy('buy_licence', ask)).structuredContent;
  expect(bought).toMatchObject({ state: 'bought', priceMicro: 3_000, jti: expect.any(String) });
  const { licences } = (await agent.call('list_licences', {})).structuredContent;
  expect(licences).toMatchObject([{ jti: bought.jti, host: kelp.host }]);
  for (const slug of ['forest', 'tides', 'urchin']) {
    const read = await agent.call('read_held', { url: urlOf(kelp, slug) });
    expect(pageIn(read)?.text).toContain(`The whole article ${slug}.`);
  }
  expect([await paidMicro(agent), await agent.spentMicro()]).toEqual([3_000n, 3_000n]);
});

test('9: checks its receipt, and one of which a letter was changed is none', async () => {
  const agent = await world.agent(FUNDS, {});
  const told = await agent.buy('buy_page', { url: urlOf(kelp, 'urchin') });
  const settled = told._meta['x402/payment-response'];
  const jws: string = settled.extensions['offer-receipt'].info.receipt.signature;
  expect(told.structuredContent).toMatchObject({ jws, record: settled.extensions['offer-receipt'].info.record });
  const checked = (await agent.call('check_receipt', { jws })).structuredContent;
  expect(checked).toMatchObject({
    valid: true,
    receipt: { resourceUrl: urlOf(kelp, 'urchin'), transaction: settled.transaction },
  });
  const [head, body = '', signature] = jws.split('.');
  const forged = [head, `${body.slice(0, -3)}${body.endsWith('AAA') ? 'BBB' : 'AAA'}`, signature].join('.');
  expect((await agent.call('check_receipt', { jws: forged })).structuredContent).toMatchObject({ valid: false });
});

test('10: survives a worker that was killed with its payment undecided: no offer meanwhile, and the same payment again is charged once', async () => {
  const agent = await world.agent(FUNDS, {});
  const ask = { url: urlOf(reef, 'coral') };
  const payment = await agent.sign(await agent.call('buy_page', ask));
  await Promise.all(world.service.workers.map((worker) => worker.kill()));
  const { url: baseUrl } = await world.service.startApi(limits({ settleWaitMs: 500 }));
  expectNoOffer(await agent.call('buy_page', ask, { payment, baseUrl }), 'settlement_pending');
  expectNoOffer(await agent.call('buy_page', ask, { payment, baseUrl }), 'settlement_pending');
  await world.service.startWorker();
  await expect
    .poll(async () => (await agent.call('buy_page', ask, { payment, baseUrl })).structuredContent)
    .toMatchObject({ state: 'bought' });
  expect((await agent.call('buy_page', ask)).structuredContent).toMatchObject({ state: 'held' });
  expect([await paidMicro(agent), await agent.spentMicro()]).toEqual([4_000n, 4_000n]);
});

test('and no payment of all these tasks was made twice, failed, or is left open', async () => {
  const verdicts = [...(await moneyVerdicts(world.service, kelp)), ...(await moneyVerdicts(world.service, reef))];
  expect(new Set(verdicts)).toEqual(new Set(['paid']));
});
