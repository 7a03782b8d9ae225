/** The buyer's tool at gates of the whole service: within the envelope, and what is paid once is paid once, whatever dies when. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Budget } from '../../packages/agent/src/index.ts';
import { payingFetch } from '../../packages/agent/src/index.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import type { AgentHome } from '../support/agentHome.ts';
import { newAgentHome } from '../support/agentHome.ts';
import type { Passage } from '../support/agentProcess.ts';
import { openPassage, runAgent, startAgent } from '../support/agentProcess.ts';
import { ALPHA_PRICING } from '../support/api.ts';
import { addressOf } from '../support/payments.ts';
import type { TestService } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';

const FUNDS = 200_000n;
/** Of every page of the site, in micro-USDC. */
const PRICE = 1_000n;
const SLUGS = Array.from({ length: 50 }, (_, index) => `page-${index}`);

let service: TestService;
let host: string;
let shop: Shop;
let passage: Passage;
let home: AgentHome;

beforeAll(async () => {
  service = await useTestService();
  const { contributors } = ALPHA_PRICING.creditsInline.trio;
  const pages = Object.fromEntries(SLUGS.map((slug) => [slug, { contributors }]));
  const site = await service.site({ pricing: { ...ALPHA_PRICING, creditsInline: { ...ALPHA_PRICING.creditsInline, ...pages } } });
  host = site.host;
  shop = await openShop(service, site);
});
afterAll(async () => {
  await shop?.close();
  await service?.stop();
});
beforeEach(async () => {
  home = newAgentHome();
  await mintUsdc(service.chain.rpcUrl, addressOf(home.account), FUNDS);
  passage = await openPassage(shop.url);
});
afterEach(async () => {
  home.remove();
  await passage.close();
});

const page = (slug: string): string => `${passage.url}/articles/${slug}`;
const budget = (more: Budget = {}): Budget => ({ home: home.folder, ...more });

async function paidMicro(): Promise<bigint> {
  const [left = 0n] = await balancesOf(service, [addressOf(home.account)]);
  return FUNDS - left;
}

const records = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('a page of three authors is bought once and read again free; the ledger has what was signed and what came of it', async () => {
  const first = await payingFetch(budget())(page('trio'));
  expect([first.status, await first.text(), await paidMicro()]).toEqual([200, '<p>trio</p>', PRICE]);
  const again = await payingFetch(budget())(page('trio'));
  expect([again.status, await again.text(), await paidMicro(), passage.payments.length]).toEqual([200, '<p>trio</p>', PRICE, 1]);
  expect(home.lines()).toMatchObject([
    { type: 'signed', url: page('trio'), amountMicro: String(PRICE) },
    { type: 'paid', transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/), licence: expect.any(String) },
  ]);
});

test('an answer that is lost after the money moved: the next process sends the same payment, and pays once', async () => {
  passage.after = (number) => number === 1;
  await expect(payingFetch(budget())(page('trio'))).rejects.toThrow();
  expect(home.lines().map(({ type }) => type)).toEqual(['signed']);
  const again = await payingFetch(budget())(page('trio'));
  expect([again.status, await again.text(), await paidMicro()]).toEqual([200, '<p>trio</p>', PRICE]);
  expect(new Set(passage.payments).size).toBe(1);
});

test('a process that is killed between its signature and the answer has paid once when it is run again', async () => {
  const first = startAgent(home, ['read', page('trio')]);
  passage.after = (number) => {
    if (number === 1) first.child.kill('SIGKILL');
    return number === 1;
  };
  expect((await first.said).code).toBeNull();
  const again = await runAgent(home, ['read', page('trio'), '--json']);
  expect([again.code, records(again.out)[0]]).toMatchObject([0, { how: 'bought', usdc: '0.001', text: '<p>trio</p>' }]);
  expect([await paidMicro(), new Set(passage.payments).size]).toEqual([PRICE, 1]);
});

