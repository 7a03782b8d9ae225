import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_EXPORT_ROWS } from '../../modules/reports/use/exportCsv.ts';
import { MAX_STATEMENT_LINES } from '../../modules/reports/use/statements.ts';
import { startTestApi } from '../support/api.ts';
import type { Purchase, Seen } from '../support/reports.ts';
import { insertPurchases, insertSeen, seenOn } from '../support/reports.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const ANN = `0x${'a1'.repeat(20)}`;
const BOB = `0x${'b2'.repeat(20)}`;
const FEE = `0x${'f3'.repeat(20)}`;
const PATHS = [
  '/_svc/earnings',
  '/_svc/earnings/statements',
  '/_svc/earnings/export.csv',
  '/_svc/earnings/export.pdf',
  '/_svc/audit',
];

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

type Site = Awaited<ReturnType<typeof api.site>>;

function get(site: Site, path: string, query: Record<string, string | number> = {}) {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return api.request(text === '' ? path : `${path}?${text}`, { key: site.key });
}

function buy(site: Site, changes: Partial<Purchase> = {}): Purchase {
  const legs = [
    { toAddress: ANN, amountMicro: 700, authorId: 'ann', share: 0.7 },
    { toAddress: BOB, amountMicro: 300, authorId: 'bob', share: 0.3 },
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

function see(site: Site, changes: Partial<Seen> = {}): Seen {
  return seenOn(site, { agentUa: 'GPTBot/1', atMs: Date.now() - HOUR, ...changes });
}

test('earnings hold exactly the members of the specification, with what was settled in the window', async () => {
  const site = await api.site();
  const at = Date.now() - 2 * HOUR;
  await insertPurchases(api.deps.database, [
    buy(site, { atMs: at }),
    buy(site, { atMs: at - 5, kind: 'citation', slug: 'trio', legs: [{ toAddress: ANN, amountMicro: 5_000, authorId: 'ann' }] }),
    buy(site, { atMs: at - 10, steps: 2 }),
    buy(site, {
      atMs: at - DAY,
      legs: [
        { toAddress: BOB, amountMicro: 50 },
        { toAddress: FEE, amountMicro: 8, role: 'platform' },
      ],
    }),
  ]);
  const from = at - HOUR;
  const { status, headers, body } = await get(site, '/_svc/earnings', { from, to: at + 1, compare: 1, groupBy: 'author' });
  expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store']);
  const sums = { events: 2, reads: 1, citations: 1, grossMicroUsdc: 6_000 };
  expect(body).toEqual({
    generatedAt: expect.any(Number),
    window: { from, to: at + 1 },
    totals: { tenants: 1, ...sums, authors: 2 },
    previous: { totals: { tenants: 1, events: 0, reads: 0, citations: 0, grossMicroUsdc: 0, authors: 0 } },
    breakdown: [
      { key: expect.stringMatching(new RegExp(ANN, 'i')), label: 'ann', ...sums, grossMicroUsdc: 5_700 },
      { key: expect.stringMatching(new RegExp(BOB, 'i')), label: 'bob', events: 1, reads: 1, citations: 0, grossMicroUsdc: 300 },
    ],
    tenants: [{ id: site.tenantId, hosts: [site.host], ...sums, authors: 2, lastEventAt: at }],
    recent: [
      { host: site.host, slug: 'solo', kind: 'read', micro: 1_000, at },
      { host: site.host, slug: 'trio', kind: 'citation', micro: 5_000, at: at - 5 },
      { host: site.host, slug: 'solo', kind: 'read', micro: -1_000, at: at - 10 },
      { host: site.host, slug: 'solo', kind: 'read', micro: 1_000, at: at - 10 },
    ],
  });
  const filtered = (await get(site, '/_svc/earnings', { from, kind: 'citation', host: site.host.toUpperCase() })).body;
  expect([filtered.totals.events, filtered.recent.length, 'previous' in filtered, 'breakdown' in filtered]).toEqual([
    1,
    1,
    false,
    false,
  ]);
  const byKind = (await get(site, '/_svc/earnings', { from: at - 2 * DAY, groupBy: 'kind' })).body.breakdown;
  expect(byKind.map((row: { label: string; grossMicroUsdc: number }) => [row.label, row.grossMicroUsdc])).toEqual([
    ['Citations', 5_000],
    ['Reads', 1_058],
  ]);
});

test('a host may be named as people read it, in capitals, or with the dot of its root', async () => {
  const site = await api.site({ hosts: ['xn--bcher-kva.example', 'plain.bcher.example'] });
  await insertPurchases(api.deps.database, [buy(site)]);
  await insertSeen(api.deps.database, [see(site)]);
  for (const host of ['xn--bcher-kva.example', 'bücher.example', 'BÜCHER.Example', 'XN--BCHER-KVA.example.']) {
    expect((await get(site, '/_svc/earnings', { host })).body.totals.events).toBe(1);
    expect((await get(site, '/_svc/audit', { host })).body.totals.observations).toBe(1);
  }
  for (const host of ['plain.bcher.example', 'b_cher.example', 'bücher.example:443', '日本.example', '\ud83d\ude00']) {
    expect((await get(site, '/_svc/earnings', { host })).body.totals.events).toBe(0);
  }
  for (const host of [' ', 'a b', 'a\u0000', 'a\n', `${'a'.repeat(254)}`]) {
    expect((await get(site, '/_svc/audit', { host })).body.error).toBe('invalid_parameter: host: must be a host');
  }
});

test('a site without a crossing has zeros, and retention clamps what is older', async () => {
  const site = await api.site();
  const { body } = await get(site, '/_svc/earnings', { from: 0 });
  const floor = body.generatedAt - 400 * DAY;
  expect(body).toMatchObject({ retentionClampedTo: floor, window: { from: floor, to: null }, recent: [] });
  expect(body.totals).toEqual({ tenants: 1, events: 0, reads: 0, citations: 0, grossMicroUsdc: 0, authors: 0 });
  expect(body.tenants[0].lastEventAt).toBe(null);
  expect('retentionClampedTo' in (await get(site, '/_svc/earnings', { from: Date.now() - DAY })).body).toBe(false);
  await insertPurchases(api.deps.database, [buy(site, { atMs: Date.now() - 401 * DAY })]);
  for (const path of ['/_svc/earnings', '/_svc/earnings/statements']) {
    const old = (await get(site, path, { from: 1, to: Date.now() - 400 * DAY - HOUR })).body;
    expect(JSON.stringify(old)).not.toContain('"solo"');
  }
  expect((await get(site, '/_svc/earnings/export.csv', { from: 1 })).headers.get('x-svc-row-count')).toBe('0');
});

test('pages neither split nor repeat crossings of one millisecond, and the last has no cursor', async () => {
  const site = await api.site();
  const at = Date.now() - HOUR;
  const times = [0, 0, 0, 1, 2, 2, 3, 3, 3, 3];
  await insertPurchases(
    api.deps.database,
    times.map((back, n) => buy(site, { atMs: at - back, slug: `s${n}` })),
  );
  for (const [path, list] of [['/_svc/earnings', times]] as const) {
    const sizes: number[] = [];
    const slugs: string[] = [];
    let cursor: number | undefined;
    do {
      const { body } = await get(site, path, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      sizes.push(body.recent.length);
      slugs.push(...body.recent.map((row: { slug: string }) => row.slug));
      expect([body.totals.events, body.tenants[0].lastEventAt]).toEqual([10, at]);
      cursor = body.nextCursor;
    } while (cursor !== undefined);
    expect(sizes).toEqual([3, 3, 4]);
    expect(new Set(slugs).size).toBe(list.length);
  }
});

test('parameters that cannot be meant are 400 and named, on every report', async () => {
  const site = await api.site();
  const wrong: [string, string][] = [
    ...['abc', '-1', '1.5', '', '1e3', ' 1', '9999999999999999'].flatMap((value): [string, string][] =>
      ['from', 'to', 'cursor'].map((name) => [name, name === 'cursor' && value === '1e3' ? '1e-3' : value]),
    ),
    ...['0', '-5', 'x', '1.5', ''].map((value): [string, string] => ['limit', value]),
    ...['2', 'true', ''].map((value): [string, string] => ['compare', value]),
    ...['wallet', '', 'HOST'].map((value): [string, string] => ['groupBy', value]),
  ];
  for (const path of PATHS) {
    for (const [name, value] of path === '/_svc/earnings' ? wrong : wrong.filter((_, n) => n % 4 === 0)) {
      const { status, body, headers } = await get(site, path, { [name]: value });
      expect([path, name, value, status]).toEqual([path, name, value, 400]);
      expect(body).toMatchObject({ error: expect.stringMatching(new RegExp(`^invalid_parameter: ${name}\\b`)) });
      expect(headers.get('x-svc-error-code')).toBe('invalid_parameter');
    }
    expect((await get(site, path, { from: 2, to: 1 })).body.error).toMatch(/^invalid_parameter: from: must not be after to/);
    expect((await api.request(`${path}?from=1&from=2`, { key: site.key })).body.error).toContain('from is given twice');
    const misspelt = await get(site, path, { timeZome: 'Europe/Berlin' });
    expect([path, misspelt.status, misspelt.body.error]).toEqual([
      path,
      400,
      expect.stringMatching(/^invalid_parameter: unknown parameter "timeZome"; there are from, to, /),
    ]);
  }
  for (const path of ['/_svc/earnings', '/_svc/audit']) {
    for (const [name, value] of [
      ['kind', 'look'],
      ['host', ''],
    ] as const) {
      expect((await get(site, path, { [name]: value })).body.error).toContain(`invalid_parameter: ${name}`);
    }
  }
  for (const [name, value] of [
    ['verdict', 'sold'],
    ['agent', ''],
  ] as const) {
    expect((await get(site, '/_svc/audit', { [name]: value })).body.error).toContain(`invalid_parameter: ${name}`);
  }
  expect((await get(site, '/_svc/earnings', { groupBy: 'verdict' })).status).toBe(400);
  expect((await get(site, '/_svc/earnings', { limit: 100_000 })).status).toBe(200);
});

test('a window may be said in epoch milliseconds, as a date or as an instant, and answers the same', async () => {
  const site = await api.site();
  const beganAt = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), new Date().getUTCDate());
  const day = new Date(beganAt).toISOString().slice(0, 10);
  const [begin, end] = [`${day}T02:00:00+02:00`, new Date(beganAt + HOUR).toISOString()];
  for (const [from, to] of [
    [beganAt, beganAt + HOUR],
    [day, beganAt + HOUR],
    [begin, end],
  ] as const) {
    const { status, body } = await get(site, '/_svc/earnings', { from, to });
    expect([from, status, body.window]).toEqual([from, 200, { from: beganAt, to: beganAt + HOUR }]);
  }
  for (const from of ['2026-11-31', '2026-11', '2026-11-01T00:00', '10000-01-01', '1969-12-31']) {
    expect((await get(site, '/_svc/earnings', { from })).body.error).toMatch(
      /^invalid_parameter: from: must be epoch milliseconds, a date/,
    );
  }
});

test('reports need their scope, the plan and a key, in that order of statuses, and show nothing of another site', async () => {
  const [mine, other] = [await api.site(), await api.site()];
  await insertPurchases(api.deps.database, [buy(other)]);
  await insertSeen(api.deps.database, [see(other)]);
  const earner = await api.site({ scopes: ['earnings.read.all'] });
  const auditor = await api.site({ scopes: ['audit.read'] });
  const free = await api.site({ plan: 'starter' });
  for (const path of PATHS) {
    expect((await api.request(path)).status).toBe(401);
    expect((await get({ ...mine, key: 'svc_live_wrong' }, `${path}?from=x`)).status).toBe(401);
    const gated = await get(free, path);
    expect([gated.status, gated.body]).toMatchObject([403, { error: expect.any(String), upgrade: true }]);
    const [allowed, refused] = path === '/_svc/audit' ? [auditor, earner] : [earner, auditor];
    expect((await get(allowed, path)).status).toBe(200);
    const lacking = await get(refused, path);
    expect([lacking.status, lacking.body]).toMatchObject([403, { error: expect.stringContaining('scope_missing') }]);
    if (!path.endsWith('.pdf'))
      expect(JSON.stringify((await get(mine, path, { host: other.host })).body)).not.toContain(other.host);
  }
});

test('statements list each author with exact totals; beyond 10,000 lines only the lines are cut, and it is said', async () => {
  const site = await api.site();
  const at = Date.now() - HOUR;
  const many = Array.from({ length: MAX_STATEMENT_LINES + 1 }, (_, n) =>
    buy(site, { atMs: at - n, legs: [{ toAddress: ANN, amountMicro: 10, share: 1 }] }),
  );
  await insertPurchases(api.deps.database, [...many, buy(site, { atMs: at - DAY }), buy(site, { atMs: at, steps: 2 })]);
  const { body } = await get(site, '/_svc/earnings/statements');
  expect(body).toMatchObject({ totalMicroUsdc: 10 * many.length + 1_000, authors: 2 });
  const [ann, bob] = body.statements;
  expect(ann).toMatchObject({
    events: many.length + 1,
    reads: many.length + 1,
    citations: 0,
    grossMicroUsdc: 10 * many.length + 700,
  });
  expect([ann.lines.length, ann.truncatedLines, ann.lines[0].at]).toEqual([MAX_STATEMENT_LINES, true, at]);
  expect(bob).toEqual({
    wallet: expect.stringMatching(new RegExp(BOB, 'i')),
    events: 1,
    reads: 1,
    citations: 0,
    grossMicroUsdc: 300,
    lines: [-300, 300, 300].map((micro, n) => ({
      host: site.host,
      slug: 'solo',
      kind: 'read',
      share: 0.3,
      micro,
      at: n < 2 ? at : at - DAY,
    })),
  });
});

test('crossings of one moment stand in the same order in earnings, statements and the CSV, at every call', async () => {
  const site = await api.site();
  const at = Date.now() - HOUR;
  const slugs = Array.from({ length: 40 }, (_, n) => `s${n}`);
  for (const slug of slugs) await insertPurchases(api.deps.database, [buy(site, { atMs: at, slug })]);
  const newestFirst = slugs.reverse();
  const of = (rows: readonly { slug: string }[]) => rows.map(({ slug }) => slug);
  expect(of((await get(site, '/_svc/earnings')).body.recent)).toEqual(newestFirst);
  for (const { lines } of (await get(site, '/_svc/earnings/statements')).body.statements) expect(of(lines)).toEqual(newestFirst);
  const csv: string = (await get(site, '/_svc/earnings/export.csv')).body;
  expect([...csv.matchAll(/,(s\d+),read,700,/g)].map(([, slug]) => slug)).toEqual(newestFirst);
});

test('the CSV has one row a leg with every column, adds up to the totals, and starts no formula', async () => {
  const site = await api.site();
  const at = Date.now() - HOUR;
  const fee = { toAddress: FEE, amountMicro: 25, role: 'platform' as const };
  await insertPurchases(api.deps.database, [
    buy(site, { atMs: at, slug: '=HYPERLINK("x")', agent: 'gptbot', payer: `0x${'c4'.repeat(20)}` }),
    buy(site, { atMs: at - 1, steps: 2 }),
    buy(site, {
      atMs: at - 2,
      steps: 3,
      kind: 'citation',
      slug: 'a,b\r\nc',
      legs: [{ toAddress: ANN, amountMicro: 5_000 }, fee],
    }),
    buy(site, { atMs: at - 3, slug: 'told' }),
  ]);
  const { database } = api.deps;
  const { tenantId } = site;
  const named = JSON.stringify({ '=HYPERLINK("x")': { title: '=SUM(1)' } });
  await database.query("update tenant set credits_inline = $2, credits_api_url = 'https://a.example' where tenant_id = $1", [
    tenantId,
    named,
  ]);
  await database.query("insert into imported_page (tenant_id, slug, path, title) values ($1, $2, '/abc', $3)", [
    tenantId,
    'a,b\r\nc',
    'Ça, "ira"',
  ]);
  for (const [origin, title] of [
    ['a', 'Told'],
    ['b', 'Former'],
  ]) {
    await database.query(
      "insert into credits_copy (tenant_id, api_url, slug, credits, fetched_at) values ($1, $2, 'told', $3, now())",
      [tenantId, `https://${origin}.example`, JSON.stringify({ title })],
    );
  }
  const { status, headers, body } = await get(site, '/_svc/earnings/export.csv', { from: at - HOUR });
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  expect([status, headers.get('content-type'), headers.get('x-svc-row-count'), headers.get('x-svc-truncated')]).toEqual([
    200,
    'text/csv; charset=utf-8',
    '14',
    null,
  ]);
  expect(headers.get('content-disposition')).toBe(
    `attachment; filename="svc-earnings-${site.host}-${day(at - HOUR)}-${day(Date.now())}.csv"`,
  );
  const [first, second] = body.split('\r\n');
  expect(first).toBe(
    'at_iso,at_ms,host,slug,kind,amount_micro,amount_usdc,author_id,wallet,share,role,settlement_ref,settlement_ref_kind,payer,agent,licence_jti,title,payment_id,crossing_id',
  );
  expect(second.toLowerCase()).toMatch(
    new RegExp(
      `^${new Date(at).toISOString().toLowerCase()},${at},${site.host},"'=hyperlink\\(""x""\\)",read,700,0.000700,ann,${ANN},0.7,author,` +
        `0x[0-9a-f]{64},txhash,0x${'c4'.repeat(20)},gptbot,,'=sum\\(1\\),[0-9a-f-]{36},[0-9a-f-]{36}$`,
    ),
  );
  const rows = [...body.matchAll(/,([^,]*|"[^"]*(?:""[^"]*)*"),([0-9a-f-]{36}),([0-9a-f-]{36})\r\n/g)];
  const [formula, comma] = ["'=SUM(1)", '"Ça, ""ira"""'];
  expect(rows.map(([, title]) => title)).toEqual(
    [formula, '', comma, 'Told'].flatMap((title, n) => Array<string>([2, 4, 6, 2][n] as number).fill(title)),
  );
  const crossings = await database.query(
    'select payment_id, crossing_id from crossing where tenant_id = $1 order by at desc, crossing_id desc',
    [tenantId],
  );
  expect([...new Set(rows.map(([, , ...ids]) => ids.join(' ')))]).toEqual(
    crossings.map((row) => `${row['payment_id']} ${row['crossing_id']}`),
  );
  const amounts = [...body.matchAll(/,(?:read|citation),(-?\d+),/g)].map(([, micro]) => Number(micro));
  const { totals } = (await get(site, '/_svc/earnings')).body;
  expect(amounts.reduce((sum, micro) => sum + micro, 0)).toBe(totals.grossMicroUsdc);
  const statements = (await get(site, '/_svc/earnings/statements')).body;
  expect(statements.totalMicroUsdc).toBe(totals.grossMicroUsdc - 25);
});

test('what `compare` covers is what its description says: cut where retention begins, nothing when the window was cut itself', async () => {
  const site = await api.site();
  const now = Date.now();
  const ago = (days: number) => now - days * DAY;
  const bought = [387, 395, 405].map((days, n) => {
    const legs = [{ toAddress: ANN, amountMicro: 10 ** n, authorId: 'ann', share: 1 }];
    return buy(site, { atMs: ago(days), legs });
  });
  await insertPurchases(api.deps.database, bought);
  const ask = async (path: string, from: number, to: number) => {
    const { body } = await get(site, path, { from, to, compare: 1 });
    return [body.totals.grossMicroUsdc, body.previous.totals.grossMicroUsdc, 'retentionClampedTo' in body];
  };
  // 400 days are kept: of the second window before, what is older than that is left out, and asking for it shows so.
  expect(await ask('/_svc/earnings', ago(391), ago(386))).toEqual([1, 10, false]);
  expect(await ask('/_svc/earnings', ago(396), ago(391))).toEqual([10, 0, false]);
  expect(await ask('/_svc/earnings', ago(391), ago(371))).toEqual([1, 10, false]);
  expect(await ask('/_svc/earnings', ago(411), ago(391))).toEqual([10, 0, true]);
  const audit = (await get(site, '/_svc/audit', { from: 1, compare: 1 })).body;
  expect([audit.retentionClampedTo > 0, audit.previous.totals.observations]).toEqual([true, 0]);
  const { body } = await api.request('/_svc/openapi.json');
  for (const path of ['/_svc/earnings', '/_svc/audit']) {
    const { schema } = body.paths[path].get.parameters.find(({ name }: { name: string }) => name === 'compare');
    expect(schema.description).toContain('retention cuts that window, too');
    expect(schema.description).toContain('all zeros when `retentionClampedTo` is set');
  }
  const { description } = body.paths['/_svc/earnings/export.csv'].get;
  expect(description).toMatch(/10 minutes in all, and pause for 60 seconds/);
});

test('a CSV of more than 50,000 rows is cut, says so before its body, and the next export of the key waits for it', async () => {
  const site = await api.site();
  const at = Date.now() - HOUR;
  const legs = Array.from({ length: 25 }, (_, n) => ({
    toAddress: `0x${String(n).padStart(40, '0')}`,
    amountMicro: 4,
    share: 0.04,
  }));
  const purchases = Array.from({ length: MAX_EXPORT_ROWS / 25 + 1 }, (_, n) => buy(site, { atMs: at - n, legs }));
  await insertPurchases(api.deps.database, purchases);
  const url = `${api.url}/_svc/earnings/export.csv`;
  const headers = { authorization: `Bearer ${site.key}` };
  const slow = await fetch(url, { headers });
  expect([slow.headers.get('x-svc-truncated'), slow.headers.get('x-svc-row-count')]).toEqual(['true', String(MAX_EXPORT_ROWS)]);
  const second = await fetch(url, { headers });
  expect([second.status, second.headers.get('retry-after'), second.headers.get('x-svc-error-code')]).toEqual([
    429,
    '2',
    'throttled',
  ]);
  await second.text();
  const lines = (await slow.text()).split('\r\n');
  expect(lines).toHaveLength(MAX_EXPORT_ROWS + 2);
  const gone = await fetch(url, { headers });
  await gone.body?.cancel();
  await expect
    .poll(async () => (await api.request('/_svc/earnings/export.csv?from=1', { key: site.key, method: 'HEAD' })).status)
    .toBe(200);
  expect((await get(site, '/_svc/earnings')).body.totals.events).toBe(purchases.length);
  expect((await fetch(url, { headers })).status).toBe(200);
});

test('the audit counts verdicts, money, reasons, masquerade and agents, net of what was taken back', async () => {
  const site = await api.site();
  const at = Date.now() - HOUR;
  const [paymentId = null] = await insertPurchases(api.deps.database, [buy(site, { atMs: at })]);
  await insertSeen(api.deps.database, [
    see(site, { atMs: at - 1 }),
    see(site, { atMs: at - 2, verdict: 'blocked', agent: 'other', agentUa: 'curl/8', sigInvalid: true }),
    see(site, {
      atMs: at - 3,
      verdict: 'served-free',
      classifiedAs: 'human',
      kind: null,
      micro: null,
      agent: 'other',
      agentUa: null,
    }),
    see(site, { atMs: at - 4, verdict: 'payment-failed', reason: 'insufficient_funds', micro: 400 }),
    see(site, { atMs: at - 5, agent: 'agent.example', verified: true, verifiedAgent: 'agent.example' }),
    ...([1, -1, 1] as const).map((count) => see(site, { atMs: at, verdict: 'paid', paymentId, count, verified: true })),
  ]);
  const { status, body } = await get(site, '/_svc/audit', { from: at - HOUR, compare: 1, groupBy: 'verdict', limit: 3 });
  expect(status).toBe(200);
  const totals = {
    observations: 6,
    agentHits: 5,
    denied: 2,
    answered: 1,
    paid: 1,
    servedFree: 1,
    paymentFailed: 1,
    missedMicroUsdc: 3_000,
    failedMicroUsdc: 400,
    earnedMicroUsdc: 1_000,
    failedByReason: {
      insufficient_funds: 1,
      authorization_invalid: 0,
      malformed_payment: 0,
      network_unsupported: 0,
      settlement_failed: 0,
    },
    verifiedHits: 2,
    verifiedEarnedMicroUsdc: 1_000,
    masqueradeAttempts: 1,
  };
  expect(body.totals).toEqual(totals);
  expect(Object.keys(body).sort()).toEqual([
    'breakdown',
    'byAgent',
    'generatedAt',
    'nextCursor',
    'previous',
    'recent',
    'totals',
    'window',
  ]);
  expect(body.previous.totals.observations).toBe(0);
  expect(body.breakdown[0]).toEqual({
    key: 'denied',
    label: 'Denied',
    hits: 2,
    denied: 2,
    answered: 0,
    paid: 0,
    missedMicroUsdc: 2_000,
    earnedMicroUsdc: 0,
    verifiedEarnedMicroUsdc: 0,
  });
  expect(body.byAgent).toEqual([
    { agent: 'gptbot', hits: 3, denied: 1, answered: 1, paid: 1, verified: true },
    { agent: 'agent.example', hits: 1, denied: 1, answered: 0, paid: 0, verified: true },
    { agent: 'other', hits: 1, denied: 0, answered: 0, paid: 0 },
  ]);
  expect(body.recent).toEqual([
    {
      host: site.host,
      slug: 'solo',
      kind: 'read',
      verdict: 'paid',
      classifiedAs: 'agent',
      agentUa: 'GPTBot/1',
      verified: true,
      micro: 1_000,
      at,
    },
    {
      host: site.host,
      slug: 'solo',
      kind: 'read',
      verdict: 'denied',
      classifiedAs: 'agent',
      agentUa: 'GPTBot/1',
      micro: 1_000,
      at: at - 1,
    },
    expect.objectContaining({ verdict: 'blocked', sigInvalid: true, at: at - 2 }),
  ]);
  const next = (await get(site, '/_svc/audit', { cursor: body.nextCursor })).body;
  expect([next.recent.length, 'nextCursor' in next, next.totals.observations]).toEqual([3, false, 6]);
  expect(next.recent[0]).toEqual({ host: site.host, slug: 'solo', verdict: 'served-free', classifiedAs: 'human', at: at - 3 });

  const count = async (query: Record<string, string>) => (await get(site, '/_svc/audit', query)).body.totals.observations;
  expect(await count({ agent: 'gptbot' })).toBe(3);
  expect(await count({ agent: 'curl/8' })).toBe(1);
  expect(await count({ agent: 'unknown' })).toBe(1);
  expect(await count({ agent: 'agent.example', verdict: 'denied' })).toBe(1);
  expect(await count({ agent: 'nobody' })).toBe(0);
  expect(await count({ kind: 'read', verdict: 'blocked' })).toBe(1);
  const authors = (await get(site, '/_svc/audit', { groupBy: 'author' })).body.breakdown;
  expect(
    authors.map((row: Record<string, unknown>) => [
      row['label'],
      row['paid'],
      row['earnedMicroUsdc'],
      row['verifiedEarnedMicroUsdc'],
    ]),
  ).toEqual([
    ['No author known', 0, 0, 0],
    ['ann', 1, 700, 700],
    ['bob', 1, 300, 300],
  ]);
});

test('an audit page never holds more than its limit: reports of one millisecond go on from page to page, and totals stay exact', async () => {
  const site = await api.site();
  const at = Date.now() - HOUR;
  const seen = (count: number, atMs: number, name: string) =>
    Array.from({ length: count }, (_, n) => see(site, { atMs, slug: `${name}-${n}` }));
  await insertSeen(api.deps.database, [...seen(3, at + 1, 'newer'), ...seen(1_100, at, 'tied'), ...seen(4, at - 1, 'older')]);
  const slugs: string[] = [];
  let cursor: number | undefined;
  do {
    const { body } = await get(site, '/_svc/audit', { limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    expect([body.recent.length <= 200, body.truncated, body.totals.observations]).toEqual([true, undefined, 1_107]);
    slugs.push(...body.recent.map((row: { slug: string }) => row.slug));
    cursor = body.nextCursor;
    expect(cursor === undefined || Number.isSafeInteger(cursor), 'a library that keeps whole numbers keeps it').toBe(true);
  } while (cursor !== undefined);
  expect([slugs.length, new Set(slugs).size]).toEqual([1_107, 1_107]);
  expect([
    slugs.slice(0, 3).every((slug) => slug.startsWith('newer')),
    slugs.slice(-4).every((slug) => slug.startsWith('older')),
  ]).toEqual([true, true]);
  const one = (await get(site, '/_svc/audit', { limit: 1, cursor: at + 1 })).body;
  expect([one.recent.length, Number.isSafeInteger(one.nextCursor)]).toEqual([1, true]);
  const next = (await get(site, '/_svc/audit', { limit: 2, cursor: one.nextCursor })).body;
  for (const form of [`${one.nextCursor}.0`, one.nextCursor.toExponential(), one.nextCursor.toExponential().replace('+', '')]) {
    const again = await get(site, '/_svc/audit', { limit: 2, cursor: form });
    expect([again.status, again.body.recent, again.body.nextCursor], form).toEqual([200, next.recent, next.nextCursor]);
  }
  expect((await get(site, '/_svc/earnings', { cursor: at.toExponential() })).status).toBe(200);
  for (const bad of ['-1', '1e-3', '1.', 'x', '1.5', '1e99', '1.00000000000000001', '9007199254740993']) {
    expect((await get(site, '/_svc/audit', { cursor: bad })).status, bad).toBe(400);
  }
});

test('of 15,000 reports of one millisecond a page of 1 has 1; past what a cursor can count the rest is left out, and said', async () => {
  const site = await api.site();
  const at = Date.now() - HOUR;
  for (let n = 0; n < 3; n++) {
    await insertSeen(
      api.deps.database,
      Array.from({ length: 5_000 }, () => see(site, { atMs: at })),
    );
  }
  await insertSeen(api.deps.database, [see(site, { atMs: at - 1, slug: 'older' })]);
  const first = await get(site, '/_svc/audit', { limit: 1 });
  expect([first.body.recent.length, first.body.truncated]).toEqual([1, undefined]);
  let shown = 0;
  let cursor: number | undefined;
  let page: { recent: { slug: string; at: number }[]; nextCursor?: number; truncated?: true };
  do {
    page = (await get(site, '/_svc/audit', { limit: 500, ...(cursor === undefined ? {} : { cursor }) })).body;
    shown += page.recent.length;
    cursor = page.nextCursor;
  } while (page.truncated === undefined && cursor !== undefined);
  expect([shown, page.truncated, cursor]).toEqual([2_500, true, at]);
  const last = (await get(site, '/_svc/audit', { limit: 500, cursor: cursor as number })).body;
  expect([last.recent.map(({ slug }: { slug: string }) => slug), 'nextCursor' in last]).toEqual([['older'], false]);
  expect(last.totals.observations).toBe(15_001);
});

test('the description lists every report with its parameters', async () => {
  const { body } = await api.request('/_svc/openapi.json');
  for (const path of PATHS) {
    const names = body.paths[path].get.parameters.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['from', 'to', 'compare', 'groupBy', 'cursor', 'limit']));
  }
});
