import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi } from '../../api/app.ts';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import { exportZip, MAX_ZIP_STATEMENTS } from '../../modules/reports/use/exportZip.ts';
import { makeStatementLink } from '../../modules/reports/use/statementLinks.ts';
import { markOwnerTokenRevoked, setOwner } from '../../modules/tenants/store/owners.ts';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { openHeavyWork, siteName } from '../../platform/pacing/heavy.ts';
import { listAuditEntries } from '../support/auditEntries.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { textOf } from '../support/pdf.ts';
import type { Purchase } from '../support/reports.ts';
import { insertPurchases } from '../support/reports.ts';
import { query } from '../support/sql.ts';

/** Statements as publishers hand them out: an archive of all authors, and a link for each. */

const DAY = 86_400_000;
const walletOf = (n: number): string => `0x${(n + 0xa1).toString(16).padStart(4, '0').repeat(10)}`;
/** October 2026 in Berlin, which begins and ends in another offset. */
const OCTOBER = { from: Date.UTC(2026, 8, 30, 22), to: Date.UTC(2026, 9, 31, 23) };

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Site;
let owner: string;
beforeAll(async () => {
  graph = await startTestGraphql();
  site = await graph.api.site({ plan: 'studio' });
  owner = await graph.owner(site.tenantId);
  const [ann, bob, nobody] = [
    { toAddress: walletOf(0), amountMicro: 700, authorId: 'Ann / Ä' },
    { toAddress: walletOf(1), amountMicro: 300, authorId: 'bob' },
    { toAddress: walletOf(2), amountMicro: 50 },
  ];
  await insertPurchases(graph.api.deps.database, [
    bought(OCTOBER.from, { slug: 'first', legs: [ann, bob] }),
    bought(OCTOBER.to - 1, { slug: 'last', legs: [ann, nobody] }),
    bought(OCTOBER.from - 1, { slug: 'september', legs: [ann] }),
    bought(OCTOBER.to, { slug: 'november', legs: [ann] }),
  ]);
});
afterAll(() => graph?.stop());

type Site = Awaited<ReturnType<typeof graph.api.site>>;

const bought = (atMs: number, changes: Partial<Purchase>): Purchase => ({
  ...{ tenantId: site.tenantId, host: site.host, slug: 'solo', kind: 'read', steps: 1, legs: [] },
  ...changes,
  atMs,
});

const MAKE = `mutation ($input: MakeStatementLinkInput!) { makeStatementLink(input: $input) {
  __typename ... on MakeStatementLinkPayload { authorId url expiresAt } ... on Refusal { code message } ... on InvalidInput { parameter } } }`;
const asked = { authorId: 'Ann / Ä', month: '2026-10', timeZone: 'Europe/Berlin' };

async function make(input: object = {}, bearer = owner) {
  const { data, errors } = await graph.ask(bearer, MAKE, { input: { ...asked, ...input } });
  return { made: data?.makeStatementLink, errors };
}

const tokenOf = (url: string): string => new URL(url).hash.slice(1);

async function open(token: unknown, url = graph.api.url) {
  const answer = await fetch(`${url}/_svc/statement`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, headers: answer.headers, text: answer.status === 200 ? textOf(bytes) : bytes.toString() };
}

