/** The publisher's gate in front of a site, on the real service: which agent signed is found out once, and then checked at the site. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createGate } from '../../packages/publisher/src/gate.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { rerouteToSandbox } from '../../process/sandboxWeb.ts';
import type { Signing, SigningAgent } from '../support/agents.ts';
import { directoryOf, newAgent, signedRequest, startAgentWeb } from '../support/agents.ts';
import { startTestApi } from '../support/api.ts';

let web: Awaited<ReturnType<typeof startAgentWeb>>;
let api: Awaited<ReturnType<typeof startTestApi>>;
let agent: SigningAgent;
const HOST = 'bot.sandbox.example';
const FIELD = `sig1="https://${HOST}"`;
/** What ChatGPT's agent and others send: the User-Agent of a browser. */
const BROWSER = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

beforeAll(async () => {
  web = await startAgentWeb();
  api = await startTestApi({
    outbound: createOutbound({ allowLoopback: true, reroute: rerouteToSandbox(web.url) }),
    agents: { patienceMs: 60_000 },
    newDirectories: { count: () => 0 },
  });
  agent = await newAgent();
});
beforeEach(() => {
  Object.assign(api.time, { offsetMs: 0, stoppedAtMs: Date.now() });
  web.hosts.set(HOST, directoryOf([agent]));
});
afterAll(async () => {
  await api.stop();
  await web.close();
});

/** A site behind a gate; `asked` has the calls that its gate made. */
async function gatedSite() {
  const site = await api.site();
  const asked: string[] = [];
  const gate = createGate<null>({
    serviceUrl: api.url,
    apiKey: site.key,
    now: api.deps.clock,
    log: () => undefined,
    fetch: (input, init) => {
      const { pathname, search } = new URL(String(input));
      asked.push(`${pathname}${search}`);
      return fetch(input, init);
    },
  });
  const url = `https://${site.host}/articles/solo?a=1`;
  /** Rules on a request for a page that the site has. */
  const rule = async (headers: Readonly<Record<string, string>>) => {
    const fields: Record<string, string> = { 'user-agent': BROWSER, host: site.host, ...headers };
    const ruling = await gate.rule({
      method: 'GET',
      target: '/articles/solo?a=1',
      header: (name) => fields[name],
      original: null,
    });
    if (ruling.act !== 'look') return ruling;
    return await ruling.look.sale.finish({ status: 200, type: 'text/html', bytes: 1_000, chunks: [] });
  };
  const sign = async (more: Partial<Signing> = {}) => {
    const signed = await signedRequest({ agent, url, field: FIELD, atMs: api.deps.clock(), ...more });
    return signed.headers as Record<string, string>;
  };
  const observed = async () => {
    await gate.flush();
    return await api.deps.database.query(
      'select classified_as, classify_reason, verified, verified_agent, sig_invalid from observation where tenant_id = $1 order by observation_id',
      [site.tenantId],
    );
  };
  const askedAbout = (path: string) => asked.filter((one) => one.startsWith(path));
  return { ...site, gate, url, rule, sign, observed, askedAbout };
}

test('an agent with the User-Agent of a browser is told by its signature, priced as who it is, and asked about once', async () => {
  const site = await gatedSite();
  expect(await site.rule(await site.sign())).toMatchObject({ act: 'answer', answer: { status: 402 } });
  for (let n = 0; n < 5; n++) await site.rule(await site.sign());
  expect(site.askedAbout('/_svc/agents/verify')).toHaveLength(1);
  expect(site.askedAbout('/_svc/quote')).toEqual([expect.stringContaining(`agent=${HOST}`)]);
  const row = { classified_as: 'agent', classify_reason: 'signed', verified: true, verified_agent: HOST, sig_invalid: null };
  expect(await site.observed()).toEqual(Array(6).fill(row));
});

