import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inviteMember } from '../../modules/identity/use/members.ts';
import { exportPdf } from '../../modules/reports/use/exportPdf.ts';
import type { DrawingOptions } from '../../modules/reports/use/statement/drawing.ts';
import { startDrawing } from '../../modules/reports/use/statement/drawing.ts';
import { openHeavyWork } from '../../platform/pacing/heavy.ts';
import { startTestApi } from '../support/api.ts';
import { PATIENT_MS } from '../support/parts.ts';
import { structureOf, textOf, textsOf } from '../support/pdf.ts';
import type { Purchase } from '../support/reports.ts';
import { insertPurchases } from '../support/reports.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const walletOf = (n: number): string => `0x${(n + 0xa1).toString(16).repeat(20)}`;
const FEE = `0x${'f3'.repeat(20)}`;
const AMOUNT = /^-?\d{1,3}(?:,\d{3})*\.\d{6}$/;

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

type Site = Awaited<ReturnType<typeof api.site>>;

/** Shared by what is drawn without HTTP: a place that is not given back would show in the next drawing. */
const heavy = openHeavyWork({ connections: { reports: 6, questions: 2 } });

async function statement(site: Site, query: Record<string, string | number> = {}) {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]));
  const answer = await fetch(`${api.url}/_svc/earnings/export.pdf?${search}`, {
    headers: { authorization: `Bearer ${site.key}` },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { answer, bytes, text: answer.status === 200 ? textOf(bytes) : bytes.toString() };
}

async function rest(site: Site, path: string, query: Record<string, string | number> = {}) {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]));
  const { status, body } = await api.request(`/_svc/earnings${path}?${search}`, { key: site.key });
  expect(status).toBe(200);
  return body;
}

function buy(site: Site, changes: Partial<Purchase> = {}): Purchase {
  const legs = [
    { toAddress: walletOf(0), amountMicro: 700, authorId: 'ann', share: 0.7 },
    { toAddress: walletOf(1), amountMicro: 300, authorId: 'bob', share: 0.3 },
  ];
  return {
    tenantId: site.tenantId,
    host: site.host,
    slug: 'solo',
    kind: 'read',
    atMs: Date.now() - HOUR,
    steps: 1,
    legs,
    ...changes,
  };
}

async function nameTitles(site: Site, titles: Readonly<Record<string, string>>): Promise<void> {
  const pages = Object.entries(titles);
  await api.deps.database.query(
    `insert into imported_page (tenant_id, slug, path, title, credits)
       select $1, slug, '/' || slug, title, null from unnest($2::text[], $3::text[]) as page (slug, title)`,
    [site.tenantId, pages.map(([slug]) => slug), pages.map(([, title]) => title)],
  );
}

/** What a document says of one table, cell by cell, as a screen reader is told it; empty cells and the head are left out. */
function rowsOf(bytes: Buffer, heading: string): string[][] {
  const elements = structureOf(bytes);
  const from = elements.findIndex(({ tag, text }) => tag === 'H2' && text === heading);
  const table = elements.slice(from + 1).find(({ tag }) => tag === 'Table');
  return (table?.kids ?? []).slice(1).map(({ kids }) => kids.map(({ text }) => text).filter((text) => text !== ''));
}

function headingsOf(bytes: Buffer): string[] {
  return structureOf(bytes).flatMap(({ tag, text }) => (tag === 'H2' ? [text] : []));
}

/** The value of a fact; undefined: the document does not say it. */
function factOf(bytes: Buffer, label: string): string | undefined {
  const facts = structureOf(bytes).find(({ tag }) => tag === 'L')?.kids ?? [];
  return facts.find(({ kids }) => kids[0]?.text === label)?.kids[1]?.text;
}

function sumOf(amounts: readonly (string | undefined)[]): bigint {
  return amounts.reduce((sum, amount) => {
    const [whole = '', decimals = ''] = (amount ?? '').replaceAll(',', '').split('.');
    return sum + BigInt(whole + decimals.padEnd(6, '0'));
  }, 0n);
}

function amountsOfTransactions(bytes: Buffer): string[] {
  return rowsOf(bytes, 'Annex: transactions')
    .slice(0, -1)
    .flatMap((row) => row.filter((cell) => AMOUNT.test(cell)));
}

