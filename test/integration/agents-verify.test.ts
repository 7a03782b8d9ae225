import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { AgentsVerifyAnswer } from '../../api/schemas/agents.ts';
import type { Directories } from '../../modules/gate/use/agents/directories.ts';
import { openDirectories } from '../../modules/gate/use/agents/directories.ts';
import { verifyAgent } from '../../modules/gate/use/agents/verify.ts';
import { forgetWhatEnded } from '../../modules/operations/use/retention.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { rerouteToSandbox } from '../../process/sandboxWeb.ts';
import type { Signing, SigningAgent } from '../support/agents.ts';
import { DIRECTORY_PATH, directoryOf, newAgent, signedRequest, startAgentWeb } from '../support/agents.ts';
import { startTestApi } from '../support/api.ts';
import { BLOCKED, LOOPBACK, REFUSED } from '../support/unsafe-addresses.ts';

let web: Awaited<ReturnType<typeof startAgentWeb>>;
let api: Awaited<ReturnType<typeof startTestApi>>;
let site: Awaited<ReturnType<typeof api.site>>;
let agent: SigningAgent;
const QUIET = { info: () => undefined, warn: () => undefined, error: () => undefined };
let hosts = 0;

beforeAll(async () => {
  web = await startAgentWeb();
  api = await startTestApi({
    outbound: createOutbound({ allowLoopback: true, reroute: rerouteToSandbox(web.url) }),
    agents: { patienceMs: 60_000 },
    newDirectories: { count: () => 0 },
  });
  agent = await newAgent();
});
beforeEach(async () => {
  Object.assign(api.time, { offsetMs: 0, stoppedAtMs: Date.now() });
  web.asked.length = 0;
  site = await api.site();
});
afterAll(async () => {
  await api.stop();
  await web.close();
});

/** A host of an agent, under a registered domain of its own, as the sandbox's web plays it. */
function newHost(): string {
  hosts += 1;
  return `bot${hosts}.sandbox.example`;
}

const pageOf = (host: string) => `https://${host}/articles/solo`;
const nowMs = () => api.deps.clock();
const send = (request: object, key = site.key) => api.post('/_svc/agents/verify', key, { request });

async function ask(signing: Partial<Signing> & { readonly field: string | null }, key = site.key) {
  const answer = await send(await signedRequest({ agent, url: pageOf(site.host), atMs: nowMs(), ...signing }), key);
  expect(answer.status).toBe(200);
  expect(AgentsVerifyAnswer.parse(answer.body)).toEqual(answer.body);
  return answer.body;
}

/** The directories of another process on the same database. */
const otherProcess = (more: Partial<Parameters<typeof openDirectories>[0]> = {}): Directories =>
  openDirectories({ database: api.deps.database, outbound: outboundTo(web.url), clock: nowMs, log: QUIET, ...more });
const outboundTo = (url: string) => createOutbound({ allowLoopback: true, reroute: rerouteToSandbox(url) });

test.each([
  ['the string of earlier drafts', (host: string) => `"https://${host}"`],
  ['a dictionary', (host: string) => `sig1="https://${host}"`],
])(
  'a request that web-bot-auth signed with %s is verified, its directory is asked once, and `observed` is ready for observe',
  async (_form, fieldOf) => {
    const host = newHost();
    web.hosts.set(host, directoryOf([agent]));
    const first = await ask({ field: fieldOf(host) });
    expect(first).toEqual({
      outcome: 'verified',
      agent: {
        url: `https://${host}${DIRECTORY_PATH}`,
        type: 'directory',
        host,
        keyid: agent.keyid,
        label: 'sig1',
        covered: ['@authority', 'signature-agent'],
        created: expect.any(Number),
        expires: expect.any(Number),
        operator: null,
        purpose: null,
        key: agent.publicJwk,
      },
      observed: { verified: true, verifiedAgent: host },
      cacheSeconds: 300,
    });
    expect((await ask({ field: fieldOf(host) })).outcome).toBe('verified');
    expect(web.asked.filter((one) => one.endsWith(DIRECTORY_PATH))).toHaveLength(1);
    const report = { resource: pageOf(site.host), verdict: 'denied', classifiedAs: 'agent', agent: first.observed };
    expect((await api.post('/_svc/observe', site.key, report)).status).toBe(202);
  },
);

