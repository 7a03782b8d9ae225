import { afterAll, beforeAll, expect, test } from 'vitest';
import { openObserver } from '../../modules/gate/use/observe.ts';
import { FAILURE_REASONS } from '../../modules/kernel/errors.ts';
import { MAX_PRICE_MICRO } from '../../modules/kernel/money/money.ts';
import { readAudit } from '../../modules/reports/use/audit.ts';
import { startTestApi } from '../support/api.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const DAY_MS = 86_400_000;
/** Everything there is. */
const AUDIT = {
  fromMs: null,
  toMs: null,
  compare: false,
  cursorMs: null,
  limit: 10,
  host: null,
  kind: null,
  groupBy: null,
  verdict: null,
  agent: null,
};

async function rows(tenantId: string) {
  return api.deps.database.query('select * from observation where tenant_id = $1 order by at, slug', [tenantId]);
}

function report(host: string, changes: Record<string, unknown> = {}) {
  return { resource: `https://${host}/articles/solo`, verdict: 'denied', classifiedAs: 'agent', ...changes };
}

test('a report is in the ledger when 202 arrives, with every member and the normalised agent', async () => {
  const site = await api.site();
  const at = Date.now() - 5_000;
  const agent = { ua: 'Mozilla/5.0 (compatible; GPTBot/1.2)', classifyReason: 'ua', verified: false, sigInvalid: true };
  const answer = await api.post(
    '/_svc/observe',
    site.key,
    report(site.host, { kind: 'citation', priceMicro: 5000, at, agent, slug: 'solo' }),
  );
  expect([answer.status, answer.body]).toEqual([202, { ok: true, accepted: 1 }]);
  expect(await rows(site.tenantId)).toMatchObject([
    {
      host: site.host,
      slug: 'solo',
      verdict: 'denied',
      classified_as: 'agent',
      kind: 'citation',
      micro: '5000',
      agent: 'gptbot',
      agent_ua: agent.ua,
      sig_invalid: true,
      verified: false,
      at: new Date(at),
      count: 1,
    },
  ]);
});

test('a list of 50 is accepted whole, and none or 51 are 400', async () => {
  const site = await api.site();
  const list = (count: number) => Array.from({ length: count }, () => report(site.host));
  expect((await api.post('/_svc/observe', site.key, list(50))).body).toEqual({ ok: true, accepted: 50 });
  for (const count of [0, 51])
    expect(await api.post('/_svc/observe', site.key, list(count))).toMatchObject({ status: 400, body: { ok: false } });
  expect(await rows(site.tenantId)).toHaveLength(50);
});

test('what agents got free for want of authors is counted by our own pricing, and no other free page', async () => {
  const site = await api.site();
  const free = (slug: string, more: object = {}) =>
    report(site.host, { verdict: 'served-free', resource: `https://${site.host}/articles/${slug}`, slug, ...more });
  const reports = [
    free('unknown'),
    free('unknown', { slug: 'free' }), // what the gate calls it decides nothing
    free('free', { slug: 'unknown' }),
    free('solo'),
    free('unknown', { classifiedAs: 'human' }),
    free('unknown', { verdict: 'denied' }),
    free('x', { resource: `https://${site.host}/about` }),
  ];
  expect((await api.post('/_svc/observe', site.key, reports)).status).toBe(202);
  const audit = await readAudit(
    { database: api.deps.database, clock: Date.now },
    { ...site, hosts: [site.host], plan: 'studio' },
    AUDIT,
  );
  expect(audit.totals).toMatchObject({ observations: 7, servedFree: 6, freeForWantOfAuthors: 2 });
  expect(audit.totals.failedByReason).toEqual(Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0])));
});

test('pages that a gate gave away while we were away are a time in the tracks of their host', async () => {
  const site = await api.site();
  const tracks = async () => (await api.request('/_svc/enforce-status', { key: site.key })).body.hosts[0].tracks;
  expect(await tracks()).not.toHaveProperty('failedOpenAt');
  const away = report(site.host, { verdict: 'served-free', agent: { classifyReason: 'service_away' } });
  await api.post('/_svc/observe', site.key, away);
  await api.liveness.flush();
  expect((await tracks()).failedOpenAt).toMatch(/^20\d\d-.*Z$/);
});

