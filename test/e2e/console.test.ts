import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/browser.ts';
import { audited, openVisitor, settled } from '../support/browser.ts';
import type { ConsoleSite } from '../support/consoleSite.ts';
import { HOSTILE } from '../support/consoleSite.ts';
import type { ConsoleWindow } from '../support/consoleWindow.ts';
import { CONSOLE, startConsoleWindow, TIME_ZONE } from '../support/consoleWindow.ts';
import type { CutProxy } from '../support/proxy.ts';

let opened: ConsoleWindow;
let line: CutProxy;
let baseUrl: string;
let world: ConsoleSite;
let visitor: Visitor;
let page: Page;
let open: ConsoleWindow['open'];
beforeAll(async () => {
  opened = await startConsoleWindow('grace@login.example');
  ({ line, baseUrl, world, visitor, open } = opened);
  page = visitor.page;
});
afterAll(() => opened?.stop());

/** Addresses of all screens in the menu, and those that only other screens lead to. */
async function screens(): Promise<readonly string[]> {
  const links = await page
    .locator('nav[aria-label="Screens"] a')
    .evaluateAll((all) => all.map((link) => new URL((link as unknown as { href: string }).href).pathname));
  return [...links.map((path) => path.slice(CONSOLE.length) || '/'), `/earnings/payments/${world.paymentId}`];
}

test('an owner signs in with his token, which is in no address and nothing that the page keeps', async () => {
  await page.goto(CONSOLE);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await audited(page)).toEqual([]);
  const field = page.getByLabel('Owner token');
  await field.fill(`svc_owner_${'x'.repeat(43)}`);
  await page.getByRole('button', { name: 'Sign in with the token' }).click();
  await page.locator('.field .error').waitFor();
  await field.fill(world.token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(page.url()).not.toContain(world.token);
  expect(
    await page.evaluate(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML])',
    ),
  ).not.toContain(world.token.slice(10));
});

test('whoever the identity provider did not sign in is told why, in our words alone, until they are signed in', async () => {
  const other = await openVisitor(baseUrl);
  await other.page.goto(`${CONSOLE}?refused=identity_unavailable`);
  await other.page.getByText('The identity provider cannot be reached right now.').waitFor();
  expect(await audited(other.page)).toEqual([]);
  await other.page.goto(`${CONSOLE}?refused=call+this+number`);
  await other.page.getByText('The identity provider did not sign you in.').waitFor();
  expect(await other.page.locator('body').textContent()).not.toContain('call this number');
  await other.page.getByLabel('Owner token').fill(world.token);
  await other.page.keyboard.press('Enter');
  await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(other.page.url()).not.toContain('refused');
  await other.close();
});

test('every screen is without fault for axe-core in light and dark, and fits a phone', async () => {
  await open('/');
  for (const path of await screens()) {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 900 });
    await open(path);
    expect(await page.locator('.notice.bad').allTextContents(), path).toEqual([]);
    expect(await audited(page), `${path}, light`).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await audited(page, 'color-contrast'), `${path}, dark`).toEqual([]); // all else is as it was in light
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth'), `${path}, phone`).toBeLessThanOrEqual(390);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('hostile names are shown as the text they are, wherever they stand', async () => {
  await open('/earnings', { by: 'page' });
  expect(await page.locator('main').textContent()).toContain(HOSTILE[0]);
  for (const by of ['page', 'author', 'agent', 'host', 'payments']) {
    await open('/earnings', { by });
    const more = page.getByRole('button', { name: 'Show more' });
    while (await more.isVisible()) {
      const rows = await page.locator('tbody tr').count();
      await more.click();
      await page.locator('tbody tr').nth(rows).waitFor();
    }
    for (const name of HOSTILE.slice(0, 6)) expect(await page.locator('main').textContent(), by).toContain(name);
  }
  await open('/agents');
  for (const name of HOSTILE.slice(0, 6)) expect(await page.locator('main').textContent()).toContain(name);
  for (const name of HOSTILE) {
    await open('/agents', { agent: name, window: name, sort: name });
    expect(await page.locator('h1').textContent()).toContain(name.slice(0, 4));
    await open('/earnings', { by: name, slug: name, kind: 'READ' });
  }
  expect(
    await page.locator('main img, main script, main iframe, [onerror], [onload], [onmouseover], a[href^="javascript"]').count(),
  ).toBe(0);
});

test('without a network the screen says so, and comes back when it is asked again', async () => {
  await open('/');
  line.cut();
  try {
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
    expect(await audited(page)).toEqual([]);
  } finally {
    line.mend();
  }
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('columnheader', { name: 'Requests' }).waitFor();
});

test('what is on screen while newer figures come stays readable', async () => {
  await open('/agents');
  await open('/');
  await page.emulateMedia({ reducedMotion: 'reduce' }); // at once what it looks like after a while
  const answered = Promise.withResolvers<void>();
  await page.route('**/_svc/graphql*', async (route) => {
    await answered.promise;
    await route.continue();
  });
  try {
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.locator('.await.stale[aria-busy="true"]').first().waitFor();
    expect(await audited(page)).toEqual([]);
  } finally {
    answered.resolve();
    await page.unroute('**/_svc/graphql*');
    await page.emulateMedia({ reducedMotion: null });
  }
  await settled(page);
});