test('a signature for one site is false at another, and nobody may ask about the readers of a site that is not his', async () => {
  const host = newHost();
  web.hosts.set(host, directoryOf([agent]));
  const other = await api.site();
  const request = await signedRequest({ agent, url: pageOf(site.host), field: `sig1="https://${host}"`, atMs: nowMs() });
  expect((await send(request)).body.outcome).toBe('verified');
  const replayed = await send({ ...request, url: pageOf(other.host) }, other.key);
  expect(replayed.body).toEqual({ outcome: 'invalid', reason: 'bad_signature', observed: { sigInvalid: true } });
  const foreign = await send(request, other.key);
  expect([foreign.status, foreign.headers.get('x-svc-error-code')]).toEqual([403, 'resource_not_owned']);
});

test('one who changes what is signed, names another agent, or signs with another key is found out, and what nobody signed is not', async () => {
  const [host, victim] = [newHost(), newHost()];
  web.hosts.set(host, directoryOf([agent]));
  web.hosts.set(victim, directoryOf([await newAgent()]));
  const request = await signedRequest({ agent, url: pageOf(site.host), field: `sig1="https://${host}"`, atMs: nowMs() });
  const outcome = async (headers: Record<string, string>) => {
    const { body } = await send({ ...request, headers });
    return `${body.outcome} ${body.reason}`;
  };
  expect(await outcome({ ...request.headers, 'signature-agent': `sig1="https://${victim}"` })).toBe('unverified key_unknown');
  const thief = await newAgent();
  const stolen = await signedRequest({ agent: thief, url: pageOf(site.host), field: `sig1="https://${host}"`, atMs: nowMs() });
  const asOwner = stolen.headers['signature-input'].replace(thief.keyid, agent.keyid);
  expect(await outcome({ ...stolen.headers, 'signature-input': asOwner })).toBe('invalid bad_signature');
  const { 'signature-agent': _, ...unnamed } = request.headers;
  expect(await outcome(unnamed)).toBe('unverified no_agent');
  expect(await outcome({ ...request.headers, 'signature-input': 'sig1=(' })).toBe('invalid malformed');
  expect(await outcome({ ...request.headers, signature: 'sig2=:AAAA:' })).toBe('invalid malformed');
  expect(
    await outcome({ ...request.headers, 'signature-input': request.headers['signature-input'].replace('web-bot-auth', 'x') }),
  ).toBe('unverified not_signed');
  expect(await outcome({ 'user-agent': 'x' })).toBe('unverified not_signed');
  const hmac = request.headers['signature-input'].replace('alg="ed25519"', 'alg="hmac-sha256"');
  expect(await outcome({ ...request.headers, 'signature-input': hmac })).toBe('invalid algorithm');
  const old = await ask({ field: `sig1="https://${host}"`, atMs: nowMs() - 400_000 });
  expect(old).toMatchObject({ outcome: 'invalid', reason: 'expired' });
  const narrow = {
    components: ['@authority', '@method', '@path', 'signature-agent', 'crawler-max-price'],
    headers: { 'crawler-max-price': 'USD 0.01' },
  };
  const covered = await signedRequest({
    agent,
    url: pageOf(site.host),
    field: `sig1="https://${host}"`,
    atMs: nowMs(),
    ...narrow,
  });
  expect((await send(covered)).body.outcome).toBe('verified');
  const { 'crawler-max-price': __, ...lacking } = covered.headers as Record<string, string>;
  expect((await send({ ...covered, headers: lacking })).body).toMatchObject({ outcome: 'unverified', reason: 'field_missing' });
});

