/** Requests to the site that is looked at: as an agent, a person or a search engine, bounded in number, time and bytes. */
import type { IncomingMessage } from 'node:http';
import { request as requestHttp } from 'node:http';
import type { RequestOptions } from 'node:https';
import { request as requestHttps } from 'node:https';
import type { Budget } from './budget.ts';

/** A search engine whose addresses nobody publishes: asked where Googlebot pays, since this run comes from none of Google's. */
export const UNCHECKED_SEARCH = 'Mozilla/5.0 (compatible; MojeekBot/0.11; +https://www.mojeek.com/bot.html)';

/** Who a request says it is. */
export type Guise = 'agent' | 'person' | 'googlebot';

/** What came back. Header names are in lower case, repeated ones joined by a comma. */
export type Reply =
  | {
      readonly came: true;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      /** False when the body went on after the bytes that are read at most. */
      readonly isWhole: boolean;
    }
  | { readonly came: false; readonly why: 'timeout' | 'unreachable' | 'tls' | 'budget' };

/** A reply that came. */
export type Came = Extract<Reply, { came: true }>;

/**
 * Most bytes that the headers of an answer to an agent may have: nginx reads an answer's headers into one page of memory (4,096 bytes) unless told
 * otherwise, and answers 502 where they do not fit. What a proxy of the site's adds needs the rest.
 */
export const MOST_HEADER_BYTES = 4_000;

/** What to do about headers that are longer. */
export const SHORTER_HEADERS =
  "Send fewer headers of your own with these pages, and enlarge your proxy's buffer: see “Proxies and header sizes” in the docs.";

/** Bytes of an answer's headers as they came, with its status line. */
export function headerBytes({ headers }: Came): number {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.byteLength(`HTTP/1.1 402 Payment Required\r\n${lines.join('')}\r\n`, 'latin1');
}

/** How to ask. */
export interface Asking {
  readonly as: Guise;
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxBytes?: number;
  /** Asks port 80 of the same host. */
  readonly plainHttp?: boolean;
}

/** Asks the site. Never rejects, follows no redirect. */
export type Visit = (path: string, asking: Asking) => Promise<Reply>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 262_144;

const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Headers that each guise sends. An agent's name is chosen from what the site's owner decided about crawlers. */
function headersOf(guise: Guise, agentName: string): Readonly<Record<string, string>> {
  if (guise === 'person') {
    const fetchMetadata = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' };
    return { 'user-agent': CHROME, accept: HTML, 'accept-language': 'en', ...fetchMetadata };
  }
  const compatible = (name: string): string => `Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ${name})`;
  if (guise === 'googlebot') {
    return { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', accept: HTML };
  }
  return { 'user-agent': compatible(`${agentName}/1.0; content-settlement-doctor`), accept: '*/*' };
}

/**
 * Opens a visitor of `site`. With `connectTo`, requests go to that address, as a proxy in front of the site would send them: the Host
 * header, and the name that TLS asks for, stay the site's.
 */
export function openVisitor(options: {
  readonly site: URL;
  readonly connectTo?: URL | undefined;
  readonly agentName: () => Promise<string>;
  readonly budget: Budget;
}): Visit {
  const { site, connectTo, budget } = options;
  return async (path, asking) => {
    const address = addressOf(site, connectTo, asking);
    const agentName = asking.as === 'agent' ? await options.agentName() : '';
    if (!budget.take()) return { came: false, why: 'budget' };
    const headers = {
      host: asking.plainHttp ? site.hostname : site.host,
      'accept-encoding': 'identity',
      ...headersOf(asking.as, agentName),
      ...asking.headers,
    };
    const { protocol, hostname, port } = address;
    return send(
      protocol === 'https:',
      {
        hostname: hostname.replace(/^\[|\]$/g, ''),
        path,
        method: asking.method ?? 'GET',
        headers,
        servername: site.hostname,
        agent: false,
        signal: AbortSignal.timeout(Math.min(TIMEOUT_MS, budget.msLeft())),
        ...(port === '' ? {} : { port }),
      },
      asking.maxBytes ?? MAX_BYTES,
    );
  };
}

function addressOf(site: URL, connectTo: URL | undefined, { plainHttp }: Asking): URL {
  if (connectTo) return connectTo;
  return plainHttp ? new URL(`http://${site.hostname}`) : site;
}

function send(isTls: boolean, options: RequestOptions, maxBytes: number): Promise<Reply> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => resolve({ came: false, why: whyOf(error) });
    try {
      const request = (isTls ? requestHttps : requestHttp)(options, (response) => {
        readBounded(response, maxBytes).then(resolve, fail);
      });
      request.on('error', fail);
      request.end();
    } catch {
      resolve({ came: false, why: 'unreachable' });
    }
  });
}

async function readBounded(response: IncomingMessage, maxBytes: number): Promise<Reply> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break; // leaving the loop ends the connection
  }
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
  const body = Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
  return { came: true, status: response.statusCode ?? 0, headers, body, isWhole: bytes <= maxBytes };
}

function whyOf(error: NodeJS.ErrnoException): 'timeout' | 'unreachable' | 'tls' {
  if (error.name === 'AbortError' || error.name === 'TimeoutError' || error.code === 'ETIMEDOUT') return 'timeout';
  return /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(error.code ?? '') ? 'tls' : 'unreachable';
}
