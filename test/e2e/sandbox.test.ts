import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, expect, inject, test } from 'vitest';
import { choosePort, releasePort } from '../../sandbox/parts/ports.ts';
import { blocksOf, filledIn, openShell, shellBlocks } from '../support/pasted.ts';
import { expectTenAnswers } from '../support/sandbox-questions.ts';
import type { SandboxRun } from '../support/sandboxRun.ts';
import { ANY_PORT, hasBegun, startSandbox } from '../support/sandboxRun.ts';

const LIMIT_MS = 600_000;
/** A block of a page installs packages, or buys. */
const BLOCK_MS = 180_000;
const folder = join(inject('parts').folder, 'sandbox');
const contractFile = join(folder, 'sandbox.json');
const started: SandboxRun[] = [];

/** A run that a failed expectation left behind would hold the folder; killed, its parts end by the watchdog. */
afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  }
});

/** A run that is ended with this test. */
function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}, at = folder): SandboxRun {
  const run = startSandbox(at, args, environment);
  started.push(run);
  return run;
}

test(
  '--exit plays the purchase and ends with 0, kept data serves the next run, and Ctrl-C twice ends it in time, without orphans',
  async () => {
    const first = start(['--exit', '--fresh']);
    expect([await first.ended, first.output()]).toEqual([0, expect.stringContaining('settlement.completed')]);
    expect(first.output()).toMatch(/transaction +0x\w{8}…\w{6} on eip155:84532/);
    expect(first.output()).toMatch(/payer .*-0\.001 USDC\n(.*author .*\+0\.000\d USDC\n){3}/);
    expect(first.output()).toMatch(/workflow +settle:eip155:84532:/);
    expect(first.printed()).toMatch(/^Console +http:\/\/127\.0\.0\.1:\d+\/_svc\/console\/demo\n/);
    expect(
      first
        .printed()
        .split('\n')
        .filter((line) => line.length > 80 && !line.endsWith('sandbox.json')),
    ).toEqual([]);
    expect(first.printed()).not.toContain('\u001b');
    expectPurchaseOfReadme(first.printed());
    expect(existsSync(contractFile)).toBe(false);

    const second = start([]);
    await hasBegun(second, folder);
    expect(second.output()).not.toContain('starting fresh');
    expect(statSync(contractFile).mode & 0o777).toBe(0o600);
    const contract = JSON.parse(readFileSync(contractFile, 'utf8'));
    expectShape(contract);
    await expectSeeded(contract);
    await expectHistory(contract);
    await expectTwoSales(contract);
    await expectTenAnswers(contract, 2);
    await expectGuideSells();
    await expectAgentGuidesHold();

    const group = -(second.child.pid as number);
    process.kill(group, 'SIGINT');
    await sleep(100);
    process.kill(group, 'SIGINT');
    // A stop that takes over 14 s would end with 1.
    expect(await second.ended).toBe(0);
    expect(existsSync(contractFile)).toBe(false);
    for (const url of [contract.baseUrl, contract.chain.rpcUrl, contract.temporal.uiUrl, contract.webhookSink.url]) {
      await expect(fetch(url)).rejects.toThrow();
    }
  },
  LIMIT_MS,
);

test(
  'a chain that lost its state begins anew together with database and workflows, and says so',
  async () => {
    rmSync(join(folder, 'chain', 'state.json'));
    const run = start(['--exit', '--no-history']);
    expect([await run.ended, run.output()]).toEqual([0, expect.stringMatching(/starting fresh.*the chain/)]);
  },
  LIMIT_MS,
);

