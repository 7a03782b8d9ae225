import { readFileSync } from 'node:fs';
import { unzipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audited, openVisitor, settled } from '../support/browser.ts';
import { changed, figuresOf, payments, usdc, whole } from '../support/consoleFigures.ts';
import type { ConsoleSite } from '../support/consoleSite.ts';
import { HOSTILE } from '../support/consoleSite.ts';
import type { ConsoleWindow } from '../support/consoleWindow.ts';
import { CONSOLE, startConsoleWindow, TIME_ZONE } from '../support/consoleWindow.ts';
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
let shown: ReturnType<typeof figuresOf>;
let figure: typeof shown.figure;
beforeAll(async () => {
  opened = await startConsoleWindow('ada@login.example');
  ({ service, line, world, open } = opened);
  page = opened.visitor.page;
  shown = figuresOf(page);
  ({ figure } = shown);
  await page.goto(CONSOLE);
  await page.getByLabel('Owner token').fill(world.token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
afterAll(() => opened?.stop());

// biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
async function rest(path: string, parameters: Readonly<Record<string, string>>): Promise<any> {
  const url = `${service.baseUrl}/_svc/${path}?${new URLSearchParams(parameters).toString()}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${world.site.key}` } });
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/**
 * The audit of a window with counts and money of refusals as the console shows them: without the 402s that their askers paid (`answeredOf`). No sale
 * of this world was at a door of ours, so what was paid answers a 402; what was blocked is missed whatever was paid.
 */
// biome-ignore lint/suspicious/noExplicitAny: bodies of REST
async function restAudit(parameters: Readonly<Record<string, string>>): Promise<any> {
  const [all, blocked] = [await rest('audit', parameters), await rest('audit', { ...parameters, verdict: 'blocked' })];
  return withoutAnswered(all, blocked);
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of REST
function withoutAnswered(all: any, blocked: any): any {
  if (Array.isArray(all)) {
    const nameOf = (row: { readonly key?: string; readonly agent?: string }) => row.key ?? row.agent;
    return all.map((row) =>
      withoutAnswered(
        row,
        (blocked ?? []).find((other: typeof row) => nameOf(other) === nameOf(row)),
      ),
    );
  }
  if (all === null || typeof all !== 'object') return all;
  const told = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, withoutAnswered(value, blocked?.[name])]));
  const { denied, paid = 0, missedMicroUsdc, earnedMicroUsdc = 0 } = told as Record<string, number | undefined>;
  const ofBlocked = blocked?.missedMicroUsdc ?? 0;
  return {
    ...told,
    ...(denied === undefined ? {} : { denied: Math.max(0, denied - paid), deniedAll: denied }),
    ...(missedMicroUsdc === undefined
      ? {}
      : { missedMicroUsdc: Math.max(0, missedMicroUsdc - ofBlocked - earnedMicroUsdc) + ofBlocked }),
  };
}

/** Windows of whole days by the viewer's clock, drawn anew in each run; the seed is in what a failure says. */
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
  const asked = page.waitForRequest((one) => one.url().endsWith('/graphql') && one.postDataJSON().variables.window !== undefined);
  await open(path, { window: 'custom', ...query });
  const { window } = (await asked).postDataJSON().variables;
  return { from: String(Date.parse(window.from)), to: String(Date.parse(window.to)) };
}

test('every figure of the overview and of earnings is what REST says of the same window', async () => {
  for (const days of drawn(3)) {
    const window = await openFor('/', days);
    const [earnings, audit] = [await rest('earnings', window), await restAudit(window)];
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
    const { totals, byAgent } = await restAudit(window);
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
    expect(sums[0], said).toBe(totals.paid);
    // A 402 at the end of a bucket may be paid in the next: then it is refused in the one, and answered in both together.
    expect(sums[1], said).toBeGreaterThanOrEqual(totals.denied);
    expect(sums[1], said).toBeLessThanOrEqual(totals.deniedAll);

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
    const compared = shown.map(([agent, , hits, , paid, , denied]) => [agent, hits, paid, denied]);
    expect(compared.toSorted(), said).toEqual(told.toSorted());
    if (days === ofAll) expect(shown.length).toBeGreaterThan(5);
  }
});