test('a directory that redirects, fails, is no directory, or is too large verifies nobody and accuses nobody', async () => {
  const [evil, target] = [newHost(), newHost()];
  web.hosts.set(target, directoryOf([agent]));
  const type = { 'content-type': 'application/http-message-signatures-directory+json' };
  const keys = JSON.stringify({ keys: [agent.publicJwk] });
  const nested = `${'['.repeat(40)}${']'.repeat(40)}`;
  let sent = 0;
  const answers: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ['directory_unreachable', (response) => response.writeHead(302, { location: `https://${target}${DIRECTORY_PATH}` }).end()],
    ['directory_unreachable', (response) => response.writeHead(404, type).end(keys)],
    ['directory_unreachable', (response) => response.writeHead(500, type).end(keys)],
    ['directory_unreachable', (response) => response.writeHead(200, { ...type, 'content-encoding': 'gzip' }).end('x')],
    ['directory_unreachable', (response) => response.destroy()],
    ['directory_invalid', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(keys)],
    ['directory_invalid', (response) => response.writeHead(200, type).end('{')],
    ['directory_invalid', (response) => response.writeHead(200, type).end(`{"keys":[],"x":${nested}}`)],
    [
      'directory_invalid',
      (response) => response.writeHead(200, type).end(JSON.stringify({ keys: Array(51).fill(agent.publicJwk) })),
    ],
    [
      'directory_invalid',
      (response) => {
        response.writeHead(200, type);
        const more = (): void => {
          while (sent < 10_000_000 && !response.destroyed) {
            sent += 65_536;
            if (!response.write('a'.repeat(65_536))) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      },
    ],
    ['key_unknown', (response) => response.writeHead(200, type).end('{"keys":[]}')],
  ];
  for (const [reason, answer] of answers) {
    const host = newHost();
    web.hosts.set(host, (_request, response) => void answer(response));
    const body = await ask({ field: `sig1="https://${host}"` });
    expect(body).toEqual({ outcome: 'unverified', reason, retryAfter: expect.any(Number), observed: {} });
    expect(body.retryAfter).toBeGreaterThan(0);
    await api.deps.agents.directories.settled();
  }
  expect(web.asked.some((one) => one.startsWith(target) || one.startsWith(evil))).toBe(false);
  expect(sent).toBeLessThan(10_000_000);
});

test('a directory that hangs holds up an answer no longer than a gate waits, and its agent is verified when it is back', async () => {
  const host = newHost();
  const hanging: ServerResponse[] = [];
  web.hosts.set(host, (_request, response) => void hanging.push(response));
  const request = await signedRequest({ agent, url: pageOf(site.host), field: `sig1="https://${host}"`, atMs: nowMs() });
  const question = { tenantId: site.tenantId, hosts: [site.host], request };
  const impatient = { ...api.deps.agents, patienceMs: 5 };
  expect(await verifyAgent(impatient, question)).toEqual({
    outcome: 'unverified',
    reason: 'directory_pending',
    retryAfter: 2,
    observed: {},
  });
  expect(await verifyAgent(impatient, question)).toMatchObject({ reason: 'directory_pending' });
  await expect.poll(() => hanging.length).toBe(1);
  hanging[0]!.destroy();
  await api.deps.agents.directories.settled();
  web.hosts.set(host, directoryOf([agent]));
  expect(await verifyAgent(impatient, question)).toMatchObject({ reason: 'directory_unreachable', retryAfter: 10 });
  api.time.offsetMs = 10_000;
  expect((await send(request)).body.outcome).toBe('verified');
});

test('an outage takes no key away, an answer without the key does, and another process knows what one has read', async () => {
  const host = newHost();
  web.hosts.set(host, directoryOf([agent], {}, { 'cache-control': 'max-age=120' }));
  const field = `sig1="https://${host}"`;
  expect((await ask({ field })).cacheSeconds).toBe(120);
  const elsewhere = { ...api.deps.agents, directories: otherProcess() };
  const questionNow = async () => ({
    tenantId: site.tenantId,
    hosts: [site.host],
    request: await signedRequest({ agent, url: pageOf(site.host), field, atMs: nowMs() }),
  });
  expect((await verifyAgent(elsewhere, await questionNow())).outcome).toBe('verified');
  expect(web.asked.filter((one) => one.endsWith(DIRECTORY_PATH))).toHaveLength(1);

  web.hosts.set(host, (_request, response) => void response.writeHead(503).end());
  api.time.offsetMs = 6 * 86_400_000;
  expect((await ask({ field })).outcome).toBe('verified');
  expect(web.asked.filter((one) => one.endsWith(DIRECTORY_PATH))).toHaveLength(2);

  web.hosts.set(host, directoryOf([await newAgent()]));
  api.time.offsetMs += 11_000;
  expect(await ask({ field })).toMatchObject({ outcome: 'unverified', reason: 'key_unknown' });
  expect(await verifyAgent(elsewhere, await questionNow())).toMatchObject({ outcome: 'unverified', reason: 'key_unknown' });
  await elsewhere.directories.settled();
});

test('keys are believed for a week after their directory last answered, and then forgotten', async () => {
  const host = newHost();
  web.hosts.set(host, directoryOf([agent]));
  const field = `sig1="https://${host}"`;
  expect((await ask({ field })).outcome).toBe('verified');
  await api.deps.agents.directories.settled();
  web.hosts.delete(host);
  api.time.offsetMs = 7 * 86_400_000 + 1;
  expect(await ask({ field })).toMatchObject({ outcome: 'unverified', reason: 'directory_unreachable' });
  const metrics = { count: () => undefined, observe: () => undefined } as unknown as Parameters<
    typeof forgetWhatEnded
  >[0]['metrics'];
  const { database, clock } = api.deps;
  await forgetWhatEnded({ database, clock, metrics, retention: { webhooks: 90, userAgents: 30, signIns: 30 } });
  expect(await database.query('select 1 from agent_directory where address like $1', [`https://${host}/%`])).toEqual([]);
});

test('a key is known by its directory and itself: one that another directory holds verifies nobody', async () => {
  const [own, other] = [newHost(), newHost()];
  web.hosts.set(own, directoryOf([agent]));
  web.hosts.set(other, directoryOf([await newAgent()]));
  expect((await ask({ field: `sig1="https://${own}"` })).outcome).toBe('verified');
  expect(await ask({ field: `sig1="https://${other}"` })).toMatchObject({ outcome: 'unverified', reason: 'key_unknown' });
});

test('many questions at once share one look, and a key that is not there makes a directory asked again once a minute', async () => {
  const host = newHost();
  web.hosts.set(host, directoryOf([agent]));
  const looks = () => web.asked.filter((one) => one === `${host}${DIRECTORY_PATH}`).length;
  const field = `sig1="https://${host}"`;
  const all = await Promise.all(Array.from({ length: 20 }, () => ask({ field })));
  expect(all.every(({ outcome }) => outcome === 'verified')).toBe(true);
  expect(looks()).toBe(1);
  const strangers = await Promise.all(Array.from({ length: 5 }, newAgent));
  for (const stranger of strangers) expect(await ask({ field, agent: stranger })).toMatchObject({ reason: 'key_unknown' });
  expect(looks()).toBe(1);
  api.time.offsetMs = 60_000;
  web.hosts.set(host, directoryOf([agent, strangers[0]!]));
  expect((await ask({ field, agent: strangers[0]! })).outcome).toBe('verified');
  expect(looks()).toBe(2);
});

test('a site brings thirty new directories at once and then one in ten seconds, ten of them under one domain; others go on', async () => {
  const directories = otherProcess({
    outbound: { checkUrl: () => ({ ok: true }), send: async () => ({ ok: false, reason: 'dns_error', durationMs: 0 }) },
  });
  const reasonOf = async (host: string, tenantId = site.tenantId) => {
    const source = { type: 'directory', address: `https://${host}/`, identifier: `https://${host}/`, host } as const;
    const found = await directories.find(source, 'k', tenantId);
    return found.ok ? 'found' : found.reason;
  };
  const reasons = [];
  for (let n = 0; n < 31; n++) reasons.push(await reasonOf(`bot.flood${n}.com`));
  expect(reasons).toEqual([...Array(30).fill('directory_unreachable'), 'busy']);
  expect(await reasonOf('bot.flood31.com', crypto.randomUUID())).toBe('directory_unreachable');
  const third = crypto.randomUUID();
  const ofOne = [];
  for (let n = 0; n < 11; n++) ofOne.push(await reasonOf(`bot${n}.wild.co.uk`, third));
  expect(ofOne).toEqual([...Array(10).fill('directory_unreachable'), 'busy']);
  api.time.offsetMs = 10_000;
  expect(await reasonOf('bot.flood30.com')).toBe('directory_unreachable');
});

test('whatever unsafe address a signature names, nothing is asked there and nobody is verified', async () => {
  const resolved: string[] = [];
  const unsafe = [...BLOCKED, ...LOOPBACK];
  const outbound = createOutbound({
    resolve: async (name) => {
      resolved.push(name);
      return [{ address: unsafe[Number(/^bot(\d+)\./.exec(name)?.[1])] ?? '' }];
    },
  });
  const deps = { ...api.deps.agents, directories: otherProcess({ outbound, newDirectories: { count: () => 0 } }) };
  const judge = async (field: string) => {
    const input = `sig1=("@authority" "signature-agent";key="sig1");created=${Math.floor(nowMs() / 1_000)};expires=${Math.floor(nowMs() / 1_000) + 60};keyid="k";tag="web-bot-auth"`;
    const headers = { 'signature-agent': field, 'signature-input': input, signature: 'sig1=:AAAA:' };
    const request = { method: 'GET', url: pageOf(site.host), headers };
    return verifyAgent(deps, { tenantId: site.tenantId, hosts: [site.host], request });
  };
  for (const [url] of REFUSED) {
    for (const field of [`sig1="${url}"`, `sig1="${url}";type=jwks_uri`, `sig1="${url}";type=cimd`])
      expect(await judge(field), field).toMatchObject({ outcome: 'unverified', reason: 'agent_refused' });
  }
  expect(resolved).toEqual([]);
  for (const [index, address] of unsafe.entries())
    expect(await judge(`sig1="https://bot${index}.site${index}.com"`), address).toMatchObject({
      reason: 'directory_unreachable',
    });
  expect(resolved).toHaveLength(unsafe.length);
  await outbound.close();
});

test('a key set and a card at any address verify their agent, and speak for no host', async () => {
  const host = newHost();
  web.hosts.set(host, (request, response) => {
    const json = { 'content-type': 'application/json' };
    if (request.url === '/keys?v=2')
      response.writeHead(200, json).end(JSON.stringify({ keys: [{ ...agent.publicJwk, kid: 'mine' }] }));
    else if (request.url === '/card')
      response.writeHead(200, json).end(
        JSON.stringify({
          client_name: 'Example Bot',
          jwks_uri: `https://${host}/keys?v=2`,
          web_bot_auth: { purpose: 'search' },
        }),
      );
    else response.writeHead(404).end();
  });
  const keys = await ask({ field: `sig1="https://${host}/keys?v=2";type=jwks_uri` });
  expect(keys).toMatchObject({
    outcome: 'verified',
    agent: { type: 'jwks_uri', url: `https://${host}/keys` },
    observed: { verified: true },
  });
  expect(keys.observed).toEqual({ verified: true });
  const field = `sig1="https://${host}/card";type=cimd`;
  expect(await ask({ field })).toMatchObject({ outcome: 'verified', agent: { type: 'cimd' }, observed: { verified: true } });
  await api.deps.agents.directories.settled();
  expect((await ask({ field })).agent).toMatchObject({ operator: 'Example Bot', purpose: 'search' });
});

test('what an agent says of itself is read beside its directory and shown from then on, and its failure delays nothing', async () => {
  const host = newHost();
  const directory = directoryOf([agent], { purpose: 'tdm' });
  web.hosts.set(host, (request, response) => {
    if (request.url !== '/.well-known/signature-agent-card') return directory(request, response as never);
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"client_name":"Example Bot","web_bot_auth":{"purpose":"search"}}');
  });
  const field = `sig1="https://${host}"`;
  expect((await ask({ field })).outcome).toBe('verified');
  await api.deps.agents.directories.settled();
  expect((await ask({ field })).agent).toMatchObject({ operator: 'Example Bot', purpose: 'tdm' });
});