test(
  'a part that cannot be had ends the run with a status that is not 0 and the reason',
  async () => {
    const run = start(['--exit'], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain('TEMPORAL_ADDRESS 127.0.0.1:1');
  },
  LIMIT_MS,
);

test(
  'two sandboxes that want the same ports at once both play their purchase',
  async () => {
    const names = Object.keys(ANY_PORT);
    const wanted = await Promise.all(names.map(() => choosePort()));
    for (const port of wanted) releasePort(port);
    const ports = Object.fromEntries(names.map((name, index) => [name, String(wanted[index])]));
    const runs = ['one', 'two'].map((name) => start(['--exit', '--no-history'], ports, `${folder}-${name}`));
    for (const run of runs) expect([await run.ended, run.output()]).toEqual([0, expect.stringContaining('settlement.completed')]);
  },
  LIMIT_MS,
);

test('an unknown argument ends the run at once', async () => {
  const run = start(['--exti']);
  expect(await run.ended).toBe(2);
  expect(run.output()).toContain('--exti');
});

/** Each line of the purchase in README is one that this program prints, but for addresses and hashes. */
function expectPurchaseOfReadme(printed: string): void {
  const shapes = (text: string) => text.split('\n').map((line) => line.trim().replace(/0x\w{8}…\w{6}/g, '0x…'));
  const recorded = blocksOf(fileURLToPath(new URL('../../README.md', import.meta.url))).filter(
    ({ language }) => language === 'text',
  );
  const wanted = recorded.flatMap(({ text }) => shapes(text.trim()));
  const lines = shapes(printed);
  expect(wanted.length).toBeGreaterThan(10);
  expect(wanted.filter((line) => !lines.includes(line))).toEqual([]);
}

/** The demo site has earned for 28 days, and nothing was sold there by these two runs. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is what expectShape has checked
async function expectHistory({ baseUrl, demo }: any): Promise<void> {
  const headers = { authorization: `Bearer ${demo.keys.all}` };
  const { body } = await getJson(`${baseUrl}/_svc/earnings?from=0&groupBy=author`, { headers });
  expect(body.totals.grossMicroUsdc).toBeGreaterThan(10_000_000);
  expect(body.breakdown).toHaveLength(8);
}

/** What `sandbox.json` promises its readers. */
function expectShape(contract: Record<string, unknown>): void {
  const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+/);
  const key = expect.stringMatching(/^svc_live_[0-9A-Za-z]{49}$/);
  const address = expect.stringMatching(/^0x[0-9a-fA-F]{40}$/);
  const site = (name: string, plan = 'studio', more: object = {}) => ({
    tenantId: expect.any(String),
    host: `${name}.example`,
    plan,
    ownerToken: expect.stringMatching(/^svc_owner_/),
    keys: { all: key },
    ...more,
  });
  const scopes = ['all', 'tenant.read', 'earnings.read.all', 'audit.read', 'member.read', 'domain.manage'];
  const buyer = {
    privateKey: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    address,
    accountToken: expect.stringMatching(/^svc_buyer_/),
  };
  expect(contract).toEqual({
    baseUrl: url,
    consoleUrl: url,
    graphqlUrl: url,
    temporal: { address: expect.stringMatching(/^127\.0\.0\.1:\d+$/), uiUrl: url, namespace: 'default' },
    databaseUrl: expect.stringMatching(/^postgres:/),
    chain: { rpcUrl: url, chainId: 84_532, network: 'eip155:84532', usdc: address, router: address, relayer: address },
    publishers: {
      alpha: site('alpha', 'studio', {
        keys: { ...Object.fromEntries(scopes.map((scope) => [scope, key])), test: expect.stringMatching(/^svc_test_/) },
      }),
      beta: site('beta'),
      gamma: site('gamma', 'free'),
      delta: site('delta', 'studio', { status: 'suspended' }),
    },
    demo: site('meridian', 'studio', { keys: { all: key, test: expect.stringMatching(/^svc_test_/) } }),
    examplePublisher: { url, host: 'alpha.example', key: '/publishers/alpha/keys/tenant.read' },
    buyer,
    otherBuyer: buyer,
    webhookSink: { url, secret: expect.stringMatching(/^whsec_/), deliveriesUrl: url },
    site: { controlUrl: url, trialUrl: url },
  });
}