test('the PDF of a site names the digest of the CSV of its window, its fees, and each wallet whole', async () => {
  const site = await api.site();
  const fee = { toAddress: FEE, amountMicro: 100, role: 'platform' as const };
  const legs = [{ toAddress: walletOf(2), amountMicro: 900, authorId: '山田太郎' }, fee];
  const at = Date.now() - HOUR;
  const sales = Array.from({ length: 150 }, (_, n) => buy(site, { atMs: at - n, slug: `(endobj) ${n % 3} 日本`, legs }));
  await insertPurchases(api.deps.database, [...sales, buy(site, { slug: 'undone', steps: 2 })]);
  const window = { from: at - DAY, to: at + 1 };
  const { answer, bytes, text } = await statement(site, window);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="svc-earnings-[\w.-]+\.pdf"$/);
  expect(Number(answer.headers.get('content-length'))).toBe(bytes.length);
  expect([bytes.subarray(0, 5).toString(), bytes.subarray(-6).toString().trim()]).toEqual(['%PDF-', '%%EOF']);
  const csv = await rest(site, '/export.csv', window);
  expect(text.replaceAll(/\s/g, '')).toContain(createHash('sha256').update(csv).digest('hex'));
  const [{ wallet }] = (await rest(site, '/statements', window)).statements;
  expect(text).toContain(`山田太郎  ${wallet}  150  0  0.135000`);
  expect(text).toContain('0.135000 USDC; the rest are fees');
  expect(rowsOf(bytes, 'Pages').at(-1)).toEqual(['Total', '150', '0', '0.150000']);
  expect(text).toContain('(endobj) 0 日本');
  expect(text).not.toContain('undone');
});

test('117 sales of nine pages and forty-five authors are two pages, with titles, every transaction whole, and totals', async () => {
  const site = await api.site();
  const titles = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`page-${n}`, n === 0 ? '' : `Заголовок ${n} 題名`]));
  await nameTitles(site, titles);
  const many = Array.from({ length: 45 }, (_, n) => ({ toAddress: walletOf(n), amountMicro: 10 + n, authorId: `author ${n}` }));
  const sales = Array.from({ length: 117 }, (_, n) =>
    buy(site, { slug: `page-${n % 9}`, atMs: Date.now() - n * HOUR, legs: many }),
  );
  await insertPurchases(api.deps.database, sales);
  const { bytes, text } = await statement(site);
  expect(Math.max(...textsOf(bytes).map(({ page }) => page))).toBe(1);
  expect(text).toContain('Page 2 of 2');
  expect(rowsOf(bytes, 'Pages')).toHaveLength(10);
  expect(headingsOf(bytes)).toEqual(['Summary', 'Authors', 'Pages', 'Annex: transactions']);
  expect(text).toContain('Заголовок 8 題名  page-8  13  0  0.018720');
  const hashes = await api.deps.database.query<{ tx_hash: string }>('select tx_hash from payment_state where tenant_id = $1', [
    site.tenantId,
  ]);
  const drawn = new Set(textsOf(bytes).map((piece) => piece.text));
  expect(hashes.filter(({ tx_hash: hash }) => !drawn.has(hash))).toEqual([]);
  const { gross } = { gross: (await rest(site, '', {})).totals.grossMicroUsdc };
  expect(sumOf(amountsOfTransactions(bytes))).toBe(BigInt(gross));
});