test('the keyboard alone reaches every screen, a chart’s days, and a payment', async () => {
  await open('/');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the screen');
  await page.keyboard.press('Enter');
  await page.locator('.plot').focus();
  await page.keyboard.press('ArrowLeft');
  await page.locator('.legend .when').filter({ hasText: /./ }).waitFor();
  await page.getByRole('link', { name: 'Earnings', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Earnings', exact: true }).waitFor();
  await page.locator('main:focus').waitFor(); // focus moves after the screen is drawn
  await page.getByRole('link', { name: 'Payments', exact: true }).focus();
  await page.keyboard.press('Enter');
  await settled(page);
  await page.locator('.table-frame tbody a').first().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What proves it' }).waitFor();
});

/** What each screen says, and each view of one, where the site has nothing to show. */
const NOTHING: Readonly<Record<string, string>> = {
  '/': 'Nothing was sold or missed in this window',
  '/earnings': 'Nothing was sold in this window.',
  '/earnings?by=payments': 'No payment in this window.',
  '/statements': 'Nobody was paid in this month.',
  '/earnings/payments/': 'The site has no payment with this id.',
  '/agents': 'No agent came by in this window.',
  '/agents?agent=gptbot': 'No request in this window.',
  '/licences': 'No licence is in force.',
  '/licences?show=all': 'No licence was sold yet.',
  '/pages': 'No page yet',
  '/pages?view=prices': 'the first',
  '/pages?view=rules': 'No rule yet',
  '/pages?view=crawlers': 'Gate looks at',
  '/hosts': 'No host yet',
  '/webhooks': 'Nobody is told yet',
  '/webhooks?view=deliveries': 'Nothing was sent yet.',
  '/webhooks/019ac000-0000-7000-8000-000000000000': 'It may have been deleted.',
  '/settings': 'No rule yet: nobody is told when something goes wrong.',
  '/setup': '2 of 8 done',
  '/access': 'No key yet',
  '/access?view=members': 'Nobody yet',
  '/audit-log': 'Nothing was changed in this window.',
  '/no/such/screen': 'No screen has this address.',
};

test('a site on which nothing happened says so on every screen', async () => {
  await open('/');
  const known = (await screens()).map((path) => path.replace(world.paymentId, ''));
  expect(known.filter((path) => !(path in NOTHING))).toEqual([]);
  const other = await openVisitor(baseUrl, { timezoneId: TIME_ZONE });
  await other.page.goto(CONSOLE);
  await other.page.getByLabel('Owner token').fill(world.emptyToken);
  await other.page.keyboard.press('Enter');
  await other.page.getByText('Nothing was sold or missed').waitFor();
  for (const [path, said] of Object.entries(NOTHING)) {
    const { pathname, searchParams } = new URL(path.endsWith('/') ? `${path}${world.paymentId}` : path, 'http://console');
    searchParams.set('site', world.site.tenantId); // that of another owner’s token
    await other.page.goto(`${CONSOLE}${path === '/' ? '' : pathname}?${searchParams.toString()}`);
    await settled(other.page);
    expect(await other.page.locator('main').textContent(), path).toContain(said);
    expect(await other.page.locator('.notice.bad').count(), path).toBe(0);
    if (searchParams.size === 1) expect(await audited(other.page), path).toEqual([]); // a view has nothing that its screen has not
    expect(await other.page.locator('body').textContent(), path).not.toContain(world.site.host);
  }
  expect([other.mishaps, other.strangers]).toEqual([[], []]);
  await other.close();
});

test('the page with its first screen is at most 100 KB on the wire, and asks once for data', async () => {
  const fresh = await openVisitor(baseUrl, { storageState: await visitor.context.storageState() });
  const sizes: Promise<number>[] = [];
  const questions: string[] = [];
  fresh.page.on('requestfinished', (request) => {
    if (!request.url().endsWith('/graphql')) sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    else questions.push(request.url());
  });
  await fresh.page.goto(CONSOLE);
  await settled(fresh.page);
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(total).toBeLessThanOrEqual(100_000);
  expect(questions.length).toBe(1);
  await fresh.close();
});

test('whoever signs out leaves nothing behind, and a session that ended elsewhere ends here', async () => {
  const other = await openVisitor(baseUrl, { storageState: await visitor.context.storageState() });
  await other.page.goto(`${CONSOLE}/agents`);
  await settled(other.page);
  await open('/');
  await page.locator('.account summary').click();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.locator('body').textContent()).not.toContain(world.site.host);
  await page.goBack();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await other.page.getByRole('link', { name: 'Overview' }).click();
  await other.page.getByText('Your session has ended').waitFor();
  expect(await other.page.locator('body').textContent()).not.toContain(world.site.host);
  expect(other.mishaps).toEqual([]);
});

test('in all of this nothing else was asked for anything, and no page threw or was refused by its policy', () => {
  expect(visitor.strangers).toEqual([]);
  expect(visitor.mishaps).toEqual([]);
});
