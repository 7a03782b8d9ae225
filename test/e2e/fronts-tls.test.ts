/** deploy/nginx.conf and deploy/Caddyfile in the real programs, with TLS, in front of the real API. Skipped where one is not installed. */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, request as requestHttp } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { layered, limits } from '../../sandbox/limits.ts';
import { choosePort, releasePort } from '../../sandbox/parts/ports.ts';
import type { QuoteBody } from '../support/buying.ts';
import { payFor } from '../support/buying.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/certificate.ts';
import type { TestService } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';

const NAME = 'receiver.example'; // of the certificate
const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
/** The committed text with other names; each must stand in it. */
const changed = (text: string, changes: readonly (readonly [string, string])[]): string =>
  changes.reduce((now, [from, to]) => {
    expect(now).toContain(from);
    return now.replaceAll(from, to);
  }, text);

interface Front {
  readonly config: (folder: string, ports: { readonly tls: number; readonly plain: number }, app: string) => string;
  readonly args: (folder: string) => readonly string[];
}
const FRONTS: Readonly<Record<string, Front>> = {
  nginx: {
    config: (folder, { tls, plain }, app) => {
      const ours = changed(read('deploy/nginx.conf'), [
        ['127.0.0.1:8402', app],
        ['listen 80;', `listen 127.0.0.1:${plain};`],
        ['listen 443 ssl;', `listen 127.0.0.1:${tls} ssl;`],
        ['server_name api.example.com;', `server_name ${NAME};`],
        ['/etc/letsencrypt/live/api.example.com/fullchain.pem', `${folder}/certificate.pem`],
        ['/etc/letsencrypt/live/api.example.com/privkey.pem', `${folder}/key.pem`],
      ]);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`);
      return `pid ${folder}/pid; daemon off; events {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${ours}\n}`;
    },
    args: (folder) => ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'config')],
  },
  caddy: {
    config: (folder, { tls }, app) => {
      const block = `https://${NAME}:${tls} {\n\tbind 127.0.0.1\n\ttls ${folder}/certificate.pem ${folder}/key.pem`;
      const ours = changed(read('deploy/Caddyfile'), [
        ['\napi.example.com {', `\n${block}`],
        ['127.0.0.1:8402', app],
      ]);
      return `{\n\tadmin off\n\tauto_https off\n}\n${ours}`;
    },
    args: (folder) => ['run', '--config', join(folder, 'config'), '--adapter', 'caddyfile'],
  },
};

let service: TestService;
const closers: (() => Promise<void> | void)[] = [];
beforeAll(async () => {
  service = await startTestService({
    environment: layered(CALM, limits({ ratePerAddress: 10, rateBurstSeconds: 1 }), { TRUSTED_PROXIES: '127.0.0.1/32' }),
  });
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => service?.stop());

interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The address it comes from. */
  readonly from?: string;
}

