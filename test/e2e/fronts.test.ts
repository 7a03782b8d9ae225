/** A sale through the proxies that sites have in front, as Debian ships them and with nothing set. Skipped where one is not installed. */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { buyPage } from '../../examples/buyer/buyer.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { headerBytes, MOST_HEADER_BYTES } from '../../packages/publisher/src/cli/visitor.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { choosePort, releasePort } from '../../sandbox/parts/ports.ts';
import { UA } from '../support/publisher-site.ts';
import type { TestService } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';

const wallet = (number: number): string => `0x${(0xa000 + number).toString(16).padStart(40, '0')}`;
const pageBy = (authors: number) => ({
  contributors: Array.from({ length: authors }, (_, at) => ({ authorId: `author-${at}`, wallet: wallet(at), weight: at + 1 })),
});
const PAGES = { 'by-one': pageBy(1), 'by-three': pageBy(3), 'by-eight': pageBy(8), 'by-fifty': pageBy(50) };

interface Front {
  readonly command: string;
  readonly version: string;
  /** Its configuration in a folder, and the arguments it is started with. */
  readonly start: (folder: string, port: number, app: string) => { readonly config: string; readonly args: readonly string[] };
}
const FRONTS: Readonly<Record<string, Front>> = {
  nginx: {
    command: 'nginx',
    version: '-v',
    start: (folder, port, app) => ({
      config: `pid ${folder}/pid; error_log ${folder}/error.log; daemon off;
        events {}
        http {
          access_log off;
          client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
          uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
          server { listen 127.0.0.1:${port}; location / { proxy_pass ${app}; } }
        }`,
      args: ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'config')],
    }),
  },
  haproxy: {
    command: 'haproxy',
    version: '-v',
    start: (folder, port, app) => ({
      config: `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend site
  bind 127.0.0.1:${port}
  default_backend app
backend app
  server app ${new URL(app).host}
`,
      args: ['-db', '-f', join(folder, 'config')],
    }),
  },
};

let service: TestService;
let shop: Shop;
const closers: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  service = await startTestService({ environment: CALM });
  const pricing = { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline: PAGES };
  const site = await service.site({ hosts: ['news.a-publisher-of-many-titles.example'], pricing });
  shop = await openShop(service, site);
});
afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await shop?.close();
  await service?.stop();
});

async function startFront({ command, start }: Front): Promise<string> {
  const port = await choosePort(0);
  const folder = mkdtempSync(join(tmpdir(), 'front-'));
  mkdirSync(join(folder, 'body'));
  const { config, args } = start(folder, port, shop.url);
  writeFileSync(join(folder, 'config'), config);
  const child: ChildProcess = spawn(command, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  closers.push(async () => {
    child.kill('SIGTERM');
    await ended;
    releasePort(port);
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await expect
    .poll(
      () =>
        headOf(url)
          .then(({ status }) => status)
          .catch(() => 0),
      { timeout: 10_000 },
    )
    .toBe(404);
  return url;
}

/** What an agent is answered, as it came. */
function headOf(url: string): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { 'user-agent': UA.agent }, agent: false }, (answer) => {
      answer.resume();
      const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
      const status = answer.statusCode ?? 0;
      resolve({ status, bytes: headerBytes({ came: true, status, headers, body: '', isWhole: true }) });
    });
    asked.on('error', reject);
    asked.end();
  });
}

const CLIENTS = {
  'version 1': async (url: string, key: `0x${string}`) => {
    const answer = await wrapFetchV1(fetch, privateKeyToAccount(key))(url);
    return { status: answer.status, page: await answer.text() };
  },
  'version 2': async (url: string, key: `0x${string}`) => {
    const { status, page } = await buyPage(url, key, fetch);
    return { status, page };
  },
};

describe.each(Object.entries(FRONTS))('behind %s as it is installed', (_name, front) => {
  const isThere = spawnSync(front.command, [front.version]).status === 0;

  test.skipIf(!isThere).each(Object.keys(PAGES))('a page %s is offered, paid once and handed over', async (slug) => {
    const url = await startFront(front);
    const offer = await headOf(`${url}/articles/${slug}`);
    expect([offer.status, offer.bytes]).toEqual([402, expect.toSatisfy((bytes: number) => bytes <= MOST_HEADER_BYTES)]);
    for (const buy of Object.values(CLIENTS)) {
      const key = newPrivateKey();
      const address = privateKeyToAccount(key).address.toLowerCase() as Address;
      await mintUsdc(service.chain.rpcUrl, address, 10_000n);
      expect(await buy(`${url}/articles/${slug}`, key)).toEqual({ status: 200, page: `<p>${slug}</p>` });
      expect(await balancesOf(service, [address])).toEqual([9_000n]);
    }
  });
});
