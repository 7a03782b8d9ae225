/** docs/going-live.md, pasted step by step: an empty Postgres, a new namespace and an unused chain, and at the end a sale. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { limits } from '../../sandbox/limits.ts';
import type { Chain } from '../../sandbox/parts/chain.ts';
import { callChain, startChain } from '../../sandbox/parts/chain.ts';
import { fundGas, mintUsdc, placeContracts, USDC_ADDRESS } from '../../sandbox/parts/chain-setup.ts';
import { choosePort } from '../../sandbox/parts/ports.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import type { NameServer } from '../support/name-server.ts';
import { startNameServer } from '../support/name-server.ts';
import type { Shell } from '../support/pasted.ts';
import { filledIn, openShell, shellBlocks } from '../support/pasted.ts';
import { scaled } from '../support/patience.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCUMENT = join(ROOT, 'docs/going-live.md');
const AUTHOR: Address = `0x${'5e'.repeat(20)}`;
const LIMIT_MS = 300_000;

const folder = mkdtempSync(join(tmpdir(), 'going-live-'));
let chain: Chain;
let postgres: Postgres;
let names: NameServer;
let shell: Shell;

beforeAll(async () => {
  [chain, postgres, names] = await Promise.all([
    startChain({ folder: join(folder, 'chain') }),
    startPostgres({ folder: join(inject('parts').folder, `empty-${randomUUID()}`) }),
    startNameServer(),
  ]);
  await placeContracts(chain.rpcUrl);
  const superuser = new pg.Client({ connectionString: superUrl() });
  await superuser.connect();
  for (const part of ['database svc', 'role svc_app', 'role svc_owner']) await superuser.query(`drop ${part}`);
  await superuser.end();
});
afterAll(async () => {
  await shell?.end();
  names?.stop();
  await Promise.all([chain?.stop(), postgres?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const superUrl = (): string => postgres.urlsOf('postgres').superUrl;

async function usdcOf(address: Address): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
  return BigInt(await callChain<string>(chain.rpcUrl, 'eth_call', [{ to: USDC_ADDRESS, data }, 'latest']));
}

/** The last JSON value in what a command printed. */
function jsonIn<T>(text: string): T {
  return JSON.parse(text.slice(text.search(/^[{[]/m))) as T;
}

test('a stranger who pastes every step, in order, ends with a sale that the author has on the chain', {
  timeout: scaled(600_000),
}, async () => {
  const buyerKey = newPrivateKey();
  const buyer = localSigner(buyerKey).address;
  await mintUsdc(chain.rpcUrl, buyer, 1_000_000n);
  const ports = await Promise.all([1, 2, 3, 4].map(() => choosePort(0)));
  const values = new Map([
    ['NETWORK', 'eip155:84532'],
    ['RPC_URLS', `"${chain.rpcUrl}"`],
    ['AUTHOR_WALLET', AUTHOR],
    ['SECRETS', join(folder, 'secrets')],
    ['POSTGRES_URL', superUrl()],
    ['TEMPORAL_ADDRESS', inject('parts').temporal.address],
    ['TEMPORAL_NAMESPACE', `going-live-${randomUUID()}`],
    ...(['API_PORT', 'API_METRICS', 'WORKER_METRICS', 'PUBLISHER_PORT'] as const).map(
      (name, at) => [name, String(ports[at])] as [string, string],
    ),
    ['BUYER_PRIVATE_KEY', buyerKey],
  ]);
  // What a test cannot have: public name servers, and minutes.
  const environment = { HOST_RESOLVERS: names.place, ...limits({ reconcileIntervalMs: 2_000 }), npm_config_loglevel: 'error' };
  shell = openShell({ folder: ROOT, scratch: folder, environment });
  // Logs and credits.json stay out of the checkout.
  await shell.paste(`log=${folder}`, LIMIT_MS);
  const said = new Map<string, string>();
  for (const block of shellBlocks(DOCUMENT)) {
    const text = filledIn(block, values).replace(/(?<=[ >])(\w+\.(?:log|json))(?= |$)/gm, `"$log/$1"`);
    const printed = await shell.paste(text, LIMIT_MS);
    said.set(block, printed);
    if (block.trimEnd().endsWith('router deploy "$NETWORK"')) {
      const { planned } = jsonIn<{ planned: { from: Address; mostWei: string } }>(
        printed.slice(printed.indexOf('"planned"') - 4),
      );
      await fundGas(chain.rpcUrl, planned.from, BigInt(planned.mostWei) * 2n);
    }
    if (block.includes('"dns-txt')) {
      const { challenge } = jsonIn<{ challenge: { present: { value: string } } }>(printed);
      names.answer = { text: challenge.present.value };
    }
  }
  expect([...values.keys()]).toEqual([]);
  const steps = [...said.values()].join('\n');
  expect(steps).toContain('"ok": true');
  expect(steps).toContain('"verified":true');
  expect(steps).toContain('HTTP/1.1 402');
  expect(steps).toMatch(/status: 200/);
  expect(steps).toMatch(/"outstanding":\{"legs":0,"micro":0\}/);
  expect([await usdcOf(AUTHOR), await usdcOf(buyer)]).toEqual([10_000n, 990_000n]);
  const log = readFileSync(join(folder, 'api.log'), 'utf8') + readFileSync(join(folder, 'worker.log'), 'utf8');
  expect(log).not.toMatch(/"level":(50|60)/);
});

test('the steps with containers name services, files and commands that there are', () => {
  const { services } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    readonly services: Readonly<Record<string, unknown>>;
  };
  const text = readFileSync(DOCUMENT, 'utf8');
  const run = [...text.matchAll(/docker compose run --rm (?!-)([\w-]+)/g)].map(([, name = '']) => name);
  expect(run).toEqual(['admin', 'migrations', 'namespace']);
  expect(run.filter((name) => services[name] === undefined)).toEqual([]);
  const files = [...text.matchAll(/node ((?:bin|deploy|examples)\/[\w./-]+)/g)].map(([, path = '']) => path);
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
