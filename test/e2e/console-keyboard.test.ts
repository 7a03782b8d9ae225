import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audited, openVisitor, settled } from '../support/browser.ts';
import type { ConsoleSite } from '../support/consoleSite.ts';
import type { ConsoleWindow } from '../support/consoleWindow.ts';
import { CONSOLE, startConsoleWindow, TIME_ZONE } from '../support/consoleWindow.ts';

/** The console by keyboard, on a phone, enlarged, on paper, in the reader's own colours, and over the end of a session. */

let opened: ConsoleWindow;
let world: ConsoleSite;
let page: Page;
let open: ConsoleWindow['open'];
beforeAll(async () => {
  opened = await startConsoleWindow('mary@login.example');
  ({ world, open } = opened);
  page = opened.visitor.page;
  await page.goto(CONSOLE);
  await signIn(page);
});
afterAll(() => opened?.stop());

async function signIn(on: Page, token = world.token): Promise<void> {
  await on.getByLabel('Owner token').fill(token);
  await on.keyboard.press('Enter');
  await on.locator('nav[aria-label="Screens"]').waitFor({ state: 'attached' });
}

/** What has the focus: its label, or its words. */
const focused = (): Promise<string> =>
  page.evaluate(
    `(() => { const at = document.activeElement; return at.getAttribute('aria-label') ?? (at.labels?.[0] ?? at).textContent.trim(); })()`,
  );

const dialogs = () => page.locator('dialog');

test('a dialog opens at its first field, Enter does what its main button does, and the focus is back where it was after Esc, Cancel and success', async () => {
  await open('/access');
  const mint = page.getByRole('button', { name: 'Mint a key' });
  for (const leave of ['Escape', 'Cancel', 'Close']) {
    await mint.focus();
    await page.keyboard.press('Enter');
    await dialogs().waitFor();
    expect(await focused()).toBe('What it is for');
    if (leave === 'Escape') await page.keyboard.press('Escape');
    else await dialogs().getByRole('button', { name: leave }).press('Enter');
    await dialogs().waitFor({ state: 'detached' });
    await expect.poll(focused, { message: leave }).toBe('Mint a key');
  }
  await page.keyboard.press('Enter');
  await dialogs().waitFor();
  await page.keyboard.type('The web server');
  await page.keyboard.press('Enter');
  await dialogs().waitFor({ state: 'detached' });
  await page.getByText('The web server').first().waitFor();
  await expect.poll(focused).toBe('Mint a key');
});