async function startFront(command: string, { config, args }: Front, app: string) {
  const ports = { tls: await choosePort(0), plain: await choosePort(0) };
  const folder = mkdtempSync(join(tmpdir(), 'front-tls-'));
  for (const part of ['client_body', 'data']) mkdirSync(join(folder, part));
  writeFileSync(join(folder, 'certificate.pem'), TEST_CERTIFICATE);
  writeFileSync(join(folder, 'key.pem'), TEST_KEY);
  writeFileSync(join(folder, 'config'), config(folder, ports, app));
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: join(folder, 'data'), XDG_CONFIG_HOME: join(folder, 'data') };
  const child: ChildProcess = spawn(command, [...args(folder)], { stdio: ['ignore', 'ignore', 'pipe'], env });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  closers.push(async () => {
    child.kill('SIGTERM');
    await ended;
    for (const port of Object.values(ports)) releasePort(port);
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = (path: string, { method = 'GET', headers = {}, body, from = '127.0.0.1' }: Call = {}): Promise<Heard> =>
    new Promise((resolve, reject) => {
      const where = { host: '127.0.0.1', port: ports.tls, servername: NAME, ca: TEST_CERTIFICATE, localAddress: from };
      const call = request({ ...where, path, method, headers: { host: NAME, ...headers }, agent: false, maxHeaderSize: 1 << 16 });
      call.once('response', (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      });
      call.once('error', reject);
      call.end(body);
    });
  const isUp = () =>
    ask('/', { from: '127.0.0.200' }).then(
      () => true,
      (error: Error) => `${error.message} ${said}`,
    );
  await expect.poll(isUp, { timeout: 10_000 }).toBe(true);
  return { ask, plainPort: ports.plain };
}

const appOf = (url: string): string => new URL(url).host;

describe.each(Object.entries(FRONTS))('deploy/ of %s', (command, front) => {
  const isThere = spawnSync(command, [command === 'caddy' ? 'version' : '-v']).status === 0;

  test.skipIf(!isThere)('a page is quoted and sold through TLS', async () => {
    const { ask } = await startFront(command, front, appOf(service.baseUrl));
    const { key } = await service.site();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const quote = JSON.parse((await ask('/_svc/quote?slug=solo&kind=read', { headers })).body) as QuoteBody;
    const payment = await payFor(await service.payer(1_000_000n), quote);
    const body = JSON.stringify({ payment, quote, legs: quote.legs, resource: quote.resource });
    const sale = await ask('/_svc/verify', { method: 'POST', headers, body });
    expect([sale.status, JSON.parse(sale.body)]).toEqual([200, expect.objectContaining({ ok: true })]);
  });

  test.skipIf(!isThere)('an address is limited by what it is, whatever it writes, and another one is served', async () => {
    const { ask } = await startFront(command, front, appOf(service.baseUrl));
    const [one, other] = command === 'nginx' ? ['127.0.0.3', '127.0.0.4'] : ['127.0.0.5', '127.0.0.6'];
    const forged = (at: number) => ({
      from: one,
      headers: { 'x-forwarded-for': `198.51.100.${at}`, forwarded: 'for=192.0.2.1' },
    });
    const asked = await Promise.all(Array.from({ length: 40 }, (_, at) => ask('/_svc/openapi.json', forged(at))));
    const statuses = asked.map(({ status }) => status);
    expect([statuses.includes(200), statuses.filter((status) => status === 429).length]).toEqual([
      true,
      expect.toSatisfy((n: number) => n >= 10),
    ]);
    expect((await ask('/_svc/openapi.json', { from: other })).status).toBe(200);
  });

  test.skipIf(!isThere)('the longest headers pass both ways, and none that we read is changed', async () => {
    const asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
    const app = createServer({ maxHeaderSize: 32_768 }, ({ url = '', headers }, response) => {
      asked.push({ path: url, headers });
      response.setHeader('payment-response', 'r'.repeat(16_384)).end();
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      app.closeAllConnections();
      app.close();
    });
    const { ask, plainPort } = await startFront(command, front, `127.0.0.1:${(app.address() as AddressInfo).port}`);
    const headers = {
      authorization: 'Bearer key',
      cookie: '__Host-session=1',
      origin: 'https://receiver.example',
      'sec-fetch-site': 'same-origin',
      'payment-signature': 'p'.repeat(16_384),
      'x-payment': 'p'.repeat(8_192),
      'idempotency-key': 'once',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    const { status, headers: answered } = await ask('/_svc/licenses/buy?a=%2F&b', { headers, from: '127.0.0.9' });
    expect([status, answered['payment-response']?.length]).toEqual([200, 16_384]);
    expect(asked.at(-1)).toMatchObject({
      path: '/_svc/licenses/buy?a=%2F&b',
      headers: { ...headers, host: NAME, 'x-forwarded-for': '127.0.0.9' },
    });
    for (const path of ['/readyz', '/metrics']) expect([path, (await ask(path)).status]).toEqual([path, 404]);
    expect(asked.map(({ path }) => path)).not.toContain('/readyz');
    if (command !== 'nginx') return; // Caddy's own redirect needs port 80
    const [code, location] = await new Promise<(string | number | undefined)[]>((resolve, reject) => {
      const call = requestHttp({ host: '127.0.0.1', port: plainPort, path: '/_svc/quote?slug=a', headers: { host: NAME } });
      call.once('response', (response) => resolve([response.resume().statusCode, response.headers.location]));
      call.once('error', reject);
      call.end();
    });
    expect([code, location]).toEqual([308, `https://${NAME}/_svc/quote?slug=a`]);
  });
});