test('the statement of an author has his part alone: no other author, wallet, page, or amount, whatever else was sold', async () => {
  const site = await api.site();
  await nameTitles(site, { solo: 'Solo title', both: 'Title of both', 'secret-page': 'Secret title' });
  const ann = { toAddress: walletOf(0), amountMicro: 100, authorId: 'ann', share: 0.25 };
  const second = { toAddress: walletOf(5), amountMicro: 40, authorId: 'ann', share: 0.1 };
  const bob = { toAddress: walletOf(1), amountMicro: 777_777, authorId: 'bob-of-secret', share: 0.75 };
  const fee = { toAddress: FEE, amountMicro: 3_333, role: 'platform' as const };
  await insertPurchases(api.deps.database, [
    buy(site, { slug: 'both', legs: [ann, bob, fee] }),
    buy(site, { slug: 'both', legs: [ann, second, bob], kind: 'citation' }),
    buy(site, { slug: 'both', legs: [ann, bob], steps: 2 }),
    buy(site, { slug: 'secret-page', legs: [bob] }),
    buy(site, { slug: `licence:${crypto.randomUUID()}`, legs: [bob, second] }),
    // A wallet of bob's that named ann once: what names bob there is his.
    buy(site, { slug: 'handed-over', legs: [{ ...bob, authorId: 'bob-of-secret', toAddress: walletOf(5) }] }),
  ]);
  const { answer, bytes, text } = await statement(site, { author: 'ann' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-disposition')).toContain("filename*=UTF-8''ann-svc-earnings-");
  expect(text.toLowerCase()).not.toMatch(/bob|secret|handed|0\.77|0\.0033|platform|licence:/);
  expect(text.toLowerCase()).not.toContain(walletOf(1));
  expect(text).not.toContain('SHA-256');
  expect(rowsOf(bytes, 'Pages')).toEqual([
    ['Title of both', 'both', '25.00–35.00', '1', '1', '0.000240'],
    ['1 licence', '1', '0', '0.000040'],
    ['Total', '2', '1', '0.000280'],
  ]);
  expect(rowsOf(bytes, 'Wallets').map((row) => row.at(-1))).toEqual(['0.000200', '0.000080', '0.000280']);
  expect(amountsOfTransactions(bytes).sort()).toEqual(['-0.000100', '0.000040', '0.000100', '0.000100', '0.000140']);
});

test('a statement has a number, its period in words by the calendar of its reader, and amounts with commas', async () => {
  const site = await api.site();
  const legs = [{ toAddress: walletOf(0), amountMicro: 1_234_567_890, authorId: 'ann' }];
  await insertPurchases(api.deps.database, [buy(site, { legs, atMs: Date.UTC(2026, 9, 5, 12) })]);
  const drawnOf = async (from: string, to: string, query = {}) => {
    const { bytes } = await statement(site, { from: Date.parse(from), to: Date.parse(to), ...query });
    return { bytes, period: factOf(bytes, 'Period'), number: factOf(bytes, 'Number') };
  };
  const berlin = { timeZone: 'Europe/Berlin' };
  const month = await drawnOf('2026-10-01T00:00+02:00', '2026-11-01T00:00+01:00', berlin);
  expect(month.period).toBe('October 2026 (Europe/Berlin)');
  expect(structureOf(month.bytes)[2]?.text).toBe('1,234.56789USDC earned');
  expect(rowsOf(month.bytes, 'Summary').at(-1)).toEqual(['Total', '1', '1,234.567890']);
  const periods = [
    await drawnOf('2026-10-05T00:00Z', '2026-10-06T00:00Z'),
    await drawnOf('2026-10-05T00:00Z', '2026-11-03T00:00Z'),
    await drawnOf('2026-10-05T08:30Z', '2026-10-06T00:00Z'),
    await drawnOf('2026-10-01T00:00+02:00', '2026-11-01T00:00+01:00'),
  ];
  expect(periods.map(({ period }) => period)).toEqual([
    '5 October 2026 (UTC)',
    '5 October 2026 to 2 November 2026 (UTC)',
    '5 October 2026, 08:30 to 6 October 2026, 00:00 (UTC)',
    '30 September 2026, 22:00 to 31 October 2026, 23:00 (UTC)',
  ]);
  // The number is of what the statement is of, not of when or how it is drawn.
  expect(month.number).toMatch(/^(?:[0-9A-Z]{4}-){2}[0-9A-Z]{4}$/);
  expect(periods[3]?.number).toBe(month.number);
  const ofAuthor = await drawnOf('2026-10-01T00:00+02:00', '2026-11-01T00:00+01:00', { author: 'ann' });
  expect(new Set([month, ...periods, ofAuthor].map(({ number }) => number)).size).toBe(5);
});

test('what was taken back stands in the summary of the window in which it was recorded, of the site and of its author', async () => {
  const site = await api.site();
  await insertPurchases(api.deps.database, [buy(site), buy(site, { steps: 2 }), buy(site, { steps: 3 })]);
  for (const [query, amounts] of [
    [{}, ['0.004000', '-0.002000', '0.002000']],
    [{ author: 'ann' }, ['0.002800', '-0.001400', '0.001400']],
  ] as const) {
    // biome-ignore format: one line
    const { bytes } = await statement(site, query);
    expect(rowsOf(bytes, 'Summary')).toEqual([
      ['Sold', '4', amounts[0]],
      ['Taken back: corrections recorded in this window', '-2', amounts[1]],
      ['Total', '2', amounts[2]],
    ]);
  }
});

test('an author nobody knows is 404, one of another site too; one without a sale in the window has an empty statement', async () => {
  const [site, other] = [await api.site(), await api.site()];
  await insertPurchases(api.deps.database, [buy(site)]);
  await inviteMember(api.deps, { tenantId: site.tenantId, authorId: 'carl', email: 'carl@example.com' });
  const ask = async (of: Site, query: Record<string, string | number>) => {
    const { answer, text } = await statement(of, query);
    return [answer.status, answer.headers.get('x-svc-error-code') ?? (text.includes('Nothing was sold') ? 'empty' : 'full')];
  };
  expect(await ask(site, { author: 'ann' })).toEqual([200, 'full']);
  expect(await ask(site, { author: 'ann', to: Date.now() - 2 * HOUR })).toEqual([200, 'empty']);
  expect(await ask(site, { author: 'carl' })).toEqual([200, 'empty']);
  expect(await ask(site, { author: 'nobody' })).toEqual([404, 'not_found']);
  expect(await ask(other, { author: 'ann' })).toEqual([404, 'not_found']);
  expect(await ask(other, {})).toEqual([200, 'empty']);
  for (const author of ['', 'a\u0000', 'a\n', 'x'.repeat(201)]) {
    expect(await ask(site, { author })).toEqual([400, 'invalid_parameter']);
  }
});

test('rows add up to their total, to the micro, and to what REST says of the same window, of any sales', async () => {
  const authors = Array.from({ length: 4 }, (_, n) => ({
    toAddress: walletOf(n),
    authorId: ['ann', 'Ольга', '山田', 'محمد'][n] ?? '',
  }));
  const leg = fc.record({ author: fc.nat(3), amountMicro: fc.integer({ min: 1, max: 9_007_199_254 }) });
  const sale = fc.record({
    slug: fc.constantFrom('a', 'b', 'c', 'licence'),
    kind: fc.constantFrom('read' as const, 'citation' as const),
    atMs: fc.integer({ min: 0, max: 3 * DAY }),
    steps: fc.integer({ min: 1, max: 3 }),
    fee: fc.nat(2),
    legs: fc.uniqueArray(leg, { selector: ({ author }) => author, minLength: 1, maxLength: 4 }),
  });
  const now = Date.now();
  await fc.assert(
    fc.asyncProperty(
      fc.array(sale, { minLength: 1, maxLength: 25 }),
      fc.nat(3 * DAY),
      fc.nat(DAY),
      async (sales, from, length) => {
        const site = await api.site();
        const purchases = sales.map(({ slug, legs, fee, atMs, ...one }) => {
          const paid = legs.map(({ author, amountMicro }) => ({ ...authors[author], toAddress: walletOf(author), amountMicro }));
          const fees = fee === 0 ? [] : [{ toAddress: FEE, amountMicro: fee, role: 'platform' as const }];
          const bought = slug === 'licence' ? `licence:${crypto.randomUUID()}` : slug;
          return buy(site, { ...one, slug: bought, atMs: now - 4 * DAY + atMs, legs: [...paid, ...fees] as Purchase['legs'] });
        });
        await insertPurchases(api.deps.database, purchases);
        const window = { from: now - 4 * DAY + from, to: now - 4 * DAY + from + DAY + length };
        const { totals } = await rest(site, '', window);
        const statements = (await rest(site, '/statements', window)).statements as { wallet: string; grossMicroUsdc: number }[];
        await expectSums((await statement(site, window)).bytes, totals.grossMicroUsdc, statements.reduce((sum, one) => sum + one.grossMicroUsdc, 0)); // biome-ignore format: one line
        for (const { toAddress, authorId } of authors.slice(2)) {
          const own = statements.find(({ wallet }) => wallet.toLowerCase() === toAddress)?.grossMicroUsdc ?? 0;
          const { answer, bytes } = await statement(site, { ...window, author: authorId });
          if (answer.status === 404) expect(own).toBe(0);
          else await expectSums(bytes, own, own);
        }
      },
    ),
    { numRuns: 3 },
  );
});

async function expectSums(bytes: Buffer, gross: number, toAuthors: number): Promise<void> {
  const shown = textOf(bytes).split('\n')[0]?.split('  ').at(-1);
  expect(sumOf([shown])).toBe(BigInt(gross));
  if (gross === 0) return;
  const summary = rowsOf(bytes, 'Summary');
  expect(sumOf(summary.slice(0, -1).map((row) => row.at(-1)))).toBe(BigInt(gross));
  expect(sumOf([summary.at(-1)?.at(-1)])).toBe(BigInt(gross));
  const pages = rowsOf(bytes, 'Pages');
  expect([sumOf(pages.slice(0, -1).map((row) => row.at(-1))), sumOf([pages.at(-1)?.at(-1)])]).toEqual([
    BigInt(gross),
    BigInt(gross),
  ]);
  const wallets = rowsOf(bytes, 'Authors');
  if (headingsOf(bytes).includes('Authors')) expect(sumOf(wallets.slice(0, -1).map((row) => row.at(-1)))).toBe(BigInt(toAuthors));
  expect(sumOf(amountsOfTransactions(bytes))).toBe(BigInt(gross));
}

test('a thread that overruns is ended: its caller is told so, and its place and connection are free again', async () => {
  const site = await api.site();
  await insertPurchases(api.deps.database, [buy(site)]);
  const never = (): Worker => new Worker('while (true);', { eval: true });
  await expect(drawn(site, { start: never, limitMs: 200 })).rejects.toMatchObject({ code: 'overloaded' });
  const { pool } = api.deps.database;
  expect(pool.totalCount - pool.idleCount).toBe(0);
  expect((await drawn(site)).length).toBeGreaterThan(1_000);
});

test('the PDF of more authors than it has lines says in one line what the others were paid', async () => {
  const site = await api.site();
  const count = 5_050;
  // Fifty authors a purchase; the first are paid most, and the sum of 1 to 5,050 is what all are paid.
  const legs = Array.from({ length: count }, (_, n) => {
    const toAddress = `0x${(n + 1).toString(16).padStart(40, '0')}`;
    return { toAddress, amountMicro: count - n, authorId: `writer-${n}`, share: 0.02 };
  });
  const purchases = Array.from({ length: count / 50 }, (_, n) =>
    buy(site, { slug: 'many', legs: legs.slice(n * 50, (n + 1) * 50) }),
  );
  await insertPurchases(api.deps.database, purchases);
  // A busy machine may need more than the minute that the product gives a statement.
  const bytes = await drawn(site, { limitMs: PATIENT_MS });
  const text = textOf(bytes);
  // Those who were paid most, in the order of their names.
  expect([...text.matchAll(/writer-\d+/g)].map(([name]) => Number(name.slice(7)))).toEqual(
    Array.from({ length: 5_000 }, (_, n) => n),
  );
  expect(text).toContain('50 other authors (see the CSV export)  0.001275');
  const authors = rowsOf(bytes, 'Authors');
  expect(sumOf(authors.slice(0, -1).map((row) => row.at(-1)))).toBe(BigInt((count * (count + 1)) / 2));
}, 300_000);

/** The statement of a site, drawn by the product with these options. */
async function drawn(site: Site, options: DrawingOptions = {}): Promise<Buffer> {
  const asker = { tenantId: site.tenantId, keyId: 'k', hosts: [site.host], plan: null };
  const deps = { ...api.deps.reports, heavy, startDrawing: () => startDrawing(options) };
  return Buffer.from((await exportPdf(deps, asker, { fromMs: 0, toMs: null, authorId: null, timeZone: 'UTC' })).bytes);
}