test('a form that is reviewed in a second dialog leads back to itself, then to the button that opened it', async () => {
  await open('/settings');
  await page.getByRole('button', { name: 'Add a rule' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Threshold (percent)').fill('40');
  await page.keyboard.press('Enter');
  await page.getByText('You are told when').waitFor();
  expect(await dialogs().count()).toBe(2);
  await page.keyboard.press('Escape');
  await expect.poll(focused).toBe('Threshold (percent)');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Add it' }).press('Enter');
  await expect.poll(() => dialogs().count()).toBe(0);
  await expect.poll(focused).toBe('Add a rule');
});

test('a row that its own button takes away hands the focus to the screen', async () => {
  await open('/settings');
  const remove = page.getByRole('button', { name: /^Remove: Earnings fall by 40 %/ });
  await remove.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove it' }).press('Enter');
  await remove.waitFor({ state: 'detached' });
  await page.locator('main:focus').waitFor();
});

test('what is chosen or followed inside a screen that is drawn anew leaves the focus on the screen, at its top', async () => {
  await open('/agents');
  await page.getByLabel('Order', { exact: true }).focus();
  await page.getByLabel('Order', { exact: true }).selectOption('HITS');
  await settled(page);
  await page.locator('main:focus').waitFor();
  const missed = page.getByRole('columnheader', { name: 'Missed' });
  await missed.getByRole('link').press('Enter');
  await settled(page);
  expect(await missed.getAttribute('aria-sort')).toBe('descending');
  await page.locator('main:focus').waitFor();
  const row = page.locator('[aria-label="Agents"] tbody a').last();
  await row.focus();
  await page.keyboard.press('Enter');
  await settled(page);
  await page.locator('main:focus').waitFor();
  expect(await page.evaluate('scrollY')).toBe(0);
});

test('on a phone Esc closes the menu, rows are cards with all their figures, and the tab that is looked at is in view', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open('/earnings', { by: 'payments' });
  const [left, right] = (await page.evaluate(
    `(() => { const { left, right } = document.querySelector('.tabs [aria-current]').getBoundingClientRect(); return [left, right]; })()`,
  )) as [number, number];
  expect(left).toBeGreaterThanOrEqual(0);
  expect(right).toBeLessThanOrEqual(390);
  const name = await page.locator('tbody th').first().boundingBox();
  expect(name?.width).toBeGreaterThan(300);
  for (const head of ['Accepted', 'State', 'Buyer', 'Amount'])
    expect(await page.locator(`tbody td[data-head="${head}"]`).first().isVisible(), head).toBe(true);
  expect(await audited(page)).toEqual([]);
  await page.getByRole('button', { name: 'Menu' }).press('Enter');
  await page.locator('.side').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.side').waitFor({ state: 'hidden' });
  expect(await focused()).toBe('Menu');
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('no screen is wider than its window on a small phone, a tablet, or enlarged two and four times', async () => {
  await open('/');
  const paths = await page
    .locator('nav[aria-label="Screens"] a')
    .evaluateAll((all) => all.map((link) => new URL((link as unknown as { href: string }).href).pathname));
  const views = [
    '/earnings?by=payments',
    '/pages?view=prices',
    '/pages?view=rules',
    '/pages?view=crawlers',
    '/webhooks?view=deliveries',
    '/licences?view=offering',
    '/access?view=members',
  ];
  for (const path of [
    ...paths.map((one) => one.slice(CONSOLE.length) || '/'),
    ...views,
    `/earnings/payments/${world.paymentId}`,
  ]) {
    const { pathname, searchParams } = new URL(path, 'http://console');
    await open(pathname, Object.fromEntries(searchParams));
    for (const width of [320, 640, 768, 960]) {
      await page.setViewportSize({ width, height: 800 });
      await settled(page);
      expect(await page.evaluate('document.documentElement.scrollWidth'), `${path} at ${width}`).toBeLessThanOrEqual(width);
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('on paper the chart is whole, and the sheet says of which site, days and zone it is, and when it was printed', async () => {
  await open('/', { window: 'custom', from: '2026-01-05', to: '2026-02-06' });
  await page.setViewportSize({ width: 718, height: 1000 }); // A4 between its margins
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  expect(await page.locator('.printed').isVisible()).toBe(true);
  const text = (await page.locator('.printed, .head').allTextContents()).join(' ');
  for (const said of [world.site.host, '5 Jan – 6 Feb', 'Berlin time', 'Printed ', TIME_ZONE]) expect(text).toContain(said);
  expect(await page.locator('main select:visible, nav:visible, .button:visible').count()).toBe(0);
  const boxes = await page.locator('.trend svg').evaluateAll((all) =>
    all.map((svg) => {
      const [outer, last] = [svg.closest('.panel'), svg.querySelector('g:last-of-type rect:last-child')];
      return [outer?.getBoundingClientRect().right ?? 0, last?.getBoundingClientRect().right ?? 0];
    }),
  );
  for (const [outer = 0, last = 0] of boxes) expect(last).toBeLessThanOrEqual(outer);
  await page.emulateMedia({ media: null });
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('in the reader’s own colours the screen that is looked at and the series of a chart can be told apart', async () => {
  await open('/');
  await page.emulateMedia({ forcedColors: 'active' });
  const outline = await page.locator('.side a[aria-current]').evaluate((link) => getComputedStyle(link).outlineStyle);
  expect(outline).toBe('solid');
  const fills = await page
    .locator('.trend .legend i')
    .evaluateAll((all) => all.map((mark) => getComputedStyle(mark).backgroundColor));
  expect(new Set(fills).size).toBe(fills.length);
  await page.emulateMedia({ forcedColors: null });
});

test('what was typed when a session ended is there again once the same person has signed in, and nobody else sees it', async () => {
  const other = await openVisitor(opened.baseUrl, { timezoneId: TIME_ZONE });
  const endThem = async (): Promise<void> => {
    await other.page.goto(CONSOLE);
    await other.page.locator('.account, .sign-in').first().waitFor({ state: 'attached' });
    if (await other.page.getByLabel('Owner token').isVisible()) await signIn(other.page);
    await settled(other.page);
    await other.page.locator('.account summary').click();
    await other.page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  };
  await open('/settings');
  await page.getByLabel('What the site writes of').fill('Tides and trains');
  await page.getByRole('button', { name: 'Add a rule' }).press('Enter');
  await page.getByLabel('Threshold (percent)').fill('31');
  await endThem();
  await page.keyboard.press('Enter'); // the review asks nothing; saving does
  await page.getByRole('button', { name: 'Add it' }).press('Enter');
  await page.getByText('Your session has ended').waitFor();
  expect(await page.locator('body').innerHTML()).not.toContain('Tides and trains');
  await signIn(page);
  await page.getByRole('button', { name: 'Add it' }).waitFor();
  await page.getByRole('button', { name: 'Add it' }).press('Enter');
  await expect.poll(() => dialogs().count()).toBe(0);
  expect(await page.getByLabel('What the site writes of').inputValue()).toBe('Tides and trains');
  await page.getByText('Earnings fall by 31 %').first().waitFor();

  await endThem();
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.getByText('Your session has ended').waitFor();
  await signIn(page, world.emptyToken);
  await page.goBack();
  await settled(page);
  await other.close();
});

test('an address with its filters is kept over every way to sign in', async () => {
  const fresh = await openVisitor(opened.baseUrl, { timezoneId: TIME_ZONE });
  const search = `?site=${world.site.tenantId}&window=LAST_7_DAYS&by=author&refused=unknown_credential`;
  await fresh.page.goto(`${CONSOLE}/earnings${search}`);
  await fresh.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  const links = await fresh.page.locator('main a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
  for (const link of links)
    expect(new URL(link, opened.baseUrl).searchParams.get('return')).toBe(
      `/earnings?site=${world.site.tenantId}&window=LAST_7_DAYS&by=author`,
    );
  await signIn(fresh.page);
  expect(new URL(fresh.page.url()).search).toContain('window=LAST_7_DAYS&by=author');
  await fresh.close();
});