/** Rows that no report of REST has, from plain SQL over the moments of a screen; `$1` is the site, `$2` and `$3` are its ends. */
const sql = (statement: string, { from, to }: { readonly from: string; readonly to: string }) =>
  service.database.query<Record<string, string>>(statement, [world.site.tenantId, new Date(Number(from)), new Date(Number(to))]);
const today = (): string => new Date().toISOString().slice(0, 10);

test('what waits, how long sales take, and how each figure changed is what the rows and REST say', async () => {
  // The one sale on the chain moves no more, and nobody looks there for those that are rows alone.
  await expect.poll(finalAt).not.toBe(null);
  await Promise.all(service.workers.map((worker) => worker.stop()));
  for (const days of [...drawn(2), { from: drawn(1)[0]?.from ?? today(), to: today() }]) {
    const window = await openFor('/', days);
    const said = JSON.stringify(days);
    const [earnings, audit] = [await rest('earnings', { ...window, compare: '1' }), await restAudit({ ...window, compare: '1' })];
    const before = { ...earnings.previous.totals, ...audit.previous.totals };
    const now = { ...earnings.totals, ...audit.totals };
    for (const [label, name] of [
      ['Earned', 'grossMicroUsdc'],
      ['Missed', 'missedMicroUsdc'],
      ['Failed', 'failedMicroUsdc'],
      ['Agents’ requests', 'agentHits'],
    ] as const) {
      expect(await shown.change(label), `${said} ${label}`).toBe(changed(now[name], before[name]));
    }
    expect(await shown.note('Missed'), said).toMatch(new RegExp(`${whole(now.denied)} refused$`));
    expect(await shown.note('Failed'), said).toMatch(new RegExp(`(^| )${payments(now.paymentFailed)}$`));
    expect(await shown.note('Earned'), said).toMatch(new RegExp(`${whole(now.events)} sales?$`));
    const [waiting] = await sql(
      `select count(*) as payments, coalesce(sum(amount_micro), 0) as micro from payment p left join settlement_batch b using (batch_id)
       where p.tenant_id = $1 and p.state in ('accepted', 'held', 'broadcast', 'settled', 'review') and p.final_at is null
         and b.final_at is null and $2::timestamptz < $3`,
      window,
    );
    expect(await figure('Waiting for the chain'), said).toBe(usdc(waiting?.['micro'] ?? 0));
    expect(await shown.note('Waiting for the chain'), said).toBe(payments(Number(waiting?.['payments'])));
    const [took] = await sql(
      `select percentile_disc(0.5) within group (order by ms) as p50, percentile_disc(0.95) within group (order by ms) as p95
       from (select (extract(epoch from coalesce(settled_at, decided_at) - accepted_at) * 1000)::bigint as ms
         from payment where tenant_id = $1 and state in ('settled', 'final') and accepted_at >= $2 and accepted_at < $3) took`,
      window,
    );
    const spanOf = (ms: string | null | undefined): string => (ms ? `${whole(Number(ms))} ms` : 'none');
    const p95 = await page.locator('.figure', { hasText: 'Sale to settled' }).locator('.note span[title]').getAttribute('title');
    expect([await figure('Sale to settled'), p95], said).toEqual([spanOf(took?.['p50']), spanOf(took?.['p95'])]);
  }
});

async function finalAt(): Promise<unknown> {
  const [row] = await service.database.query(
    'select coalesce(p.final_at, b.final_at) as at from payment p left join settlement_batch b using (batch_id) where payment_id = $1',
    [world.paymentId],
  );
  return row?.['at'] ?? null;
}

