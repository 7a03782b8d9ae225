import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as forward } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { listenOnFreePort, releasePort } from './parts/ports.ts';

/** The sandbox's internet: the web and the DNS of `sandbox.example`, `alpha.example`, `beta.example` and all below them. */
export interface SandboxWeb {
  /** What OUTBOUND_SANDBOX_WEB is set to; requests say by `Host` which site they mean. */
  readonly url: string;
  /**
   * `POST …/pages` sets a page, `POST …/dns` the records of a name, `POST …/sites` names the server of this machine that answers for a host in
   * place of pages, null for none; a second call replaces what was there.
   */
  readonly controlUrl: string;
  /** Names the server of this machine that answers for a host's pages that nobody has set; a second call replaces the first. */
  standBehind(host: string, port: number): void;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 2_097_152;
const MAX_DELAY_MS = 120_000;

const page = z.object({
  host: z.string().toLowerCase(),
  path: z.string().startsWith('/').default('/'),
  status: z.int().min(200).max(599).default(200),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(''),
  delayMs: z.int().min(0).max(MAX_DELAY_MS).default(0),
});
const records = z.object({
  name: z.string().toLowerCase(),
  txt: z.array(z.string()).default([]),
  cname: z.string().toLowerCase().nullable().default(null),
});
const site = z.object({
  host: z.string().toLowerCase(),
  /** Of this machine alone. */
  port: z.int().min(1).max(65_535).nullable(),
});

/** Starts the web on 127.0.0.1; `preferred` is tried first, then the next free port; 0: any. */
export async function startSandboxWeb(preferred: number): Promise<SandboxWeb> {
  const pages = new Map<string, z.infer<typeof page>>();
  const names = new Map<string, z.infer<typeof records>>();
  const sites = new Map<string, number>();
  const behind = new Map<string, number>();
  const control = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    if (request.method === 'GET' && url.pathname === '/control/dns') {
      const { txt = [], cname = null } = names.get((url.searchParams.get('name') ?? '').toLowerCase()) ?? {};
      answerJson(response, 200, { txt, cname });
      return;
    }
    if (request.method !== 'POST' || !['/control/pages', '/control/dns', '/control/sites'].includes(url.pathname)) {
      answerJson(response, 404, { error: 'POST /control/pages, /control/dns or /control/sites' });
      return;
    }
    const body = await readBody(request);
    if (url.pathname === '/control/pages') {
      const given = page.parse(body);
      pages.set(`${given.host}${given.path}`, given);
    } else if (url.pathname === '/control/sites') {
      const { host, port } = site.parse(body);
      if (port === null) sites.delete(host);
      else sites.set(host, port);
    } else {
      const given = records.parse(body);
      names.set(given.name, given);
    }
    answerJson(response, 200, { ok: true });
  };
  const server = createServer((request, response) => {
    const host = (request.headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
    const url = new URL(request.url ?? '/', 'http://sandbox');
    const isControl = host === '127.0.0.1' || host === 'localhost';
    const set = pages.get(`${host}${url.pathname}`);
    const ownPort = sites.get(host) ?? (set === undefined ? behind.get(host) : undefined);
    if (!isControl && ownPort !== undefined) return pass(request, response, ownPort);
    const work = isControl ? control(request, response, url) : serve(response, set);
    work.catch((error: unknown) => {
      if (!response.headersSent) answerJson(response, 400, { error: error instanceof Error ? error.message : String(error) });
    });
  });
  const port = await listenOnFreePort(server, preferred);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    controlUrl: `${url}/control`,
    standBehind: (host, ownPort) => void behind.set(host, ownPort),
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          releasePort(port);
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** As it came, its host included. */
function pass(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { url: path, method, headers } = request;
  const sent = forward({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(response);
  });
  sent.on('error', () => response.destroy());
  request.pipe(sent);
}

async function serve(response: ServerResponse, found: z.infer<typeof page> | undefined): Promise<void> {
  if (found === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('there is no such page\n');
    return;
  }
  if (found.delayMs > 0) await sleep(found.delayMs, undefined, { ref: false });
  response.writeHead(found.status, { 'content-type': 'text/html; charset=utf-8', ...lowerCased(found.headers) }).end(found.body);
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
