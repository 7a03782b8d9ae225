import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settled } from '../support/browser.ts';
import type { ConsoleSite } from '../support/consoleSite.ts';
import type { ConsoleWindow } from '../support/consoleWindow.ts';
import { CONSOLE, startConsoleWindow } from '../support/consoleWindow.ts';

/** While an answer is on its way, and where it never comes, no screen shows the figures of another question below the words of this one. */

let opened: ConsoleWindow;
let world: ConsoleSite;
let page: Page;
let open: ConsoleWindow['open'];
beforeAll(async () => {
  opened = await startConsoleWindow('vera@login.example');
  ({ world, open } = opened);
  page = opened.visitor.page;
  await page.goto(CONSOLE);
  await page.getByLabel('Owner token').fill(world.token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
afterAll(() => opened?.stop());

type Parameters = Readonly<Record<string, string>>;

/** A screen as it is opened, and each parameter of its address, or the path, as it is changed then. */
interface Case {
  readonly path: string;
  readonly query?: Parameters;
  readonly changes: readonly Parameters[];
}

const DAYS = { window: 'custom', from: '2026-01-05', to: '2026-02-06' };
const WINDOWS: readonly Parameters[] = [{ window: 'TODAY' }, { window: 'PREVIOUS_MONTH' }, { window: 'LAST_90_DAYS' }, DAYS];
const FILTERS: readonly Parameters[] = [
  { slug: 'page-x' },
  { authorId: 'author-x' },
  { author: `0x${'ab'.repeat(20)}` },
  { agent: 'agent-x' },
  { host: 'elsewhere.example' },
  { purpose: 'TRAIN' },
  { kind: 'CITATION' },
  { payer: `0x${'cd'.repeat(20)}` },
];

/** A month such as 2026-10, so many before this one. */
function monthBack(months: number): string {
  const now = new Date();
  const month = new Date(now.getFullYear(), now.getMonth() - months, 1);
  return `${month.getFullYear()}-${String(month.getMonth() + 1).padStart(2, '0')}`;
}

const CASES = (): readonly Case[] => [
  { path: '/', changes: WINDOWS },
  {
    path: '/earnings',
    changes: [
      ...WINDOWS,
      ...FILTERS,
      ...['author', 'agent', 'host', 'purpose', 'kind', 'buyer', 'payments'].map((by) => ({ by })),
      { sort: 'EVENTS' },
    ],
  },
  {
    path: '/earnings',
    query: { by: 'payments' },
    changes: [...WINDOWS, ...FILTERS.filter(({ agent }) => !agent), { state: 'FAILED' }, { order: 'SMALLEST' }],
  },
  {
    path: '/agents',
    changes: [...WINDOWS, { agent: 'agent-x' }, { agent: 'other', name: 'Name x' }, { sort: 'UNANSWERED' }, { price: '0.5' }],
  },
  { path: '/statements', query: { month: monthBack(0) }, changes: [{ month: monthBack(1) }, { month: monthBack(2) }] },
  { path: '/licences', changes: [{ show: 'ending' }, { show: 'all' }, { view: 'offering' }] },
  { path: '/pages', changes: [{ q: 'x' }, { state: 'FREE' }, { view: 'prices' }, { view: 'rules' }, { view: 'crawlers' }] },
  { path: '/audit-log', changes: [...WINDOWS, { action: 'key.minted' }, { who: 'x' }, { what: 'x' }] },
  {
    path: `/earnings/payments/${world.paymentId}`,
    changes: [{ path: '/earnings/payments/019ac000-0000-7000-8000-000000000000' }],
  },
];

const HOW: Readonly<Record<string, (route: Route, released: Promise<void>) => Promise<void>>> = {
  held: async (route, released) => {
    await released;
    await route.abort();
  },
  failing: (route) => route.abort(),
  throttled: (route) => route.fulfill({ status: 429, json: { error: 'throttled: Too many calls. Try again in 3 seconds.' } }),
};

/** Whatever of an answer is on the page: texts with a digit in figures, tables, rankings, charts and facts. */
function figures(): Promise<readonly string[]> {
  return page.locator('main').evaluate((main) => {
    const found: string[] = [];
    for (const box of main.querySelectorAll(
      '.value, .figure .note, tbody, tfoot, .bars, .legend, .tick, .facts dd, .way, .panel h2',
    )) {
      const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
      for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        const text = (node.textContent ?? '').trim();
        if (/\d/.test(text)) found.push(text);
      }
    }
    return found;
  });
}

/** Follows an address as a link of the console does, without a new page. */
async function follow(path: string, query: Parameters): Promise<void> {
  const search = new URLSearchParams({ site: world.site.tenantId, ...query }).toString();
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`${CONSOLE}${path === '/' ? '' : path}?${search}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}

test('no figure of the former answer is on the page when any parameter of any screen changes, with the network held, failing or throttled', async () => {
  let asked = 0;
  await open('/');
  for (const { path, query = {}, changes } of CASES()) {
    for (const { path: to = path, ...change } of changes) {
      for (const [how, answer] of Object.entries(HOW)) {
        const said = `${path} ${JSON.stringify(query)} to ${JSON.stringify(change)}, ${how}`;
        await follow(path, query);
        await settled(page);
        expect((await figures()).length, said).toBeGreaterThan(0);
        const released = Promise.withResolvers<void>();
        let isDown = true;
        await page.route('**/graphql', (route) => (isDown ? answer(route, released.promise) : route.continue()));
        const request = page.waitForRequest((one) => one.url().endsWith('/graphql'));
        await follow(to, { ...query, ...change });
        await request;
        asked += 1;
        await page
          .locator(how === 'held' ? '.skeleton' : '.notice.bad')
          .first()
          .waitFor({ timeout: 20_000 });
        expect(await figures(), said).toEqual([]);
        if (how === 'throttled') expect(await page.locator('main').textContent(), said).toContain('Too many calls');
        isDown = false;
        await follow(path, query);
        released.resolve();
        await settled(page);
        await page.unroute('**/graphql');
      }
    }
  }
  expect(asked).toBeGreaterThan(100);
});

test('a question that failed is asked again by itself, and its figures come when the service is back', async () => {
  await open('/');
  const before = await figures();
  opened.line.cut();
  try {
    await follow('/agents', {});
    await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
  } finally {
    opened.line.mend();
  }
  await page.getByRole('columnheader', { name: 'Requests' }).waitFor(); // nobody pressed anything
  await follow('/', {});
  await settled(page);
  expect(await figures()).toEqual(before);
});

test('a further page of a list that fails says so, and the button stays', async () => {
  await open('/earnings', { by: 'payments', window: 'LAST_90_DAYS' });
  const rows = page.locator('tbody tr');
  const shown = await rows.count();
  const more = page.getByRole('button', { name: 'Show more' });
  opened.line.cut();
  try {
    await more.focus();
    await page.keyboard.press('Enter');
    await page.locator('.more .error').filter({ hasText: 'cannot be reached' }).waitFor();
    expect(await rows.count()).toBe(shown);
  } finally {
    opened.line.mend();
  }
  await page.keyboard.press('Enter');
  await rows.nth(shown).waitFor();
  expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Show more');
  expect(await page.locator('.more [role=status]').textContent()).toContain(`${await rows.count()} `);
  while (await more.isVisible()) {
    const now = await rows.count();
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await rows.count()) > now).toBe(true);
    await settled(page);
  }
  await page.locator('.more p:focus').waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toBe(`All ${await rows.count()} are shown`);
});