async function zip(query: Readonly<Record<string, string | number>>, key = site.key) {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]));
  const answer = await fetch(`${graph.api.url}/_svc/earnings/statements.zip?${search}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const files =
    answer.status === 200 ? Object.entries(unzipSync(bytes)).map(([name, held]) => [name, Buffer.from(held)] as const) : [];
  return { answer, files: new Map(files), said: Buffer.from(bytes).toString() };
}

test('a link is one author’s statement of one month by the calendar of its zone, and the log says who made it', async () => {
  const { made, errors } = await make({ days: 7 });
  expect([errors, made]).toEqual([
    [],
    { __typename: 'MakeStatementLinkPayload', authorId: asked.authorId, url: expect.any(String), expiresAt: expect.any(Number) },
  ]);
  expect(Math.abs(made.expiresAt - Date.now() - 7 * DAY)).toBeLessThan(60_000);
  expect(made.url).toContain('/_svc/statement#');
  const { status, headers, text } = await open(tokenOf(made.url));
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    200,
    'application/pdf',
    'private, no-store',
  ]);
  expect(headers.get('content-disposition')).toContain('-2026-10-01-2026-10-31.pdf');
  for (const its of ['Ann / Ä', 'first', 'last', '0.001400']) expect(text).toContain(its);
  expect(text.toLowerCase()).not.toMatch(/bob|september|november|0\.000300|0\.000050/);
  const entries = await listAuditEntries(graph.api.deps.database, site.tenantId);
  expect(entries).toContainEqual(
    expect.objectContaining({
      action: 'statement.link',
      target: asked.authorId,
      actor: expect.objectContaining({ userId: 'owner' }),
    }),
  );
  expect(JSON.stringify(entries)).not.toContain(tokenOf(made.url).split('.')[2]);
});

test('a link that has ended, was changed, or was signed for something else opens nothing, and nothing is read for it', async () => {
  const token = tokenOf((await make()).made.url);
  const [head = '', claims = '', signature = ''] = token.split('.');
  const told = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const other = Buffer.from(JSON.stringify({ ...told, sub: 'bob' })).toString('base64url');
  const { keyring, baseUrl } = graph.api.deps;
  const { kid } = keyring.current();
  const signedAs = (named: string, of: object) => keyring.sign(kid, { ...told, ...of }, { kid: named });
  const wrong = [
    `${head}.${other}.${signature}`,
    `${head}.${claims}.${signature.slice(0, -4)}AAAA`,
    await signedAs(`did:web:localhost#${kid}`, {}),
    await keyring.sign(kid, told),
    await signedAs(`statement#${kid}`, { iss: 'https://elsewhere.example' }),
    await signedAs(`statement#${kid}`, { exp: Math.floor(Date.now() / 1000) - 1 }),
    await signedAs(`statement#${kid}`, { svc: { ...told.svc, origin: undefined } }),
    'x',
  ];
  expect(baseUrl).toBe(told.iss);
  for (const one of wrong) {
    expect(await open(one)).toMatchObject({ status: 404, text: expect.stringContaining('not_found: this link has ended') });
  }
  for (const none of ['', undefined, 7, 'x'.repeat(5_000)]) expect((await open(none)).status).toBeGreaterThanOrEqual(400);
  for (const none of ['', undefined, 7, 'x'.repeat(5_000)]) expect((await open(none)).status).toBeLessThan(500);
  graph.api.time.offsetMs = 31 * DAY;
  expect((await open(token)).status).toBe(404);
  graph.api.time.offsetMs = 0;
  expect((await open(token)).status).toBe(200);
});