test('one wrong report refuses the whole list and is named by its index', async () => {
  const site = await api.site();
  const wrong = [
    { verdict: 'paid' },
    { verdict: 'payment-failed' },
    { verdict: 'sold' },
    { classifiedAs: 'robot' },
    { resource: undefined },
    { priceMicro: -1 },
    { priceMicro: 1.5 },
    { at: 0 },
    { kind: 'look' },
    { agent: { ua: 5 } },
  ];
  for (const changes of wrong) {
    const answer = await api.post('/_svc/observe', site.key, [report(site.host), report(site.host, changes)]);
    expect([answer.status, answer.body.ok]).toEqual([400, false]);
    expect(answer.body.error).toContain(': 1.');
  }
  const foreign = await api.post('/_svc/observe', site.key, [report(site.host), report('stranger.example')]);
  expect([foreign.status, foreign.body.ok]).toEqual([403, false]);
  expect(await rows(site.tenantId)).toEqual([]);
});

test('a money verdict alone is 400 money_verdict', async () => {
  const site = await api.site();
  const answer = await api.post('/_svc/observe', site.key, report(site.host, { verdict: 'paid' }));
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([400, 'money_verdict']);
});

test('times outside the last 7 days and the next 5 minutes are clamped, a missing one is now', async () => {
  const site = await api.site();
  const before = Date.now();
  const ats = [1, before - 8 * DAY_MS, before + DAY_MS, undefined, before - 6 * DAY_MS];
  await api.post(
    '/_svc/observe',
    site.key,
    ats.map((at, n) => report(site.host, { slug: `s${n}`, at })),
  );
  const bySlug = new Map((await rows(site.tenantId)).map((row) => [row['slug'], (row['at'] as Date).getTime() - before]));
  for (const slug of ['s0', 's1']) expect(bySlug.get(slug)).toBeCloseTo(-7 * DAY_MS, -5);
  expect(bySlug.get('s2')).toBeCloseTo(5 * 60_000, -5);
  expect(bySlug.get('s3')).toBeCloseTo(0, -5);
  expect(bySlug.get('s4')).toBe(-6 * DAY_MS);
});

test('200 requests at once are all written, each its own number of times', async () => {
  const sites = await Promise.all([api.site(), api.site()]);
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) => {
      const site = sites[n % 2]!;
      return api.post('/_svc/observe', site.key, [report(site.host, { slug: `n${n}` }), report(site.host, { slug: `n${n}` })]);
    }),
  );
  expect(answers.every(({ status }) => status === 202)).toBe(true);
  for (const site of sites) {
    const slugs = (await rows(site.tenantId)).map((row) => row['slug']);
    expect(slugs).toHaveLength(200);
    expect(new Set(slugs).size).toBe(100);
  }
});

test('a report that Postgres refuses fails alone in its group', async () => {
  const site = await api.site();
  const tenant = await api.deps.snapshots.tenant(site.tenantId);
  const observer = openObserver({ database: api.deps.database, clock: Date.now, flushers: 1 });
  const one = (slug: string) => {
    const priceMicro = slug === 'poison' ? 2 ** 70 : 1_000; // more than a bigint; the schema would not let it in
    const entry = { resource: `https://${site.host}/articles/x`, verdict: 'denied', classifiedAs: 'agent' } as const;
    return observer.record(tenant!, [{ ...entry, slug, priceMicro }]).then(
      () => 'written',
      (error: { code?: string }) => error.code,
    );
  };
  const outcomes = await Promise.all(['first', 'a', 'poison', 'b', 'c'].map(one));
  expect(outcomes).toEqual(['written', 'written', 'invalid_parameter', 'written', 'written']);
  expect((await rows(site.tenantId)).map((row) => row['slug']).sort()).toEqual(['a', 'b', 'c', 'first']);
});