test('fifty pages wanted by two processes at once: the envelope is spent to its last micro, and not exceeded by one', async () => {
  home.limit({ period: 'day', total: '0.010999' });
  const halves = [SLUGS.slice(0, 25), SLUGS.slice(25)].map((half) => runAgent(home, ['buy', '--json', ...half.map(page)]));
  const said = await Promise.all(halves);
  const outcomes = said.flatMap(({ out }) => records(out));
  expect([
    outcomes.filter(({ how }) => how === 'bought').length,
    outcomes.filter(({ error }) => error === 'over_limit').length,
  ]).toEqual([10, 40]);
  expect([await paidMicro(), new Set(passage.payments).size]).toEqual([10n * PRICE, 10]);
  expect(said.map(({ code }) => code)).toEqual([3, 3]);
});

test('fifty calls for one page at once, in one process, pay once', async () => {
  const read = payingFetch(budget());
  const answers = await Promise.all(Array.from({ length: 50 }, () => read(page('solo')).then(({ status }) => status)));
  expect([new Set(answers), await paidMicro(), new Set(passage.payments).size]).toEqual([new Set([200]), PRICE, 1]);
});

test('a batch that is killed half-way goes on where it was: every page is paid for once, and every text is there', async () => {
  const out = mkdtempSync(join(tmpdir(), 'pages-'));
  const wanted = SLUGS.slice(0, 20);
  const buying = ['buy', '-', '--out', out, '--json'];
  const input = wanted.map(page).join('\n');
  const first = startAgent(home, buying, { input });
  passage.after = (number) => {
    if (number >= 7) first.child.kill('SIGKILL');
    return number >= 7 && number < 11;
  };
  expect((await first.said).code).toBeNull();
  expect(readdirSync(out).length).toBeLessThan(20);
  passage.after = () => false;
  const second = await runAgent(home, buying, { input });
  expect(second.code, second.err).toBe(0);
  const texts = readdirSync(out)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => readFileSync(join(out, name), 'utf8'));
  expect(texts.sort()).toEqual(wanted.map((slug) => `<p>${slug}</p>`).sort());
  expect([await paidMicro(), new Set(passage.payments).size]).toEqual([20n * PRICE, 20]);
  const third = await runAgent(home, buying, { input });
  expect([third.code, third.out, third.err]).toEqual([0, '', '20 pages are there already.\n']);
  rmSync(out, { recursive: true });
});

test('what a gate refuses counts, and goes again as it is while it could still be settled: nothing new is signed', async () => {
  const poor = newAgentHome();
  const fetchPage = payingFetch({ home: poor.folder });
  expect((await fetchPage(page('trio'))).status).toBe(402);
  expect((await fetchPage(page('trio'))).status).toBe(402);
  expect(poor.lines()).toMatchObject([{ type: 'signed' }, { type: 'refused' }]);
  expect([passage.payments.length, new Set(passage.payments).size]).toEqual([2, 1]);
  poor.remove();
});

test('a wallet that was empty pays by what it signed then, as soon as it holds money: the service remembers no refusal for want of it', async () => {
  const empty = newAgentHome();
  try {
    const read = payingFetch({ home: empty.folder });
    const refused = await read(page('trio'));
    expect([refused.status, atob(refused.headers.get('payment-required') ?? '')]).toEqual([
      402,
      expect.stringContaining('insufficient_funds'),
    ]);
    await mintUsdc(service.chain.rpcUrl, addressOf(empty.account), PRICE);
    const bought = await payingFetch({ home: empty.folder })(page('trio'));
    expect([bought.status, await bought.text(), new Set(passage.payments).size]).toEqual([200, '<p>trio</p>', 1]);
    expect(await balancesOf(service, [addressOf(empty.account)])).toEqual([0n]);
  } finally {
    empty.remove();
  }
});

test('a stop holds in the next call; a price above approveAbove waits for a yes, which is good once', async () => {
  home.limit({ total: '1', approveAbove: '0.0005' });
  expect(await runAgent(home, ['read', page('trio')])).toMatchObject({
    code: 3,
    out: '',
    err: expect.stringContaining("asks for a person's yes"),
  });
  expect((await runAgent(home, ['approve', page('trio'), '--max', '0.001'])).code).toBe(0);
  expect((await runAgent(home, ['read', page('trio')])).code).toBe(0);
  expect((await runAgent(home, ['read', page('duo')])).code).toBe(3);
  const read = payingFetch(budget());
  home.limit({ total: '1', stop: true });
  await expect(read(page('duo'))).rejects.toMatchObject({ code: 'stopped' });
  expect(await paidMicro()).toBe(PRICE);
});