test('a link ends with the token that made it, and with the ownership', async () => {
  const { deps } = graph.api;
  const { tenantId, host } = await graph.api.site({ plan: 'studio' });
  const legs = [{ toAddress: walletOf(0), amountMicro: 700, authorId: asked.authorId }];
  await insertPurchases(deps.database, [{ ...bought(OCTOBER.from, { legs }), tenantId, host }]);
  const guest = await createOwnerToken(deps, { tenantId, userId: 'guest' });
  const token = tokenOf((await make({}, guest.token)).made.url);
  const ended = { status: 404, text: expect.stringContaining('not_found: this link has ended') };
  expect((await open(token)).status).toBe(200);
  await markOwnerTokenRevoked(deps.database, tenantId, guest.tokenId, new Date());
  expect(await open(token)).toMatchObject(ended);

  const issuer = 'https://id.example';
  const server = createServer(createApi({ ...deps, oidc: { issuer } }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await setOwner(deps.database, tenantId, { userId: 'ada', issuer }, new Date());
  const call = { actor: { userId: 'ada', via: 'oidc' }, tenantId } as const;
  const month = { ...asked, host, plan: 'studio' } as const;
  await expect(makeStatementLink(deps, call, month)).rejects.toMatchObject({ code: 'scope_missing' });
  const made = await makeStatementLink(deps, { ...call, origin: { issuer, userId: 'ada', tokenId: null } }, month);
  expect((await open(tokenOf(made.url), url)).status).toBe(200);
  expect(await open(tokenOf(made.url))).toMatchObject(ended);
  await setOwner(deps.database, tenantId, { userId: 'bob', issuer }, new Date());
  expect(await open(tokenOf(made.url), url)).toMatchObject(ended);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('links are the owner’s to make, of authors the site knows and months there are', async () => {
  const stranger = await graph.owner((await graph.api.site({ plan: 'studio' })).tenantId);
  expect((await make({}, site.key)).errors[0]?.extensions.code).toBe('FORBIDDEN');
  expect((await make({ tenantId: site.tenantId }, stranger)).made ?? null).not.toHaveProperty('url');
  expect((await make({}, stranger)).made).toMatchObject({ code: 'not_found' });
  expect((await make({ authorId: 'carl' })).made).toMatchObject({ code: 'not_found' });
  for (const [wrong, parameter] of [
    [{ month: '2026-13' }, 'month'],
    [{ month: 'October' }, 'month'],
    [{ timeZone: 'Mars/Base' }, 'timeZone'],
    [{ days: 91 }, 'days'],
    [{ days: 0 }, 'days'],
  ] as const) {
    expect((await make(wrong)).made, parameter).toMatchObject({ __typename: 'InvalidInput', parameter });
  }
});

test('a link shows the whole month whenever it is opened, and is made where the plan reads the whole month', async () => {
  const starter = await graph.api.site({ plan: 'starter' });
  const bearer = await graph.owner(starter.tenantId);
  const at = (ms: number): void => {
    graph.api.time.offsetMs = ms - Date.now();
  };
  const plan = (name: string) =>
    query(graph.api.urls.ownerUrl, 'update tenant set plan = $1 where tenant_id = $2', [name, starter.tenantId]);
  // On its 31st day a month is beyond the plan.
  const madeMs = Date.now() + (new Date().getUTCDate() === 31 ? DAY : 0);
  const month = new Date(madeMs).toISOString().slice(0, 7);
  const fromMs = Date.parse(`${month}-01T00:00:00Z`);
  const legs = [{ toAddress: walletOf(0), amountMicro: 700, authorId: asked.authorId }];
  const sales = [fromMs, fromMs + 1_000].map((ms) => ({
    ...bought(ms, { legs }),
    tenantId: starter.tenantId,
    host: starter.host,
  }));
  await insertPurchases(graph.api.deps.database, sales);
  try {
    at(madeMs);
    const { made } = await make({ month, timeZone: 'UTC', days: 60 }, bearer);
    expect(made).toHaveProperty('url');
    for (const [days, name] of [
      [0, 'starter'],
      [45, 'starter'],
      [45, 'free'],
    ] as const) {
      at(madeMs + days * DAY);
      await plan(name);
      const { status, text } = await open(tokenOf(made.url));
      expect([status, text.includes('0.001400'), text.includes('reads back to')], `${name} ${days}`).toEqual([200, true, false]);
    }
    for (const [days, name] of [
      [31, 'starter'],
      [8, 'free'],
    ] as const) {
      at(fromMs + days * DAY);
      await plan(name);
      expect((await make({ month, timeZone: 'UTC' }, bearer)).made, name).toMatchObject({
        __typename: 'InvalidInput',
        parameter: 'month',
        message: expect.stringContaining('a link shows a whole month'),
      });
    }
  } finally {
    graph.api.time.offsetMs = 0;
  }
});

test('the links of a site have one file at a time, so that they leave its owner a place; a suspended site’s open nothing', async () => {
  const token = tokenOf((await make()).made.url);
  const statuses = (await Promise.all([1, 2, 3, 4].map(() => open(token)))).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect((await open(token)).status).toBe(200);
  await setTenantStatus(graph.api.deps, { tenantId: site.tenantId, status: 'suspended' });
  expect((await open(token)).status).toBe(404);
  await setTenantStatus(graph.api.deps, { tenantId: site.tenantId, status: 'active' });
});

test('an author who is renamed keeps the former name in a month that is over, in the table, the CSV, the PDF and the link alike', async () => {
  const renamed = await graph.api.site({ plan: 'studio' });
  const [bearer, of] = [await graph.owner(renamed.tenantId), { tenantId: renamed.tenantId, host: renamed.host }];
  const named = (authorId: string) => [{ toAddress: walletOf(7), amountMicro: 900, authorId }];
  await insertPurchases(graph.api.deps.database, [
    { ...bought(OCTOBER.from, { slug: 'then', legs: named('maiden') }), ...of },
    { ...bought(OCTOBER.to + 1_000, { slug: 'later', legs: named('married') }), ...of },
  ]);
  const month = { ...OCTOBER, timeZone: 'Europe/Berlin' };
  const ask = async (path: string, query: object) => {
    const search = new URLSearchParams(Object.entries({ ...month, ...query }).map(([name, value]) => [name, String(value)]));
    const answer = await fetch(`${graph.api.url}/_svc/earnings/${path}?${search}`, {
      headers: { authorization: `Bearer ${renamed.key}` },
    });
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const figures = `query ($window: WindowInput) { tenant { earnings(window: $window, groupBy: AUTHOR_ID) { breakdown { nodes { key grossMicro } } }
    statements(window: $window) { statements { nodes { authorId grossMicro } } } } }`;
  const { data } = await graph.ask(bearer, figures, { window: OCTOBER });
  expect(data?.tenant.earnings.breakdown.nodes).toEqual([{ key: 'maiden', grossMicro: '900' }]);
  expect(data?.tenant.statements.statements.nodes).toEqual([{ authorId: 'maiden', grossMicro: '900' }]);
  const { files } = await zip(month, renamed.key);
  expect([...files.keys()]).toEqual(['statements.csv', '1-maiden.pdf']);
  const pdf = await ask('export.pdf', { author: 'maiden' });
  expect([pdf.status, textOf(pdf.bytes)]).toEqual([200, expect.stringContaining('0.000900')]);
  const csv = await ask('export.csv', { author: 'maiden' });
  expect(csv.bytes.toString()).toContain('then');
  const { made } = await make({ authorId: 'maiden' }, bearer);
  expect((await open(tokenOf(made.url))).text).toContain('0.000900');
  const anew = await make({ authorId: 'married' }, bearer);
  expect((await open(tokenOf(anew.made.url))).text).not.toContain('0.000900');
});

test('the archive of a month has a PDF of each author the credits name, and a table of every wallet that adds up', async () => {
  const { answer, files } = await zip({ ...OCTOBER, timeZone: 'Europe/Berlin' });
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('x-svc-parts')]).toEqual([
    200,
    'application/zip',
    '1',
  ]);
  expect(answer.headers.get('content-disposition')).toContain('-2026-10-01-2026-10-31.zip');
  expect([...files.keys()]).toEqual(['statements.csv', '1-Ann _ Ä.pdf', '2-bob.pdf']);
  const pdf = await fetch(
    `${graph.api.url}/_svc/earnings/export.pdf?${new URLSearchParams({ from: String(OCTOBER.from), to: String(OCTOBER.to), author: 'bob', timeZone: 'Europe/Berlin' })}`,
    {
      headers: { authorization: `Bearer ${site.key}` },
    },
  );
  const withoutTime = (text: string): string => text.replace(/Generated.*/g, '');
  expect(withoutTime(textOf(files.get('2-bob.pdf') as Buffer))).toBe(withoutTime(textOf(Buffer.from(await pdf.arrayBuffer()))));
  const [head, ...rows] = (files.get('statements.csv') as Buffer).toString().replace('\ufeff', '').trimEnd().split('\r\n'); // biome-ignore format: one line
  expect(head).toBe('author_id,wallet,reads,citations,amount_micro,amount_usdc,document');
  expect(rows.map((row) => row.split(',').filter((_, n) => n !== 1))).toEqual([
    ['Ann / Ä', '2', '0', '1400', '0.001400', '1-Ann _ Ä.pdf'],
    ['bob', '1', '0', '300', '0.000300', '2-bob.pdf'],
    ['', '1', '0', '50', '0.000050', ''],
  ]);
});

test('more authors than an archive has are several archives, each with its part of them; one that is not there is refused', async () => {
  const many = await graph.api.site({ plan: 'studio' });
  const legs = (from: number) =>
    Array.from({ length: 50 }, (_, n) => ({
      toAddress: walletOf(from + n),
      amountMicro: 10_000 - from - n,
      authorId: `author-${from + n}`,
    }));
  const nobody = { toAddress: walletOf(300), amountMicro: 90_000 };
  const sales = [0, 50, 100, 150, 200].map((from) => ({
    ...bought(OCTOBER.from, { legs: legs(from) }),
    tenantId: many.tenantId,
    host: many.host,
  }));
  await insertPurchases(graph.api.deps.database, sales.map((sale, n) => (n < 4 ? sale : { ...sale, legs: [...sale.legs.slice(0, 2), nobody] }))); // biome-ignore format: one line
  const second = await zip({ ...OCTOBER, part: 2 }, many.key);
  expect([second.answer.headers.get('x-svc-parts'), second.answer.headers.get('content-disposition')]).toEqual([
    '2',
    expect.stringContaining('.part-2-of-2.zip'),
  ]);
  expect([...second.files.keys()]).toEqual(['statements.csv', '201-author-200.pdf', '202-author-201.pdf']);
  expect(second.files.get('statements.csv')?.toString().trimEnd().split('\r\n')).toHaveLength(MAX_ZIP_STATEMENTS + 4);
  const third = await zip({ ...OCTOBER, part: 3 }, many.key);
  expect([third.answer.status, third.said]).toEqual([400, expect.stringContaining('part: must be 1 to 2')]);
  const { answer } = await zip({ from: OCTOBER.to + 40 * DAY, to: OCTOBER.to + 41 * DAY });
  expect([answer.status, answer.headers.get('x-svc-parts')]).toEqual([200, '1']);
});

test('wallets that no credits name take no place among the documents of an archive', async () => {
  const many = await graph.api.site({ plan: 'studio' });
  const legs = (from: number, length: number, named: boolean) =>
    Array.from({ length }, (_, n) => ({
      ...{ toAddress: walletOf(from + n), amountMicro: 10_000 + from + n },
      ...(named ? { authorId: `author-${from + n}` } : {}),
    }));
  const sales = [0, 50, 100, 150].map((from) => legs(from, 50, true));
  await insertPurchases(
    graph.api.deps.database,
    [...sales, legs(200, 1, false)].map((all) => ({
      ...bought(OCTOBER.from, { legs: all }),
      tenantId: many.tenantId,
      host: many.host,
    })),
  );
  expect((await zip({ ...OCTOBER, part: 2 }, many.key)).said).toContain('part: must be 1 to 1');
  const ARCHIVES = `query ($window: WindowInput) { tenant {
    by: earnings(window: $window, groupBy: AUTHOR_ID) { archives breakdown(first: 1) { totalCount } }
    without: earnings(window: $window) { archives } } }`;
  const { data, errors } = await graph.ask(many.key, ARCHIVES, { window: OCTOBER });
  expect([errors, data?.tenant]).toEqual([
    [],
    { by: { archives: 1, breakdown: { totalCount: 201 } }, without: { archives: null } },
  ]);
});

test('an archive whose turn does not come in time goes on when it comes, and ends with its client', async () => {
  const heavy = openHeavyWork({ connections: { reports: 6, questions: 2 }, cores: 2, waitMs: 50 });
  const of = { tenantId: site.tenantId, hosts: [site.host], plan: 'studio', keyId: 'k' } as const;
  const begin = async () => {
    const gone = new AbortController();
    const file = await exportZip({ ...graph.api.deps.reports, heavy }, of, { fromMs: OCTOBER.from, toMs: OCTOBER.to, part: 1, timeZone: 'UTC' }, gone.signal); // biome-ignore format: one line
    const endTurn = await heavy.enter({ kind: 'reports', who: 'another', of: siteName(site.tenantId) });
    return { gone, file, endTurn };
  };
  const read = async (chunks: AsyncIterable<Uint8Array>) => {
    const all: Uint8Array[] = [];
    for await (const chunk of chunks) all.push(chunk);
    return Buffer.concat(all);
  };
  const waiting = await begin();
  setTimeout(waiting.endTurn, 500);
  expect(Object.keys(unzipSync(await read(waiting.file.chunks)))).toEqual(['statements.csv', '1-Ann _ Ä.pdf', '2-bob.pdf']);
  const left = await begin();
  setTimeout(() => left.gone.abort(), 200);
  await expect(read(left.file.chunks)).rejects.toMatchObject({ code: 'throttled' });
  await left.file.close();
  left.endTurn();
});
