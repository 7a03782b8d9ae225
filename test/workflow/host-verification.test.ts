import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mintConnectKey, mintKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { setConfirmedAddress } from '../support/addresses.ts';
import { saveHistory } from '../support/histories.ts';
import type { HostWorld } from '../support/hosts.ts';
import { FLEET, startHostWorld } from '../support/hosts.ts';
import { query } from '../support/sql.ts';

let world: HostWorld;

beforeAll(async () => {
  world = await startHostWorld();
});
afterAll(() => world.stop());

const newHost = (): string => `h${randomBytes(5).toString('hex')}.sandbox.example`;

async function site() {
  const { tenantId, key } = await world.api.site();
  const open = (host: string, method?: string, as = key) =>
    world.api.post('/_svc/verify-host', as, method ? { host, method } : { host });
  const check = (host: string, as = key) => world.api.post('/_svc/verify-host/check', as, { host });
  const list = (as = key) => world.api.request('/_svc/verify-host', { key: as });
  return { tenantId, key, open, check, list, host: newHost() };
}

async function serveToken(host: string, token: string): Promise<void> {
  await world.page(host, `/.well-known/svc-challenge/${token}`, `${token}\n`);
}

/** Asks until `look` gives something; the test's own time limit bounds it. */
async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('a host is proven by a page under the well-known path, and the answers are those of the specification', async () => {
  const { open, check, list, host, tenantId } = await site();
  const opened = await open(host.toUpperCase());
  expect(opened.status).toBe(201);
  const { challenge } = opened.body;
  expect(challenge).toEqual({
    host,
    token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    method: 'well-known',
    present: {
      url: `https://${host}/.well-known/svc-challenge/${challenge.token}`,
      body: challenge.token,
      contentType: 'text/plain',
    },
    verifiedAt: null,
    routingVerifiedAt: null,
    capability: 'unknown',
    codeArtifact: null,
  });
  expect(await open(host)).toMatchObject({ status: 201, body: { challenge: { token: challenge.token } } });
  const missing = await check(host);
  expect([missing.status, missing.body]).toEqual([409, { verified: false, reason: 'not_verified' }]);
  await serveToken(host, challenge.token);
  const checked = await check(host);
  expect([checked.status, checked.body]).toEqual([200, { verified: true, host }]);
  const { challenges } = (await list()).body;
  expect(challenges).toHaveLength(1);
  expect(challenges[0].verifiedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(challenges[0].routingVerifiedAt).toBeNull();
  const { status } = await world.client.workflow.getHandle(`host:${tenantId}:${host}`).describe();
  expect(status.name).toBe('RUNNING');
  await saveHistory(world.client, `host:${tenantId}:${host}`, 'verifyHost');
});

test('a host is proven by the fixed page whose first line is the token', async () => {
  const { open, check, host } = await site();
  const { token } = (await open(host)).body.challenge;
  await world.page(host, '/.well-known/svc-challenge', `${token}\nanything else`);
  expect((await check(host)).body).toEqual({ verified: true, host });
});

test('a host is proven by a meta tag in its head, and not by one elsewhere or by another content', async () => {
  const { open, check, host } = await site();
  const { challenge } = (await open(host, 'meta-tag')).body;
  expect(challenge.present).toMatchObject({ name: 'svc-site-verification', content: challenge.token, url: `https://${host}/` });
  await world.page(host, '/', `<html><head><title>x</title></head><body>${challenge.present.html}</body></html>`);
  expect((await check(host)).body).toEqual({ verified: false, reason: 'not_verified' });
  await world.page(host, '/', '<head><meta name="svc-site-verification" content="another"></head>');
  expect((await check(host)).body).toEqual({ verified: false, reason: 'wrong_token' });
  await world.page(host, '/', `<!doctype html><html><head>${challenge.present.html}</head><body></body></html>`);
  expect((await check(host)).body).toEqual({ verified: true, host });
});

test('a host is proven by a TXT record among others, and switching the method keeps the token', async () => {
  const { open, check, host } = await site();
  const first = (await open(host)).body.challenge;
  const { challenge } = (await open(host, 'dns-txt')).body;
  expect(challenge.token).toBe(first.token);
  expect(challenge.present).toEqual({
    type: 'TXT',
    name: `_svc-challenge.${host}`,
    value: `svc-verify=${challenge.token}`,
    ttl: 300,
  });
  expect((await check(host)).body.reason).toBe('not_verified');
  await world.dns(`_svc-challenge.${host}`, ['svc-verify=of-somebody-else']);
  expect((await check(host)).body.reason).toBe('dns_mismatch');
  await world.dns(`_svc-challenge.${host}`, ['v=spf1 -all', challenge.present.value]);
  expect((await check(host)).status).toBe(200);
});

test('each way a site can fail has its reason and nothing of what the site said', async () => {
  const { open, check, host } = await site();
  expect((await check(host)).body).toEqual({ verified: false, reason: 'no_challenge' });
  const { token } = (await open(host)).body.challenge;
  const path = `/.well-known/svc-challenge/${token}`;
  await world.page(host, path, '', { status: 302, headers: { location: 'http://169.254.169.254/' } });
  expect((await check(host)).body).toEqual({ verified: false, reason: 'redirect' });
  await world.page(host, path, 'secret of the site');
  expect((await check(host)).body).toEqual({ verified: false, reason: 'wrong_token' });
  await world.page(host, path, token, { delayMs: 10_000 });
  expect((await check(host)).body).toEqual({ verified: false, reason: 'timeout' });
  await world.page(host, path, token, { headers: { 'content-encoding': 'gzip' } });
  expect((await check(host)).body).toEqual({ verified: false, reason: 'not_verified' });
  await world.page(host, path, token, { status: 500 });
  expect((await check(host)).body).toEqual({ verified: false, reason: 'not_verified' });
});

test('domain.manage leaves every key of the site with the verification, and the same check still gives 200', async () => {
  const { tenantId, key, open, check, list, host } = await site();
  const connect = await mintConnectKey(world.api.deps, { tenantId, name: 'connect' });
  const bare = await mintKey(world.api.deps, { tenantId, name: 'bare', scopes: ['domain.manage'] });
  const reader = await mintKey(world.api.deps, { tenantId, name: 'reader', scopes: ['tenant.read'] });
  const other = await site();
  expect((await open(host, undefined, reader.token)).status).toBe(403);
  const { token } = (await open(host, undefined, connect.token)).body.challenge;
  await serveToken(host, token);
  expect((await check(host, bare.token)).status).toBe(200);
  for (const one of [key, connect.token, bare.token]) {
    expect(await open(newHost(), undefined, one)).toMatchObject({
      status: 403,
      body: { error: expect.stringMatching(/^scope_missing/) },
    });
    expect(await check(host, one)).toMatchObject({ status: 200, body: { verified: true, host } });
    expect((await check(newHost(), one)).status).toBe(403);
  }
  expect((await check(host, reader.token)).status).toBe(403);
  expect((await list(connect.token)).body.challenges).toHaveLength(1);
  expect((await list(bare.token)).status).toBe(403);
  expect((await other.open(newHost())).status).toBe(201);
  const { database } = world.api.deps;
  const lost = () =>
    database.query<{ scopes: string[]; name: string; host: string | null }>(
      "select scopes, name, lost_scopes #>> '{domain.manage,host}' as host from api_key where tenant_id = $1",
      [tenantId],
    );
  expect((await lost()).flatMap(({ scopes }) => scopes)).not.toContain('domain.manage');
  await database.query("update api_key set lost_scopes = '{}' where tenant_id = $1", [tenantId]);
  expect((await lost()).map((row) => [row.name, row.host])).toContainEqual(['reader', null]);
  expect((await lost()).filter((row) => row.name !== 'reader').map((row) => row.host)).toEqual(Array(3).fill(host));
});

test('a verified host cannot be added again, here or elsewhere, and its pages belong to the site at once', async () => {
  const { tenantId, open, check, host } = await site();
  const { token } = (await open(host)).body.challenge;
  await serveToken(host, token);
  await check(host);
  const writer = await mintKey(world.api.deps, { tenantId, name: 'later', scopes: SCOPES });
  const again = await open(host, undefined, writer.token);
  expect([again.status, again.body]).toEqual([409, { error: 'host_already_added', routingVerified: false }]);
  const quoted = await world.api.request(`/_svc/quote?resource=https://${host}/articles/solo`, { key: writer.token });
  expect(quoted.status).toBe(200);
  const other = await site();
  const taken = await other.open(host);
  expect([taken.status, taken.body]).toEqual([409, { error: 'host_taken', routingVerified: false }]);
});

test('of two sites that prove one host at the same time exactly one gets it', async () => {
  const [one, two] = [await site(), await site()];
  const { host } = one;
  for (const rival of [one, two]) await serveToken(host, (await rival.open(host)).body.challenge.token);
  const answers = await Promise.all([one.check(host), two.check(host)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(answers.find(({ status }) => status === 409)?.body).toEqual({ verified: false, reason: 'host_taken' });
  const claims = await world.api.deps.database.query('select 1 from tenant_host where host = $1 and verified_at is not null', [
    host,
  ]);
  expect(claims).toHaveLength(1);
});

test('what a site runs on is told by its front page when the challenge is opened', async () => {
  const { open, host } = await site();
  await world.page(host, '/', '<head><meta name="generator" content="WordPress 6.9"></head>');
  expect((await open(host)).body.challenge).toMatchObject({ capability: 'code', codeArtifact: 'wordpress_plugin' });
  const wix = newHost();
  await world.page(wix, '/', 'hello', { headers: { 'x-wix-request-id': '1' } });
  expect((await open(wix)).body.challenge).toMatchObject({ capability: 'dns_only', codeArtifact: null });
});

test('checks over a cap are 429 with Retry-After, cost nothing, and the automatic check goes on', async () => {
  const { open, check, list, host } = await site();
  const before = [...world.times.openGapsMs];
  world.times.openGapsMs.fill(3_000); // one automatic check may come before the page is there; then the next one finds it
  const { token } = (await open(host)).body.challenge;
  world.caps.gapMs = 3_600_000;
  expect((await check(host)).status).toBe(409);
  const soon = await check(host);
  expect(soon.status).toBe(429);
  expect(Number(soon.headers.get('retry-after'))).toBeGreaterThan(3_000);
  expect(soon.body).toMatchObject({ error: expect.stringMatching(/^throttled: /) });
  await serveToken(host, token);
  await eventually(async () => (await list()).body.challenges[0].verifiedAt !== null);
  expect((await check(host)).status).toBe(200);
  world.times.openGapsMs.splice(0, before.length, ...before);
  world.caps.gapMs = 0;
});

test('a challenge verifies by itself, without a check being asked for', async () => {
  const { open, list, host } = await site();
  const before = [...world.times.openGapsMs];
  world.times.openGapsMs.fill(300);
  const { token } = (await open(host)).body.challenge;
  await serveToken(host, token);
  await eventually(async () => (await list()).body.challenges[0].verifiedAt !== null);
  world.times.openGapsMs.splice(0, before.length, ...before);
});

test('a check waits for a worker that comes back, and a host stays known over its restart', async () => {
  const { open, check, host } = await site();
  const { token } = (await open(host)).body.challenge;
  await serveToken(host, token);
  const restarting = world.restartWorker();
  const answer = check(host);
  await restarting;
  const first = await answer;
  expect([200, 503]).toContain(first.status);
  // A worker that has only just come back may be late once more: 503 says to ask again.
  await eventually(async () => {
    const { status } = await check(host);
    expect([200, 503]).toContain(status);
    return status === 200;
  });
});

test('only the routing probe says that the fleet serves a host, when name and live answer lead there', async () => {
  const { tenantId, open, check, list, host } = await site();
  const { token } = (await open(host)).body.challenge;
  await serveToken(host, token);
  await world.page(host, '/', 'served by the fleet', { headers: { 'svc-fleet': '1' } });
  await world.dns(host, [], FLEET);
  await check(host);
  expect((await list()).body.challenges[0].routingVerifiedAt).not.toBeNull();
  const writer = await mintKey(world.api.deps, { tenantId, name: 'later', scopes: SCOPES });
  expect((await open(host, undefined, writer.token)).body).toEqual({ error: 'host_already_added', routingVerified: true });
});

test('ownership lapses after the confirmations of a failed recheck, and then only DNS proves the host', async () => {
  const { tenantId, key, open, check, list, host } = await site();
  const before = { recheckMs: world.times.recheckMs, confirm: [...world.times.confirmAfterMs] };
  Object.assign(world.times, { recheckMs: 300 });
  world.times.confirmAfterMs.splice(0, 9, 200, 400, 600);
  await setConfirmedAddress(world.api.deps.database, tenantId, 'owner@alpha.example');
  const { token } = (await open(host)).body.challenge;
  await serveToken(host, token);
  expect((await check(host)).status).toBe(200);
  await serveToken(host, 'x');
  await world.page(host, `/.well-known/svc-challenge/${token}`, 'gone');
  const lapsed = await eventually(async () => {
    const [challenge] = (await list()).body.challenges;
    return challenge.verifiedAt === null && challenge;
  });
  Object.assign(world.times, { recheckMs: before.recheckMs });
  world.times.confirmAfterMs.splice(0, 9, ...before.confirm);
  const quoted = await world.api.request(`/_svc/quote?resource=https://${host}/articles/solo`, { key });
  expect([quoted.status, quoted.headers.get('x-svc-error-code')]).toEqual([403, 'resource_not_owned']);
  expect(lapsed.token).not.toBe(token);
  expect(lapsed.method).toBe('dns-txt');
  const alerts = await world.api.deps.database.query<{ kind: string }>(
    'select kind from operator_alert where tenant_id = $1 order by raised_at',
    [tenantId],
  );
  expect(alerts.map(({ kind }) => kind)).toEqual(['host_failing', 'host_lapsed']);
  const mails = await world.api.deps.database.query('select subject from alert_mail where tenant_id = $1 order by created_at', [
    tenantId,
  ]);
  expect(mails).toEqual([
    { subject: 'A host of yours fails its recheck' },
    { subject: 'A host of yours is not proven any more' },
  ]);
  await saveHistory(world.client, `host:${tenantId}:${host}`, 'verifyHost-lapse');
  const stranger = await site();
  const taken = (await stranger.open(host, 'well-known')).body.challenge;
  expect(taken.method).toBe('dns-txt');
  await serveToken(host, taken.token);
  expect((await stranger.check(host)).body).toEqual({ verified: false, reason: 'not_verified' });
  await world.dns(`_svc-challenge.${host}`, [`svc-verify=${taken.token}`]);
  expect((await stranger.check(host)).status).toBe(200);
});

test('a host lapses together with the alert that tells its owner, or not at all', async () => {
  const { tenantId, open, check, list, host } = await site();
  const { ownerUrl } = world.api.urls;
  const before = { recheckMs: world.times.recheckMs, confirm: [...world.times.confirmAfterMs] };
  Object.assign(world.times, { recheckMs: 300 });
  world.times.confirmAfterMs.splice(0, 9, 200, 400, 600);
  const { token } = (await open(host)).body.challenge;
  await serveToken(host, token);
  expect((await check(host)).status).toBe(200);
  await query(
    ownerUrl,
    `create sequence refused;
     create function refuse_alert() returns trigger language plpgsql security definer as
       $$ begin perform nextval('refused'); raise exception 'no alerts now'; end $$;
     create trigger refuse_alert before insert on operator_alert for each row
       when (new.tenant_id = '${tenantId}' and new.kind = 'host_lapsed') execute function refuse_alert()`,
  );
  await world.page(host, `/.well-known/svc-challenge/${token}`, 'gone');
  const refusals = async () =>
    Number((await query(ownerUrl, 'select last_value from refused where is_called'))[0]?.last_value ?? 0);
  await eventually(async () => (await refusals()) >= 2);
  expect((await list()).body.challenges[0].verifiedAt).not.toBeNull();
  await query(ownerUrl, 'drop trigger refuse_alert on operator_alert; drop function refuse_alert; drop sequence refused');
  await eventually(async () => (await list()).body.challenges[0].verifiedAt === null);
  Object.assign(world.times, { recheckMs: before.recheckMs });
  world.times.confirmAfterMs.splice(0, 9, ...before.confirm);
  expect(await query(ownerUrl, `select kind from operator_alert where tenant_id = '${tenantId}' order by raised_at`)).toEqual([
    { kind: 'host_failing' },
    { kind: 'host_lapsed' },
  ]);
});

test('a workflow of many checks continues as new and still answers', async () => {
  const { tenantId, open, check, host } = await site();
  await open(host);
  const handle = world.client.workflow.getHandle(`host:${tenantId}:${host}`);
  const { runId: first } = await handle.describe();
  await eventually(async () => {
    await Promise.all(Array.from({ length: 5 }, () => check(host)));
    return (await handle.describe()).runId !== first;
  });
  expect((await check(host)).body).toEqual({ verified: false, reason: 'not_verified' });
  // Temporal leaves a static summary with the first run; what a run is for stands in the details, which each sets again.
  const shown = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(shown.currentDetails).toContain(`| host | ${host} |`);
  await saveHistory(world.client, `host:${tenantId}:${host}`, 'verifyHost-continued', first);
});

test.each([
  ['two characters', 'ab'],
  ['254 characters', `${`${'a'.repeat(61)}.`.repeat(4)}exampl`],
  ['one label', 'example'],
  ['a label of 64', `${'a'.repeat(64)}.example`],
  ['a leading hyphen', '-a.example'],
  ['a trailing hyphen', 'a-.example'],
  ['an underscore', 'a_b.example'],
  ['a trailing dot', 'a.example.'],
  ['an address', '127.0.0.1'],
  ['a short address', '127.1'],
  ['a decimal address', '2130706433'],
  ['a hexadecimal address', '0x7f.0.0.1'],
  ['an octal address', '0177.0.0.1'],
  ['an IPv6 address', '[::1]'],
  ['circled digits', '①②⑦.0.0.1'],
  ['a public suffix', 'co.uk'],
  ['a private suffix', 'github.io'],
  ['a platform', 'wordpress.com'],
  ['localhost', 'localhost'],
  ['a local name', 'printer.local'],
  ['a reverse name', '1.0.0.127.in-addr.arpa'],
  ['our own name', 'own.example'],
  ['a port', 'a.example:80'],
  ['a path', 'a.example/x'],
  ['a user', 'u@a.example'],
  ['white space', ' a.example'],
  ['nothing', ''],
  ['a number', 7],
])('%s is no host and refused with 400 by both writes', async (_name, host) => {
  const { key } = await sharedSite();
  expect((await world.api.post('/_svc/verify-host', key, { host })).status).toBe(400);
  expect((await world.api.post('/_svc/verify-host/check', key, { host })).status).toBe(400);
});

test('a host whose workflow is lost, as with the database of Temporal, gets another one once its check is overdue, and is proven by it', async () => {
  const { tenantId, key, open, list, host } = await site();
  const [late, waits, expired] = [newHost(), newHost(), newHost()];
  const { token } = (await open(host)).body.challenge;
  for (const other of [late, waits, expired]) await open(other);
  const handleOf = (of: string) => world.client.workflow.getHandle(`host:${tenantId}:${of}`);
  for (const lost of [host, waits, expired]) await handleOf(lost).terminate('lost');
  const { database } = world.api.deps;
  const set = (column: string, of: string) =>
    database.query(`update host_challenge set ${column} where tenant_id = $1 and host = $2`, [tenantId, of]);
  for (const overdue of [host, late, expired]) await set("next_check_at = now() - interval '11 minutes'", overdue);
  await set("token_issued_at = now() - interval '31 days'", expired);
  await serveToken(host, token);
  const sweep = async () => {
    const workflowId = `sweepHosts-${randomBytes(4).toString('hex')}`;
    const { taskQueue, client } = world;
    return { workflowId, result: await client.workflow.execute('sweepHosts', { taskQueue, workflowId, args: [] }) };
  };
  const first = await sweep();
  expect(first.result).toEqual({ hosts: 1 }); // `late` has its workflow, `waits` is not due, the token of `expired` proves nothing any more
  const isProven = async () => {
    const { challenges } = (await list(key)).body as { challenges: { host: string; verifiedAt: string | null }[] };
    return challenges.find((challenge) => challenge.host === host)?.verifiedAt;
  };
  expect(await eventually(async () => (await isProven()) ?? undefined)).toMatch(/^20/);
  expect((await handleOf(host).describe()).status.name).toBe('RUNNING');
  await saveHistory(world.client, first.workflowId, 'sweepHosts');
  expect((await sweep()).result).toEqual({ hosts: 0 });
});

test('an international name is one host with its A-label', async () => {
  const { open } = await site();
  const first = await open('bücher.sandbox.example');
  expect(first.body.challenge.host).toBe('xn--bcher-kva.sandbox.example');
  expect((await open('xn--bcher-kva.SANDBOX.example')).body.challenge.token).toBe(first.body.challenge.token);
});

test('without a key 401 comes before anything about the body, and an unknown method is 400', async () => {
  expect((await world.api.post('/_svc/verify-host', null, '{')).status).toBe(401);
  expect((await world.api.post('/_svc/verify-host/check', null, '{')).status).toBe(401);
  expect((await world.api.request('/_svc/verify-host')).status).toBe(401);
  const { key } = await sharedSite();
  expect((await world.api.post('/_svc/verify-host', key, { host: newHost(), method: 'cname' })).status).toBe(400);
});

let shared: ReturnType<typeof site> | undefined;
function sharedSite(): ReturnType<typeof site> {
  shared ??= site();
  return shared;
}