test('keys that the standard prints are refused, and broken questions are told what is wrong with them', async () => {
  const x = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs';
  const d = 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU';
  const publicJwk = { kty: 'OKP', crv: 'Ed25519', x } as const;
  const known = { jwk: { ...publicJwk, d }, publicJwk, keyid: 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U' };
  const host = newHost();
  web.hosts.set(host, directoryOf([known]));
  const field = `sig1="https://${host}"`;
  expect(await ask({ field, agent: known })).toMatchObject({ outcome: 'invalid', reason: 'test_key' });
  expect(web.asked).toEqual([]);
  const request = await signedRequest({ agent: known, url: pageOf(site.host), field, atMs: nowMs() });
  const lenient = { ...api.deps.agents, acceptTestKeys: true };
  const verdict = await verifyAgent(lenient, { tenantId: site.tenantId, hosts: [site.host], request });
  expect(verdict.outcome).toBe('verified');
  for (const bad of [
    {},
    { ...request, method: 'get' },
    { ...request, headers: { Signature: 'x' } },
    { ...request, headers: { a: 'x'.repeat(8_193) } },
  ])
    expect((await send(bad)).status).toBe(400);
  expect((await send({ ...request, url: 'ftp://x' })).headers.get('x-svc-error-code')).toBe('invalid_resource');
});