test('what a report cannot say is a 400 that names the report and the member', async () => {
  const site = await api.site();
  const post = (...reports: object[]) => api.post('/_svc/observe', site.key, reports.length === 1 ? reports[0] : reports);
  const good = report(site.host);
  const cases: [object, string][] = [
    [report(site.host, { agent: { ua: 'bad\u0000ua' } }), '1.agent.ua: '],
    [report(site.host, { agent: { classifyReason: '\u0000' } }), '1.agent.classifyReason: '],
    [report(site.host, { agent: { verifiedAgent: 'a\u0000.example' } }), '1.agent.verifiedAgent: '],
    [report(site.host, { slug: 'bad\u0000slug' }), '1.slug: '],
    [report(site.host, { resource: 'ftp://news.example/x' }), '1.resource: '],
  ];
  for (const [bad, place] of cases) {
    const answer = await post(good, bad);
    expect([answer.status, answer.body.ok]).toEqual([400, false]);
    expect(answer.body.error).toContain(`: ${place}`);
    expect((await post(bad)).status).toBe(400);
  }
  expect((await post(good, report('stranger.example'))).body.error).toContain(': 1.resource: ');
  expect(await rows(site.tenantId)).toEqual([]);
});

test('a price no page can have is refused, so that no report keeps the audit from being read', async () => {
  const site = await api.site();
  const post = (priceMicro: number) =>
    api.post(
      '/_svc/observe',
      site.key,
      Array.from({ length: 50 }, () => report(site.host, { priceMicro })),
    );
  for (const over of [Number(MAX_PRICE_MICRO) + 1, Number.MAX_SAFE_INTEGER]) {
    expect((await post(over)).body.error).toBe('malformed_body: 0.priceMicro: is more than a page can cost');
  }
  for (let call = 0; call < 4; call++) expect((await post(Number(MAX_PRICE_MICRO))).status).toBe(202);
  const { status, body } = await api.request('/_svc/audit', { key: site.key });
  expect([status, body.totals.missedMicroUsdc]).toEqual([200, 200 * Number(MAX_PRICE_MICRO)]);
});

test('a queue that a site filled answers it overloaded with a time to wait, and writes what it took and what others report', async () => {
  const [site, other] = [await api.site(), await api.site()];
  const [tenant, another] = [await api.deps.snapshots.tenant(site.tenantId), await api.deps.snapshots.tenant(other.tenantId)];
  const observer = openObserver({ database: api.deps.database, clock: Date.now, maxQueuedRows: 3 });
  const entry = { resource: `https://${site.host}/articles/x`, verdict: 'denied', classifiedAs: 'agent' } as const;
  const writing = Array.from({ length: 30 }, () =>
    observer.record(tenant!, [entry]).then(
      () => 'written',
      (error: { code: string; details: { retryAfterSeconds: number } }) => `${error.code} ${error.details.retryAfterSeconds}`,
    ),
  );
  await observer.record(another!, [{ ...entry, resource: `https://${other.host}/articles/x` }]);
  const outcomes = await Promise.all(writing);
  const written = outcomes.filter((text) => text === 'written').length;
  expect(new Set(outcomes)).toEqual(new Set(['written', 'overloaded 1']));
  expect(await rows(site.tenantId)).toHaveLength(written);
});

test('what a test purchase asks of the site is in no report, and what a licence reads under its name is', async () => {
  const site = await api.site();
  const agent = { ua: 'Mozilla/5.0 (compatible; TestPurchaseBot/1.0; content-settlement)' };
  const verdicts = ['denied', 'blocked', 'served-free', 'unservable', 'agent-reread'];
  const reports = verdicts.map((verdict) => report(site.host, { verdict, agent }));
  expect((await api.post('/_svc/observe', site.key, reports)).body).toEqual({ ok: true, accepted: 5 });
  expect((await rows(site.tenantId)).map(({ verdict }) => verdict)).toEqual(['agent-reread']);
  expect(await api.post('/_svc/observe', site.key, report(site.host, { agent: { ua: 'PurchaseBot/1.0' } }))).toMatchObject({
    status: 202,
  });
  expect(await rows(site.tenantId), 'another name counts').toHaveLength(2);
});