test('--dry-run and quote sign nothing; --max is the most that a command pays, all pages together', async () => {
  const dry = await runAgent(home, ['buy', '--dry-run', '--json', page('trio'), page('duo')]);
  expect([dry.code, records(dry.out).map(({ error }) => error)]).toEqual([0, ['dry_run', 'dry_run']]);
  const quoted = await runAgent(home, ['quote', '--json', page('trio'), `${passage.url}/articles/free`]);
  expect(records(quoted.out)).toMatchObject([
    { usdc: '0.001', isHeld: false, mayRead: true },
    { usdc: '0', mayRead: true },
  ]);
  expect(passage.payments).toEqual([]);
  const bought = await runAgent(home, ['buy', '--json', '--max', '0.0025', page('trio'), page('duo'), page('solo')]);
  expect([bought.code, await paidMicro()]).toEqual([3, 2n * PRICE]);
});

test('licences: priced, bought once though the process is killed at the answer, listed, and good for reading', async () => {
  const toService = await openPassage(service.baseUrl);
  const environment = { CONTENT_SETTLEMENT_SERVICE: toService.url };
  const order = ['--host', host, '--scope', '/articles/duo', '--scope', '/articles/trio', '--max', '1'];
  home.limit({ total: '1', perHost: '0.5' });
  const quoted = await runAgent(home, ['licence', 'quote', ...order], { environment });
  const { priceMicro } = JSON.parse(quoted.out) as { priceMicro: number };
  const first = startAgent(home, ['licence', 'buy', ...order], { environment });
  toService.after = (number) => {
    if (number === 1) first.child.kill('SIGKILL');
    return number === 1;
  };
  expect((await first.said).code).toBeNull();
  const second = await runAgent(home, ['licence', 'buy', ...order], { environment });
  const bought = JSON.parse(second.out) as { license: string };
  expect([second.code, bought]).toMatchObject([0, { priceMicro }]);
  expect(await runAgent(home, ['licence', 'buy', ...order], { environment })).toMatchObject({ code: 3 });
  expect([await paidMicro(), new Set(toService.payments).size]).toEqual([BigInt(priceMicro), 1]);
  const listed = await runAgent(home, ['licences'], { environment });
  expect(JSON.parse(listed.out).licences).toHaveLength(1);
  const spending = JSON.parse((await runAgent(home, ['spending'])).out);
  expect(spending.byHost).toEqual([{ host, spentUsdc: String(priceMicro / 1_000_000) }]);
  const headers = { authorization: `License ${bought.license}` };
  for (const slug of ['duo', 'trio']) expect(await (await fetch(page(slug), { headers })).text()).toBe(`<p>${slug}</p>`);
  expect((await fetch(page('page-1'), { headers })).status).toBe(402);
  expect(await paidMicro()).toBe(BigInt(priceMicro));
  await toService.close();
});

test('the key is in no output, error or ledger, whatever is done with it', async () => {
  const secret = home.privateKey.slice(2);
  const environment = { CONTENT_SETTLEMENT_KEY: home.privateKey, CONTENT_SETTLEMENT_SERVICE: service.baseUrl };
  const wrong = { ...environment, CONTENT_SETTLEMENT_KEY: `${home.privateKey}00` };
  const runs = [
    ['key', 'address'],
    ['key', 'new'],
    ['read', page('trio'), '--json'],
    ['buy', page('duo'), home.privateKey],
    ['spending'],
    ['licences'],
    ['read', 'http://127.0.0.1:1/x'],
    ['receipt', home.privateKey],
    [home.privateKey],
    ['read', page('trio'), '--max', home.privateKey],
  ];
  const said = [];
  for (const argv of runs) said.push(await runAgent(home, argv, { environment }));
  said.push(await runAgent(home, ['read', page('trio')], { environment: wrong }));
  const told = said.map(({ out, err }) => out + err).join('\n');
  expect(told).not.toContain(secret.slice(0, 16));
  expect(home.ledgerText()).not.toContain(secret.slice(0, 16));
  expect(said[2]?.code).toBe(0);
});