test('each day of a chart, the best pages and the best agents are what REST says of them', async () => {
  const last = Math.floor(Math.random() * 24);
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const days = { from: day(last + 3), to: day(last) };
  const window = await openFor('/', days);
  const said = JSON.stringify(days);
  const earned = await shown.trend();
  expect(earned.length, said).toBe(4);
  const midnights = await page.evaluate(
    (from) => Array.from({ length: 5 }, (_, n) => new Date(new Date(from).setDate(new Date(from).getDate() + n)).getTime()),
    Number(window.from),
  );
  for (const [n, [, grossText, missedText]] of earned.entries()) {
    const of = { from: String(midnights[n]), to: String(midnights[n + 1]) };
    const [{ totals }, audit] = [await rest('earnings', of), await restAudit(of)];
    expect([grossText, missedText], `${said} ${n}`).toEqual([usdc(totals.grossMicroUsdc), usdc(audit.totals.missedMicroUsdc)]);
  }

  const wide = { from: day(28), to: today() };
  for (const some of [wide, ...drawn(2)]) {
    const ends = await openFor('/', some);
    const { breakdown } = await rest('earnings', { ...ends, groupBy: 'slug', limit: '500' });
    const pages = (breakdown as readonly Group[]).filter(({ key }) => !key.startsWith('licence:')).slice(0, 8);
    expect(await shown.ranking('Best pages'), JSON.stringify(some)).toEqual(
      pages.map(({ key, events, grossMicroUsdc }) => [key, `${whole(events)} sold`, usdc(grossMicroUsdc)]),
    );
    const agents = (await restAudit({ ...ends, groupBy: 'agent', limit: '500' })).breakdown as readonly AgentGroup[];
    const best = agents.toSorted((a, b) => b.earnedMicroUsdc - a.earnedMicroUsdc || (a.key < b.key ? -1 : 1)).slice(0, 8);
    expect(await shown.ranking('Best agents'), JSON.stringify(some)).toEqual(
      best.map(({ key, hits, earnedMicroUsdc }) => [
        key,
        `${whole(hits)} ${hits === 1 ? 'request' : 'requests'}`,
        usdc(earnedMicroUsdc),
      ]),
    );
  }
});

type Group = { readonly key: string; readonly label: string; readonly grossMicroUsdc: number; readonly events: number };
type AgentGroup = {
  readonly key: string;
  readonly hits: number;
  readonly earnedMicroUsdc: number;
  readonly missedMicroUsdc: number;
};

/** Sums of crossings by something, as REST has no group for it. */
const grouped = (by: string): string => `select ${by} as key, sum(sign(micro)) as events, sum(micro) as gross
  from crossing c where tenant_id = $1 and at >= $2 and at < $3 group by 1`;

test('earnings by author, agent, purpose and buyer are the sums of REST, or of the rows where it has none', async () => {
  for (const days of [{ from: drawn(1)[0]?.from ?? today(), to: today() }, ...drawn(1)]) {
    for (const [by, label] of [
      ['author', 'Earnings by authors'],
      ['agent', 'Earnings by agents'],
      ['purpose', 'Earnings by purpose'],
      ['buyer', 'Earnings by buyers'],
    ] as const) {
      const window = await openFor('/earnings', { ...days, by });
      const told = new Map<string, { sales: number; micro: number }>();
      const add = (name: string, sales: number, micro: number): void => {
        const key = name.toLowerCase(); // wallets are shown with their checksum
        const sum = told.get(key) ?? { sales: 0, micro: 0 };
        told.set(key, { sales: sum.sales + sales, micro: sum.micro + micro });
      };
      if (by === 'author') {
        const { breakdown } = await rest('earnings', { ...window, groupBy: 'author', limit: '500' });
        for (const row of breakdown as readonly Group[]) add(row.label, row.events, row.grossMicroUsdc);
      } else {
        const column = {
          agent: 'agent',
          purpose: "case when slug = 'licence:' || payment_id then 'licence' else 'page' end",
          buyer: 'payer',
        }[by];
        for (const row of await sql(grouped(column), window)) add(row['key'] ?? '', Number(row['events']), Number(row['gross']));
      }
      const rows = await shown.table(label);
      const said = `${JSON.stringify(days)} ${by}`;
      const name = Object.keys(rows[0] ?? {})[0] ?? '';
      // A group that earned in the window before alone stands there with nothing.
      expect(
        rows.map((row) => [row[name]?.toLowerCase(), row['Sales'], row['Earned']]),
        said,
      ).toEqual(
        rows.map((row) => {
          const { sales, micro } = told.get(row[name]?.toLowerCase() ?? '') ?? { sales: 0, micro: 0 };
          return [row[name]?.toLowerCase(), whole(sales), usdc(micro)];
        }),
      );
      const earning = [...told].filter(([, { sales, micro }]) => sales !== 0 || micro !== 0).map(([key]) => key);
      const names = rows.map((row) => row[name]?.toLowerCase());
      expect(
        earning.filter((key) => !names.includes(key)),
        said,
      ).toEqual([]);
    }
  }
});

