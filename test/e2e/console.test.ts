import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/browser.ts';
import { audited, closeBrowser, openVisitor, settled } from '../support/browser.ts';
import type { ConsoleSite } from '../support/consoleSite.ts';
import { createConsoleSite, HOSTILE } from '../support/consoleSite.ts';
import type { CutProxy } from '../support/proxy.ts';
import { startProxy } from '../support/proxy.ts';
import type { TestService } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

const CONSOLE = '/_svc/console';
/** A zone whose clocks changed within the history, so that days have 23 to 25 hours. */
const TIME_ZONE = 'Europe/Berlin';

let service: TestService;
let line: CutProxy;
let baseUrl: string;
let world: ConsoleSite;
let visitor: Visitor;
let page: Page;
beforeAll(async () => {
  service = await startTestService(); // its own: sales of the history are rows alone, which no chain knows
  world = await createConsoleSite(service, 'grace@login.example');
  // The console lives under its own address alone, so that this must be known before the API starts; and its line can be cut.
  let port = 0;
  line = await startProxy(() => port);
  baseUrl = `http://127.0.0.1:${line.port}`;
  const api = await service.startApi({ PUBLIC_BASE_URL: baseUrl });
  port = Number(new URL(api.url).port);
  visitor = await openVisitor(baseUrl, { timezoneId: TIME_ZONE });
  page = visitor.page;
});
afterAll(async () => {
  await closeBrowser();
  await line?.close();
  await service?.stop();
});

/** A screen of the main site, with everything on it. */
async function open(path: string, query: Readonly<Record<string, string>> = {}): Promise<void> {
  const search = new URLSearchParams({ site: world.site.tenantId, ...query }).toString();
  await page.goto(`${CONSOLE}${path === '/' ? '' : path}?${search}`);
  await settled(page);
}

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

/** What a figure says without loss. */
async function figure(label: string): Promise<string | null> {
  const box = page.locator('.figure').filter({ has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) });
  const exact = box.locator('.value .sr');
  return (await exact.count()) > 0 ? exact.textContent() : box.locator('.value').textContent();
}

const usdc = (micro: number | string): string => {
  const digits = BigInt(micro).toString().replace('-', '').padStart(7, '0');
  return `${BigInt(micro) < 0n ? '−' : ''}${Number(digits.slice(0, -6)).toLocaleString('en-US')}.${digits.slice(-6)} USDC`;
};
const whole = (n: number): string => n.toLocaleString('en-US');

// biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
async function rest(path: string, parameters: Readonly<Record<string, string>>): Promise<any> {
  const url = `${service.baseUrl}/_svc/${path}?${new URLSearchParams(parameters).toString()}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${world.site.key}` } });
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Windows of whole days by the clock of whoever looks, drawn anew in each run; the seed is in what a failure says. */
function drawn(many: number): readonly { readonly from: string; readonly to: string }[] {
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  return Array.from({ length: many }, () => {
    const [a, b] = [Math.floor(Math.random() * 29), Math.floor(Math.random() * 29)];
    return { from: day(Math.max(a, b)), to: day(Math.min(a, b)) };
  });
}

/** Opens a screen for days, and says which moments it asked about. */
async function openFor(
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<{ readonly from: string; readonly to: string }> {
  const asked = page.waitForRequest((request) => request.url().endsWith('/graphql'));
  await open(path, { window: 'custom', ...query });
  const { window } = (await asked).postDataJSON().variables;
  return { from: String(Date.parse(window.from)), to: String(Date.parse(window.to)) };
}

test('every figure of the overview and of earnings is what REST says of the same window', async () => {
  for (const days of drawn(3)) {
    const window = await openFor('/', days);
    const [earnings, audit] = [await rest('earnings', window), await rest('audit', window)];
    const said = JSON.stringify(days);
    expect(await figure('Earned'), said).toBe(usdc(earnings.totals.grossMicroUsdc));
    expect(await figure('Missed'), said).toBe(usdc(audit.totals.missedMicroUsdc));
    expect(await figure('Failed'), said).toBe(usdc(audit.totals.failedMicroUsdc));
    expect(await figure('Agents’ requests'), said).toBe(whole(audit.totals.agentHits));
    const drawnDays = await page.locator('.trend table tbody td:nth-child(2)').allTextContents();
    const sum = drawnDays.reduce((all, text) => all + BigInt(text.replaceAll(/[^\d−]/g, '').replace('−', '-')), 0n);
    expect(usdc(sum.toString()), said).toBe(usdc(earnings.totals.grossMicroUsdc));

    for (const [by, groupBy] of [
      ['page', 'slug'],
      ['host', 'host'],
      ['kind', 'kind'],
    ] as const) {
      await openFor('/earnings', { ...days, by });
      const { totals, breakdown } = await rest('earnings', { ...window, groupBy, limit: '500' });
      expect([await figure('Earned'), await figure('Sales'), await figure('Reads'), await figure('Citations')], said).toEqual([
        usdc(totals.grossMicroUsdc),
        ...[totals.events, totals.reads, totals.citations].map(whole),
      ]);
      const shown = await page.locator('.table-frame tbody tr').evaluateAll((all) =>
        all.map((row) => {
          const cell = row.querySelector('td:last-child');
          return [
            row.querySelector('th a')?.getAttribute('title') ?? '',
            (cell?.querySelector('.sr') ?? cell)?.textContent ?? '',
          ];
        }),
      );
      // To REST a licence is a page, and a group that earned only before is none.
      type Told = { readonly key: string; readonly grossMicroUsdc: number };
      const pages = (breakdown as readonly Told[]).filter(({ key }) => !key.startsWith('licence:'));
      const told = new Map(pages.map(({ key, grossMicroUsdc }) => [key, usdc(grossMicroUsdc)]));
      const rows = shown.map(([key = '', text]) => [said, by, key, text]);
      expect(rows).toEqual(shown.map(([key = '']) => [said, by, key, told.get(key) ?? usdc(0)]));
      expect(shown.filter(([key = '']) => told.has(key)).length, said).toBe(Math.min(20, told.size));
    }
  }
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

test('a site on which nothing happened says so on every screen', async () => {
  const other = await openVisitor(baseUrl, { timezoneId: TIME_ZONE });
  await other.page.goto(CONSOLE);
  await other.page.getByLabel('Owner token').fill(world.emptyToken);
  await other.page.keyboard.press('Enter');
  await other.page.getByText('Nothing was sold or missed').waitFor();
  for (const path of ['', '/earnings', '/agents', `/earnings/payments/${world.paymentId}`, '/no/such/screen']) {
    await other.page.goto(`${CONSOLE}${path}?site=${world.site.tenantId}`);
    await settled(other.page);
    expect(await other.page.locator('.notice.bad').count(), path).toBe(0);
    expect(await audited(other.page), path).toEqual([]);
    expect(await other.page.locator('body').textContent(), path).not.toContain(world.site.host);
  }
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
