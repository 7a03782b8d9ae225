import type { Server } from 'node:http';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { ROUTE_PATHS } from '../../api/app.ts';
import { createRouteNames } from '../../api/routeName.ts';
import type { MetricLabels } from '../../modules/kernel/metrics.ts';
import { noteRefusal } from '../../modules/settlement/use/answer/note.ts';
import { createLog } from '../../platform/telemetry/log.ts';
import type { Handler, RequestWatch } from '../../process/requests.ts';
import { watchRequests } from '../../process/requests.ts';

const routeOf = createRouteNames(ROUTE_PATHS);
const SECRETS = ['svc_live_topsecret', 'quote-token', 'eyJhbGciOi', 'hunter2', 'jti-of-somebody', 'made-up'];

let server: Server | undefined;
afterEach(() => server?.close());

/** A server with the watched handler; what it recorded and logged. */
async function start(handler: Handler, accessLog: RequestWatch['accessLog']) {
  const calls: MetricLabels[] = [];
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const log = createLog({ level: 'info', name: 'api', stream });
  const metrics = {
    count: () => undefined,
    record: (name: string, _value: number, labels: MetricLabels = {}) =>
      void (name === 'svc.http.duration' && calls.push(labels)),
  };
  server = createServer(watchRequests(handler, { metrics, tracing: null, log, routeOf, accessLog }));
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines = () => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
  return { url, calls, lines, text: () => text };
}

/** Answers with the status its path ends with, refused with a code where that is an error. */
const answering: Handler = (request, response) => {
  const status = Number(/(\d+)$/.exec(request.url ?? '')?.[1] ?? 200);
  if (status >= 500) noteRefusal('id-1', 'database_unavailable');
  response.writeHead(status).end('hunter2');
};

async function askAll(url: string): Promise<void> {
  const headers = { authorization: 'Bearer svc_live_topsecret', 'x-payment': 'eyJhbGciOi', cookie: 'hunter2' };
  const ask = (path: string, method = 'GET') => fetch(`${url}${path}`, { method, headers }).then((answer) => answer.text());
  await ask('/_svc/quote?resource=https://x.example/made-up&quoteToken=quote-token');
  await ask('/_svc/licenses/jti-of-somebody/access?n=401', 'POST');
  await ask('/made-up/eyJhbGciOi?n=404');
  await ask('/_svc/verify?token=hunter2&n=503', 'POST');
  await ask('/_svc/quote?n=405', 'PATCH');
}

test('calls are told apart by route, method, status and code; nothing that a caller wrote is a label', async () => {
  const { url, calls, text } = await start(answering, 'off');
  await askAll(url);
  await expect.poll(() => calls).toHaveLength(5);
  expect(calls).toEqual([
    { route: '/_svc/quote', method: 'GET', status: '200', code: '' },
    { route: '/_svc/licenses/:jti/access', method: 'POST', status: '401', code: '' },
    { route: 'none', method: 'GET', status: '404', code: '' },
    { route: '/_svc/verify', method: 'POST', status: '503', code: 'database_unavailable' },
    { route: '/_svc/quote', method: 'other', status: '405', code: '' },
  ]);
  expect(text()).toBe('');
});

test('ACCESS_LOG=failed writes one line for what was answered with 5xx, all one for each call; neither holds a secret', async () => {
  const failed = await start(answering, 'failed');
  await askAll(failed.url);
  await expect.poll(() => failed.calls).toHaveLength(5);
  expect(failed.lines()).toEqual([
    expect.objectContaining({
      level: 'info',
      route: '/_svc/verify',
      status: '503',
      code: 'database_unavailable',
      requestId: 'id-1',
    }),
  ]);
  server?.close();
  const all = await start(answering, 'all');
  await askAll(all.url);
  await expect.poll(all.lines).toHaveLength(5);
  for (const secret of SECRETS) expect(failed.text() + all.text(), secret).not.toContain(secret);
});

test('a call whose caller left is counted as cut', async () => {
  const { url, calls } = await start(() => undefined, 'off');
  const request = httpRequest(`${url}/_svc/verify`, { method: 'POST' });
  request.on('error', () => undefined);
  request.flushHeaders();
  server?.once('request', () => request.destroy());
  await expect.poll(() => calls).toEqual([{ route: '/_svc/verify', method: 'POST', status: 'cut', code: '' }]);
});

test('every route has its own name, and whatever else is asked for has one together', () => {
  for (const path of ROUTE_PATHS) expect(routeOf(path.replace(/:\w+/, 'x'))).toBe(path);
  for (const path of ['', '/', '/_svc/licenses/a/b/access', '/_svc/quote/', '/__proto__', '/_svc/earnings/exportXcsv']) {
    expect(routeOf(path), path).toBe('none');
  }
});