test('the money of each agent, and how the figures of all changed, are what REST says', async () => {
  for (const days of [...drawn(2), { from: drawn(1)[0]?.from ?? today(), to: today() }]) {
    const window = await openFor('/agents', days);
    const said = JSON.stringify(days);
    const { totals, previous, breakdown } = await restAudit({ ...window, compare: '1', groupBy: 'agent', limit: '500' });
    const rows = await shown.table('Agents');
    expect(rows.map((row) => [row['Agent'], row['Requests'], row['Missed'], row['Earned']]).toSorted(), said).toEqual(
      (breakdown as readonly AgentGroup[])
        .map(({ key, hits, missedMicroUsdc, earnedMicroUsdc }) => [
          key,
          whole(hits),
          usdc(missedMicroUsdc),
          usdc(earnedMicroUsdc),
        ])
        .toSorted(),
    );
    for (const [label, name] of [
      ['Agents’ requests', 'agentHits'],
      ['Paid', 'paid'],
      ['Refused', 'denied'],
      ['Spoofed', 'masqueradeAttempts'],
      ['Earned', 'earnedMicroUsdc'],
      ['Missed', 'missedMicroUsdc'],
    ] as const) {
      expect(await shown.change(label), `${said} ${label}`).toBe(changed(totals[name], previous.totals[name]));
    }
  }
});