test('a false signature by a known key is found out at the site, and one that the site cannot judge is judged by the service', async () => {
  const site = await gatedSite();
  await site.rule(await site.sign());
  const good = await site.sign();
  await site.rule({ ...good, signature: `sig1=:${'A'.repeat(86)}==:` });
  expect(site.askedAbout('/_svc/agents/verify')).toHaveLength(1);
  await site.rule(await site.sign({ atMs: api.deps.clock() - 600_000 }));
  await site.rule(
    await site.sign({ url: 'https://elsewhere.example/articles/solo?a=1', components: ['@target-uri', 'signature-agent'] }),
  );
  expect(site.askedAbout('/_svc/agents/verify')).toHaveLength(3);
  const rows = (await site.observed()) as { verified: boolean | null; sig_invalid: boolean | null }[];
  expect(rows.map(({ verified, sig_invalid: isFalse }) => [verified, isFalse])).toEqual([
    [true, null],
    [null, true],
    [null, true],
    [null, true],
  ]);
});

test('forgeries in the name of an agent, right before its own request, take nothing from it: it is verified, and each of them is told', async () => {
  const site = await gatedSite();
  const good = await site.sign();
  const forged = { ...good, signature: `sig1=:${'A'.repeat(86)}==:` };
  await Promise.all([forged, forged, good, good].map((headers) => site.rule(headers)));
  const rows = (await site.observed()) as { verified_agent: string | null; sig_invalid: boolean | null }[];
  const told = rows.map(({ verified_agent: host, sig_invalid: isFalse }) => (isFalse ? 'forged' : host));
  expect(told.toSorted()).toEqual([HOST, HOST, 'forged', 'forged']);
});

test('a key is asked about again when its time is over, and one that was taken away verifies nobody then', async () => {
  const site = await gatedSite();
  web.hosts.set(HOST, directoryOf([agent], {}, { 'cache-control': 'max-age=60' }));
  api.time.offsetMs = 7_200_000;
  await site.rule(await site.sign());
  web.hosts.set(HOST, directoryOf([await newAgent()]));
  api.time.offsetMs += 61_000;
  await site.rule(await site.sign());
  const rows = (await site.observed()) as {
    verified: boolean | null;
    verified_agent: string | null;
    sig_invalid: boolean | null;
  }[];
  expect(rows.map(({ verified, verified_agent: host, sig_invalid: isFalse }) => [verified, host, isFalse])).toEqual([
    [true, HOST, null],
    [null, null, null],
  ]);
});

test('nobody is asked about unsigned requests, and what a reader tells the site alone stays there', async () => {
  const site = await gatedSite();
  const told: unknown[] = [];
  expect(await site.rule({})).toEqual({ act: 'serve', headers: null });
  await site.rule({ 'user-agent': 'GPTBot/1.0' });
  expect(site.askedAbout('/_svc/agents/verify')).toEqual([]);
  const gate = createGate<null>({
    serviceUrl: api.url,
    apiKey: site.key,
    now: api.deps.clock,
    log: () => undefined,
    fetch: (input, init) => {
      if (String(input).endsWith('/agents/verify')) told.push(String(init?.body));
      return fetch(input, init);
    },
  });
  const secrets = { cookie: 'session=1', authorization: 'Bearer x' };
  const components = ['@authority', 'signature-agent', 'cookie', 'authorization', 'crawler-max-price'];
  const fields: Record<string, string> = await site.sign({
    headers: { ...secrets, 'crawler-max-price': 'USD 0.01' },
    components,
  });
  fields['host'] = site.host;
  await gate.rule({ method: 'GET', target: '/articles/solo?a=1', header: (name) => fields[name], original: null });
  expect(told).toEqual([expect.stringContaining('crawler-max-price')]);
  expect(told[0]).not.toMatch(/session=1|Bearer x/);
});

test('made-up agents cost a site twenty calls a second, and a directory that fails is not asked about each time', async () => {
  const site = await gatedSite();
  const strangers = await Promise.all(
    Array.from({ length: 30 }, async (_, n) => site.sign({ field: `sig1="https://none${n}.sandbox.example"` })),
  );
  for (const headers of strangers) await site.rule(headers);
  expect(site.askedAbout('/_svc/agents/verify')).toHaveLength(20);
  api.time.offsetMs = 1_000;
  for (const headers of strangers.slice(0, 5)) await site.rule(headers);
  expect(site.askedAbout('/_svc/agents/verify')).toHaveLength(20);
  const rows = (await site.observed()) as { verified: boolean | null; sig_invalid: boolean | null }[];
  expect(rows.every(({ verified, sig_invalid: isFalse }) => verified === null && isFalse === null)).toBe(true);
});
