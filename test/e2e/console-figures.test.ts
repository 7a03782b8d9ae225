import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audited, settled } from '../support/browser.ts';
import type { ConsoleSite } from '../support/consoleSite.ts';
import type { ConsoleWindow } from '../support/consoleWindow.ts';
import { CONSOLE, startConsoleWindow } from '../support/consoleWindow.ts';
import { textsOf } from '../support/pdf.ts';
import type { CutProxy } from '../support/proxy.ts';
import type { TestService } from '../support/service.ts';

/** What the console shows and saves is what REST says of the same moments, on screen, in files and on paper. */

let opened: ConsoleWindow;
let service: TestService;
let line: CutProxy;
let world: ConsoleSite;
let page: Page;
let open: ConsoleWindow['open'];
beforeAll(async () => {
  opened = await startConsoleWindow('ada@login.example');
  ({ service, line, world, open } = opened);
  page = opened.visitor.page;
  await page.goto(CONSOLE);
  await page.getByLabel('Owner token').fill(world.token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
afterAll(() => opened?.stop());

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

test('every figure of the agents is what REST says of the same window, of all together and of each', async () => {
  const ofAll = {
    from: new Date(Date.now() - 28 * 86_400_000).toISOString().slice(0, 10),
    to: new Date().toISOString().slice(0, 10),
  };
  for (const days of [...drawn(3), ofAll]) {
    const window = await openFor('/agents', { ...days, sort: 'HITS' });
    const said = JSON.stringify(days);
    const { totals, byAgent } = await rest('audit', window);
    const labels = ['Agents’ requests', 'Paid', 'Refused', 'Spoofed', 'Earned', 'Missed'];
    expect(await Promise.all(labels.map(figure)), said).toEqual([
      ...[totals.agentHits, totals.paid, totals.denied, totals.masqueradeAttempts].map(whole),
      ...[totals.earnedMicroUsdc, totals.missedMicroUsdc].map(usdc),
    ]);
    const sums = await page
      .locator('.trend table tbody')
      .evaluate((body) =>
        [2, 3].map((n) =>
          [...body.querySelectorAll(`td:nth-child(${n})`)].reduce(
            (sum, cell) => sum + Number((cell.textContent ?? '').replaceAll(',', '')),
            0,
          ),
        ),
      );
    expect(sums, said).toEqual([totals.paid, totals.denied]);

    const rows = page.locator('table[aria-label="Agents"] tbody tr, [aria-label="Agents"] table tbody tr');
    const shown = await rows.evaluateAll((all) =>
      all.map((row) =>
        [row.querySelector('th a'), ...row.querySelectorAll('td')].map(
          (cell) => (cell?.querySelector('.sr') ?? cell)?.textContent?.trim() ?? '',
        ),
      ),
    );
    type Told = { readonly agent: string; readonly hits: number; readonly paid: number; readonly denied: number };
    const told = (byAgent as readonly Told[]).map(({ agent, hits, paid, denied }) => [
      agent,
      whole(hits),
      whole(paid),
      whole(denied),
    ]);
    const compared = shown.map(([agent, hits, , paid, , denied]) => [agent, hits, paid, denied]);
    expect(compared.toSorted(), said).toEqual(told.toSorted());
    if (days === ofAll) expect(shown.length).toBeGreaterThan(5);
  }
});

test('an answer of before is drawn as such where a newer one does not come, and is replaced once it does', async () => {
  await open('/agents');
  const requests = await figure('Agents’ requests');
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await settled(page);
  line.cut();
  try {
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByText(/^This is what was known/).waitFor();
    expect(await figure('Agents’ requests')).toBe(requests);
    expect(await page.locator('.await.stale').count()).toBe(1);
    expect(await audited(page)).toEqual([]);
  } finally {
    line.mend();
  }
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.await.stale').waitFor({ state: 'detached' });
  expect(await page.getByText(/^This is what was known/).count()).toBe(0);
  expect(await figure('Agents’ requests')).toBe(requests);
});

test('earnings are saved as CSV and PDF by their buttons, of the window and filters that are shown', async () => {
  const days = { from: drawn(1)[0]?.from ?? '', to: new Date().toISOString().slice(0, 10) };
  const { from, to } = await openFor('/earnings', days);
  const saved = async (name: string): Promise<Buffer> => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name, exact: true }).click()]);
    expect(download.suggestedFilename()).toMatch(name === 'CSV' ? /^svc-earnings-.*\.csv$/ : /^svc-earnings-.*\.pdf$/);
    return readFileSync(await download.path());
  };
  const url = `${service.baseUrl}/_svc/earnings/export.csv?${new URLSearchParams({ from, to }).toString()}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${world.site.key}` } });
  const csv = await saved('CSV');
  expect(csv.toString()).toBe(await answer.text());
  expect(csv.toString().split('\n').length).toBeGreaterThan(2);
  expect(csv.toString()).not.toMatch(/(^|,)"?=HYPERLINK/m);
  const pdf = await saved('PDF');
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  expect(textsOf(pdf).length).toBeGreaterThan(10);
});

test('on paper a screen is its figures and tables alone, dark on white, whole, on pages as wide as it', async () => {
  await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
  try {
    for (const path of ['/', '/earnings', '/agents', `/earnings/payments/${world.paymentId}`]) {
      await open(path);
      for (const gone of ['> .side', '> .bar', '> .skip', '.tabs', 'main .button']) {
        expect(await page.locator(`.shell ${gone} >> visible=true`).count(), `${path} ${gone}`).toBe(0);
      }
      expect(await page.evaluate(`getComputedStyle(document.querySelector('main h1')).color`), path).toBe('rgb(0, 0, 0)');
      expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'), path).toBe('rgb(255, 255, 255)');
      await page.setViewportSize({ width: 718, height: 1_000 }); // what A4 leaves between its margins
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(718);
      await page.setViewportSize({ width: 1280, height: 900 });
      const paper = await page.pdf({ format: 'A4' });
      expect(paper.subarray(0, 5).toString(), path).toBe('%PDF-');
    }
  } finally {
    await page.emulateMedia({ colorScheme: 'light', media: 'screen' });
  }
});