test('an agent that names itself is an agent of the table; the largest names inside `other` lead to exactly their requests', async () => {
  const userAgents = ['NewBot/1.0', 'NewBot/2.0', ...HOSTILE.flatMap((name, n) => Array.from({ length: n + 1 }, () => name))];
  const reports = userAgents.map((ua) => ({
    resource: `https://${world.site.host}/articles/trio`,
    slug: 'trio',
    verdict: 'denied',
    classifiedAs: 'agent',
    priceMicro: 700,
    agent: { ua },
  }));
  const told = await fetch(`${service.baseUrl}/_svc/observe`, {
    method: 'POST',
    body: JSON.stringify(reports),
    headers: { authorization: `Bearer ${world.site.key}`, 'content-type': 'application/json' },
  });
  expect(told.status).toBe(202);

  await open('/agents', { sort: 'HITS' });
  const newBot = page
    .locator('[aria-label="Agents"] tbody tr')
    .filter({ has: page.getByRole('link', { name: 'newbot', exact: true }) });
  expect(await newBot.locator('td[data-head="Requests"]').textContent()).toContain('2');
  await open('/agents', { agent: 'other' });
  const names = page.locator('[aria-label="Names inside other"] tbody tr');
  await names.first().waitFor();
  const shown = await names.locator('th').allTextContents();
  expect(shown.filter((name) => name !== 'unknown')).toEqual(HOSTILE.toReversed()); // the sale of this world named nobody
  expect(await audited(page)).toEqual([]);
  for (const [n, name] of HOSTILE.entries()) {
    await open('/agents', { agent: 'other' });
    await names.nth(shown.indexOf(name)).getByRole('link').click();
    await page.locator('h1').filter({ hasText: name }).waitFor();
    await settled(page);
    expect([await figure('Agents’ requests'), await figure('Missed')], name).toEqual([whole(n + 1), usdc(700 * (n + 1))]);
    const seen = page.locator('[aria-label="Requests"] tbody tr td:nth-child(4) .cut');
    expect(await seen.evaluateAll((all) => all.map((cell) => cell.getAttribute('title')))).toEqual(Array(n + 1).fill(name));
  }
  expect(await page.locator('main img, main script, main iframe, [onerror], [onload], [onmouseover]').count()).toBe(0);
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
  expect(csv.toString()).toBe(`\ufeff${await answer.text()}`);
  expect(csv.toString().split('\n').length).toBeGreaterThan(2);
  expect(csv.toString()).not.toMatch(/(^|,)"?=HYPERLINK/m);
  const pdf = await saved('PDF');
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  expect(textsOf(pdf).length).toBeGreaterThan(10);
});

test('statements of a month are what the API says of it; all come as ZIP, and a link shows an author their own without a sign-in', async () => {
  const month = new Intl.DateTimeFormat('sv-SE', { timeZone: TIME_ZONE, year: 'numeric', month: '2-digit' }).format(
    Date.now() - 3 * 86_400_000,
  );
  const asked = page.waitForRequest((request) => request.url().endsWith('/graphql'));
  await open('/statements', { month });
  const { window } = (await asked).postDataJSON().variables;
  const [from, to] = [String(Date.parse(window.from)), String(Date.parse(window.to))];
  const { totals, breakdown } = await rest('earnings', { from, to, groupBy: 'author' });
  const name = new Date(`${month}-15`).toLocaleDateString('en-GB', { month: 'long', year: 'numeric' });
  expect(await Promise.all([`Earned in ${name}`, 'Sales'].map(figure))).toEqual([
    usdc(totals.grossMicroUsdc),
    whole(totals.events),
  ]);
  const paid = new Map<string, number>();
  for (const { label, grossMicroUsdc } of breakdown) paid.set(label, (paid.get(label) ?? 0) + grossMicroUsdc);
  const rows = await shown.table(`What authors were paid in ${name}`);
  expect(rows.length).toBe(paid.size);
  for (const { Author = '', Paid } of rows) expect(Paid, Author).toBe(usdc(paid.get(Author) ?? 0));
  expect((await shown.table('Months'))[0]).toMatchObject({ Month: name, Earned: usdc(totals.grossMicroUsdc) });

  const saved = page.waitForEvent('download');
  await page.getByRole('link', { name: 'All as ZIP' }).click();
  const archive = await saved;
  expect(archive.suggestedFilename()).toMatch(/\.zip$/);
  const files = Object.keys(unzipSync(readFileSync(await archive.path())));
  expect(files).toHaveLength(1 + paid.size);
  expect(files.filter((file) => /[\\/<>:"|?*]/.test(file))).toEqual([]);

  await page.getByRole('button', { name: 'A link for author-1' }).click();
  await page.getByLabel('Valid for').selectOption({ label: 'A week' });
  expect(await audited(page)).toEqual([]);
  await page.getByRole('button', { name: 'Make the link' }).click();
  const url = (await page.locator('.secret code').textContent()) ?? '';
  const author = await openVisitor(opened.baseUrl, { timezoneId: TIME_ZONE });
  await author.page.goto(url);
  await author.page.getByRole('heading', { name: `Your statement of ${name}` }).waitFor();
  // Nothing that a link says of itself is shown before the service has said that it signed it.
  expect(await author.page.getByText('author-1').count()).toBe(0);
  expect(await audited(author.page)).toEqual([]);
  const [own] = await Promise.all([
    author.page.waitForEvent('download'),
    author.page.getByRole('button', { name: 'Download the PDF' }).click(),
  ]);
  expect(own.suggestedFilename()).toBe(`statement-${month}.pdf`);
  await author.page.getByText('author-1').waitFor();
  const text = textsOf(readFileSync(await own.path()))
    .map((piece) => piece.text)
    .join(' ');
  expect(text).toContain('author-1');
  expect(text).toContain(
    usdc(paid.get('author-1') ?? 0)
      .replace(' USDC', '')
      .replaceAll(',', ''),
  );
  expect(text).not.toContain('author-2');
  await author.page.goto(`${url.slice(0, -8)}AAAAAAAA`);
  await author.page.reload();
  await author.page.getByRole('button', { name: 'Download the PDF' }).click();
  await author.page.getByText('This link has ended, or is not complete.').waitFor();
  expect([author.mishaps, author.strangers]).toEqual([[], []]);
  await author.close();
});

test('on paper a screen is its figures and tables alone, dark on white, whole, on pages as wide as it', async () => {
  await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
  try {
    for (const path of ['/', '/earnings', '/statements', '/agents', `/earnings/payments/${world.paymentId}`]) {
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

test('files follow what is shown: the CSV every filter, a PDF of the site or of one author, and none where it would hold more', async () => {
  const files = async (query: Readonly<Record<string, string>>) => {
    await open('/earnings', { window: 'LAST_90_DAYS', ...query });
    const links = await page
      .locator('main .beside a[download]')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    return links.map((link) => {
      const { pathname, searchParams } = new URL(link, opened.baseUrl);
      const { tenantId: _, from: __, to: ___, timeZone: ____, ...filters } = Object.fromEntries(searchParams);
      return [pathname.split('/').at(-1), filters];
    });
  };
  expect(await files({})).toEqual([
    ['earnings.csv', {}],
    ['statement.pdf', {}],
  ]);
  expect(await files({ authorId: 'author-1' })).toEqual([
    ['earnings.csv', { author: 'author-1' }],
    ['statement.pdf', { author: 'author-1' }],
  ]);
  const others = { slug: 'page-1', kind: 'READ', purpose: 'PAGE', agent: 'gptbot', host: world.site.host };
  expect(await files(others)).toEqual([['earnings.csv', { ...others, kind: 'read', purpose: 'page' }]]);
  const author = `0x${'1a'.repeat(20)}`;
  expect(await files({ authorId: 'author-1', author })).toEqual([['earnings.csv', { author: 'author-1', wallet: author }]]);

  await open('/earnings', { by: 'author', window: 'LAST_90_DAYS' });
  const statement = page.getByRole('link', { name: 'Statement of author-1' });
  expect(new URL((await statement.getAttribute('href')) ?? '', opened.baseUrl).searchParams.get('author')).toBe('author-1');

  await open('/earnings', { by: 'payments', agent: 'gptbot' });
  await page.getByText('Payments cannot be filtered by agent.').waitFor();
  expect(await page.locator('tbody tr').count()).toBe(0);
  await page.getByRole('button', { name: 'Leave it out' }).click();
  await page.locator('tbody tr').first().waitFor();
});

test('payments of an author are listed as theirs alone, and a head orders earnings by keyboard', async () => {
  await open('/earnings', { by: 'payments', window: 'LAST_90_DAYS', authorId: 'author-1' });
  expect(await page.locator('tbody tr').count()).toBeGreaterThan(0);
  await open('/earnings', { by: 'payments', window: 'LAST_90_DAYS', authorId: 'nobody-by-that-name' });
  await page.getByText('No payment in this window.').waitFor();

  await open('/earnings', { by: 'page', window: 'LAST_90_DAYS' });
  expect(await page.locator('th[aria-sort]').allTextContents()).toEqual(['Earned']);
  await page.getByRole('link', { name: 'Sales', exact: true }).press('Enter');
  await page.locator('th[aria-sort="descending"]', { hasText: 'Sales' }).waitFor();
  await settled(page);
  const sales = (
    await page.locator('tbody td[data-head="Sales"] .sr, tbody td[data-head="Sales"] > .exact:not([title])').allTextContents()
  ).map((text) => Number(text.replaceAll(/\D/g, '')));
  expect(sales.length).toBeGreaterThan(1);
  expect(sales).toEqual([...sales].sort((a, b) => b - a));
});
