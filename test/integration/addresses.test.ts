/** Addresses of robots: read from where operators publish them, kept, and sent to gates that have not got them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EnforcementConfig } from '../../api/schemas/enforcement.ts';
import { publishedAddresses, refreshAddresses } from '../../modules/gate/use/addresses.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { startTestApi } from '../support/api.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let outbound: Outbound;
let operatorsUrl: string;
let lists: ReadonlyMap<string, string>;
const answers: Record<string, () => { readonly status?: number; readonly body: string; readonly to?: string }> = {};
const operators = createServer((request, response) => {
  const { status = 200, body, to } = answers[(request.url ?? '').slice(1)]?.() ?? { status: 404, body: '' };
  response.writeHead(status, to === undefined ? {} : { location: to }).end(body);
});

beforeAll(async () => {
  api = await startTestApi();
  outbound = createOutbound({ allowLoopback: true });
  await new Promise<void>((resolve) => operators.listen(0, '127.0.0.1', resolve));
  operatorsUrl = `http://127.0.0.1:${(operators.address() as AddressInfo).port}`;
  lists = new Map(['google', 'uptime'].map((name) => [name, `${operatorsUrl}/${name}`]));
});
afterAll(async () => {
  operators.closeAllConnections();
  operators.close();
  await outbound.close();
  await api.stop();
});

const google = (...prefixes: string[]) => ({
  body: JSON.stringify({ prefixes: prefixes.map((ipv4Prefix) => ({ ipv4Prefix })) }),
});

test('lists are kept as they were last readable, and gates get what has changed since the version they name', async () => {
  const site = await api.site();
  const warned: object[] = [];
  const time = { ms: Date.now() };
  const read = () =>
    refreshAddresses(
      { database: api.deps.database, outbound, clock: () => time.ms, warn: (_message, fields) => warned.push(fields) },
      undefined,
      lists,
    );
  const ask = async (query = '', headers: Readonly<Record<string, string>> = {}) => {
    const answer = await api.request(`/_svc/enforce-config${query}`, { key: site.key, headers });
    if (answer.status === 200) expect(EnforcementConfig.parse(answer.body)).toEqual(answer.body);
    return answer;
  };
  expect((await ask('?addresses=0')).body.addresses).toEqual({ version: 0, checkedAt: {} });

  answers['google'] = () => google('66.249.64.0/27', '66.249.64.32/27', '66.249.66.0/27');
  answers['uptime'] = () => ({ body: '3.12.251.153\n' });
  expect(await read()).toEqual({ read: 2, changed: 2, failed: [] });
  const first = await ask('?addresses=0');
  const version = time.ms;
  expect(first.body.addresses).toEqual({
    version,
    checkedAt: { google: version, uptime: version },
    ranges: { google: ['66.249.64.0/26', '66.249.66.0/27'], uptime: ['3.12.251.153/32'] },
  });
  expect(Object.keys((await ask()).body)).toEqual(['enforcement', 'manifest', 'version']);
  const known = await ask(`?addresses=${version}`);
  expect(known.body.addresses).toEqual({ version, checkedAt: first.body.addresses.checkedAt });
  const etag = known.headers.get('etag') ?? '';
  expect((await ask(`?addresses=${version}`, { 'if-none-match': etag })).status).toBe(304);

  time.ms += 86_400_000;
  answers['google'] = () => google('66.249.64.0/27', '10.0.0.0/24');
  expect(await read()).toEqual({ read: 1, changed: 0, failed: ['google'] });
  expect(warned).toEqual([{ lists: { google: 'no list of addresses' } }]);
  const kept = await ask(`?addresses=${version}`, { 'if-none-match': etag });
  expect(kept.body.addresses).toEqual({ version, checkedAt: { google: version, uptime: time.ms } });

  answers['google'] = () => ({ body: `${' '.repeat(600_000)}66.249.64.0/27` });
  answers['uptime'] = () => ({ status: 503, body: 'later' });
  expect(await read()).toEqual({ read: 0, changed: 0, failed: ['google', 'uptime'] });
  answers['google'] = () => google('66.249.66.0/27');
  expect(await read()).toEqual({ read: 1, changed: 1, failed: ['uptime'] });
  expect((await ask(`?addresses=${version}`)).body.addresses).toMatchObject({
    version: time.ms,
    ranges: { google: ['66.249.66.0/27'], uptime: ['3.12.251.153/32'] },
  });
});

test('a list that loses more than half of its ranges keeps them, counts as old at once, and is replaced after 14 days', async () => {
  const day = 86_400_000;
  const time = { ms: Date.now() };
  const read = () =>
    refreshAddresses(
      { database: api.deps.database, outbound, clock: () => time.ms, warn: () => undefined },
      undefined,
      new Map([['shrinks', lists.get('google') ?? '']]),
    );
  const stored = async () => await publishedAddresses(api.deps, 0);
  const whole = ['66.249.64.0/27', '66.249.66.0/27', '66.249.68.0/27'];
  answers['google'] = () => google(...whole);
  await read();
  answers['google'] = () => google('198.41.0.0/24');
  time.ms += day;
  expect(await read()).toEqual({ read: 0, changed: 0, failed: ['shrinks'] });
  const { checkedAt, ranges } = await stored();
  expect([ranges?.['shrinks'], time.ms - (checkedAt['shrinks'] ?? 0)]).toEqual([whole, 14 * day]);
  time.ms += 13 * day;
  expect((await read()).failed).toEqual(['shrinks']);
  expect((await stored()).checkedAt).toEqual({ ...checkedAt });
  time.ms += day;
  expect(await read()).toEqual({ read: 1, changed: 1, failed: [] });
  expect((await stored()).ranges?.['shrinks']).toEqual(['198.41.0.0/24']);
});

test('a list that moved is read where it is now, and none in a private network or in a circle', async () => {
  const strict = createOutbound({
    allowLoopback: true,
    reroute: (url) => (url.host === 'robots.example' ? new URL(url.pathname, operatorsUrl) : null),
  });
  const read = async (name: string) => {
    const { failed } = await refreshAddresses(
      { database: api.deps.database, outbound: strict, clock: Date.now, warn: () => undefined },
      undefined,
      new Map([[name, `https://robots.example/${name}`]]),
    );
    return failed.length === 0;
  };
  Object.assign(answers, {
    moved: () => ({ status: 301, body: '', to: '/new' }),
    new: () => ({ body: '66.249.64.0/27' }),
    inside: () => ({ status: 302, body: '', to: 'https://10.0.0.1/new' }),
    circle: () => ({ status: 302, body: '', to: '/circle' }),
    nowhere: () => ({ status: 302, body: '' }),
  });
  expect(await Promise.all(['moved', 'inside', 'circle', 'nowhere'].map(read))).toEqual([true, false, false, false]);
  await strict.close();
});

test.each(['-1', '1.5', 'all', ''])('a version of addresses that is none, "%s", is refused', async (version) => {
  const site = await api.site();
  const answer = await api.request(`/_svc/enforce-config?addresses=${version}`, { key: site.key });
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([400, 'invalid_parameter']);
});

test('a false robot counts as a masquerade of the name that it took', async () => {
  const site = await api.site();
  const report = {
    resource: `https://${site.host}/articles/solo`,
    verdict: 'denied',
    classifiedAs: 'agent',
    agent: { ua: 'Mozilla/5.0 (compatible; Googlebot/2.1)', classifyReason: 'masquerade' },
  };
  const answer = await api.request('/_svc/observe', { key: site.key, method: 'POST', body: JSON.stringify(report) });
  expect(answer.status).toBe(202);
  const stored = () =>
    api.deps.database.query('select agent, classify_reason, sig_invalid from observation where tenant_id = $1', [site.tenantId]);
  await expect.poll(stored).toEqual([{ agent: 'googlebot', classify_reason: 'masquerade', sig_invalid: true }]);
});