// biome-ignore lint/suspicious/noExplicitAny: JSON whose shape the expectations tell
async function getJson(url: string, init: RequestInit = {}): Promise<{ status: number; body: any }> {
  const answer = await fetch(url, init);
  return { status: answer.status, body: answer.status === 204 ? null : await answer.json() };
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is what expectShape has checked
async function expectSeeded({ baseUrl, publishers, chain, buyer, otherBuyer, webhookSink }: any): Promise<void> {
  const quote = (site: string, slug: string, kind = 'read') => {
    const headers = { authorization: `Bearer ${publishers[site].keys.all}` };
    return getJson(`${baseUrl}/_svc/quote?slug=${slug}&kind=${kind}`, { headers });
  };
  const amounts = async (slug: string) =>
    (await quote('alpha', slug)).body.legs.map(({ amountMicro }: { amountMicro: number }) => amountMicro);
  expect(await amounts('solo')).toEqual([1_000]);
  expect(await amounts('trio')).toEqual([500, 300, 200]);
  expect(await amounts('duo')).toEqual([500, 250, 250]);
  expect((await quote('alpha', 'solo', 'citation')).body.price).toBe(5_000);
  const asTest = { headers: { authorization: `Bearer ${publishers.alpha.keys.test}` } };
  expect((await getJson(`${baseUrl}/_svc/quote?slug=solo`, asTest)).status).toBe(200);
  for (const slug of ['free', 'unknown']) expect((await quote('alpha', slug)).status).toBe(204);
  expect((await quote('beta', 'solo')).status).toBe(200);
  expect(await quote('gamma', 'solo')).toMatchObject({ status: 403, body: { upgrade: true } });
  expect((await quote('delta', 'solo')).status).toBe(403);
  for (const { address } of [buyer, otherBuyer]) {
    const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`;
    const call = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to: chain.usdc, data }, 'latest'] };
    const headers = { 'content-type': 'application/json' };
    const { body } = await getJson(chain.rpcUrl, { method: 'POST', headers, body: JSON.stringify(call) });
    expect(BigInt(body.result)).toBeGreaterThanOrEqual(100_000_000n);
  }
  const [delivery] = (await getJson(webhookSink.deliveriesUrl)).body;
  expect(Object.keys(delivery)).toEqual(['receivedAt', 'headers', 'body']);
  expect(JSON.parse(delivery.body)).toMatchObject({ type: 'settlement.completed', data: { gross: { microUsdc: 1_000 } } });
}

/** Who pastes docs/integrating-publisher.md, then docs/wire.md, beside the sandbox sells a page of three authors and asks for its offer. */
async function expectGuideSells(): Promise<void> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const values = new Map([
    ['SANDBOX', contractFile],
    ['PORT', String(await choosePort(18_080))], // below the ports that connections go out from: the guide takes the next one, too
  ]);
  const shell = openShell({ folder: root, scratch: inject('parts').folder, environment: {} });
  let said = '';
  for (const page of ['docs/integrating-publisher.md', 'docs/wire.md']) {
    for (const block of shellBlocks(join(root, page))) said += await shell.paste(filledIn(block, values), BLOCK_MS);
  }
  await shell.end();
  expect(said).toMatch(/person: +200\ncrawler: +402\n/);
  expect(said).toMatch(/status: 200,\s+page: '<h1>trio<\/h1>'/);
  expect(said).toMatch(/"x402":\{"header":"/);
}

/** Pages for developers of agents and owners of accounts, pasted block by block, in their order. */
async function expectAgentGuidesHold(): Promise<void> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const values = new Map([['SANDBOX', contractFile]]);
  const shell = openShell({ folder: root, scratch: inject('parts').folder, environment: { NODE_OPTIONS: '' } });
  const paste = async (page: string): Promise<string> => {
    let said = '';
    for (const block of shellBlocks(join(root, 'docs', page)))
      said += await shell.paste(filledIn(block, new Map(values)), BLOCK_MS);
    return said;
  };
  const agents = await paste('agents.md');
  expect(agents).toContain('find_pages quote_page quote_pages buy_page');
  expect(agents).toMatch(/bought for 1000, relayed: false\n.*<title>By one author/);
  const budgets = await paste('budgets.md');
  expect(budgets).toMatch(/"version":1,.*"approveAboveMicro":500/);
  expect(budgets).toMatch(
    /"token":"svc_buyer_.*status: 402.*approval_required.*"state":"approved".*status: 200.*"spentMicro":1000/s,
  );
  const file = await shell.paste('cat spending.csv; rm spending.csv', BLOCK_MS);
  await shell.end();
  expect(budgets).toMatch(/"settledMicro":1000.*"key":"alpha\.example".*"secret":"whsec_/s);
  expect(file).toMatch(
    /^at_iso,at_ms,.*,alpha\.example,https:\/\/alpha\.example\/articles\/trio,read,page,1000,0\.001000,settled,/s,
  );
}

/** The first run's purchase is still there beside the second's. */
async function expectTwoSales({ databaseUrl }: { databaseUrl: string }): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query("select slug, micro from crossing where slug = 'trio'");
  await client.end();
  expect(rows).toEqual([
    { slug: 'trio', micro: '1000' },
    { slug: 'trio', micro: '1000' },
  ]);
}
