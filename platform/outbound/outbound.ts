import { LRUCache } from 'lru-cache';
import type { Dispatcher } from 'undici';
import { Agent, request } from 'undici';
import type { Resolve } from './dns.ts';
import { createResolver } from './dns.ts';
import { createPinnedConnector } from './pinnedConnector.ts';
import type { OutboundReason } from './reason.ts';
import { reasonOfError } from './reason.ts';
import { exchangeStart } from './start.ts';
import type { TargetSlots } from './targetSlots.ts';
import { createTargetSlots } from './targetSlots.ts';
import type { UrlCheck, UrlPolicy } from './url.ts';
import { checkOutboundUrl } from './url.ts';

/** How the only client for other people's servers behaves. */
export interface OutboundOptions {
  /** The sandbox's override; the configuration refuses it in production. */
  readonly allowLoopback?: boolean;
  /** Name → addresses; real name servers unless told. Every answer is checked, of any server. */
  readonly resolve?: Resolve;
  /** PEM of further certificate authorities, for the sandbox's own sites. */
  readonly ca?: string;
  readonly userAgent?: string;
  /** Requests to one host at once; more wait within their own deadline. 64 unless told. */
  readonly perTarget?: number;
  /** Our own public names: nothing of ours is reached this way. */
  readonly ownHosts?: readonly string[];
  /** Where a request that was allowed goes instead, with the name in `Host`; null: where it says. For places that play the internet. */
  readonly reroute?: (url: URL) => URL | null;
}

/** One outgoing request. */
export interface OutboundRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For everything together: name, connection, headers, body. 5 s unless told. */
  readonly timeoutMs?: number;
  /** Most bytes of the answer's body; 64 KiB unless told. */
  readonly maxBodyBytes?: number;
  /**
   * `whole`: a longer, broken or compressed body is a failure. `cut`: of a longer one the first bytes are taken, and the answer says so. `start`: the
   * first bytes do, whatever comes after. `whole` unless told.
   */
  readonly read?: 'whole' | 'cut' | 'start';
  /** Statuses whose body is wanted; that of any other is not taken in, and is empty. All unless told; not with `start`. */
  readonly bodyOf?: readonly number[];
  /** With `start`, how long the body may dawdle after the headers; 1 s unless told. */
  readonly startMs?: number;
  readonly extraPorts?: readonly number[];
  readonly signal?: AbortSignal;
}

/** What came of it; reason codes only, never an address or an error text. */
export type OutboundAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
      /** With `cut`: there was more. */
      readonly isCut?: true;
      readonly durationMs: number;
    }
  | { readonly ok: false; readonly reason: OutboundReason; readonly durationMs: number };

/** The only outgoing HTTP of the service. */
export interface Outbound {
  /** True when the URL may be stored as a target; the same check runs again before each request. */
  checkUrl(url: string, extraPorts?: readonly number[]): { readonly ok: boolean; readonly reason?: OutboundReason };
  /** Sends one request once: no redirect, no retry, no proxy. Never throws; any status is an answer (3xx too). */
  send(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

const MAX_HEADER_BYTES = 16 * 1024;
/** With `start`, how long the body may dawdle after the headers: its bytes are only kept for the log. */
const BODY_START_MS = 1_000;
/** A body that nobody wants ends so that its connection can be used again, unless it is longer than this. */
const UNWANTED_BYTES = 64 * 1024;
/** Verdicts on URLs that are kept; they depend on nothing but the text and the client's settings. */
const URLS_KEPT = 5_000;

/** Opens the client; connections are kept for a few seconds, each to an address that was checked when it was made. */
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const allowLoopback = options.allowLoopback ?? false;
  const agent = new Agent({
    connect: createPinnedConnector({
      resolve: options.resolve ?? createResolver(),
      allowLoopback,
      connectTimeoutMs: 3_000,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    }),
    connections: null, // several targets may share an origin: who hangs there must not hold up the others; callers cap what they send
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const ownHosts = options.ownHosts ?? [];
  const policy = (extraPorts: readonly number[] | undefined): UrlPolicy => ({
    allowLoopback,
    ownHosts,
    extraPorts: extraPorts ?? [],
  });
  const verdicts = new LRUCache<string, UrlCheck>({ max: URLS_KEPT });
  const check = (url: string, extraPorts: readonly number[] | undefined): UrlCheck => {
    const name = `${extraPorts?.join() ?? ''} ${url}`;
    const known = verdicts.get(name);
    if (known !== undefined) return known;
    const found = checkOutboundUrl(url, policy(extraPorts));
    verdicts.set(name, found);
    return found;
  };
  const client: Client = {
    agent,
    check,
    slots: createTargetSlots(options.perTarget ?? 64),
    userAgent: options.userAgent ?? 'svc-outbound/1.0',
    reroute: options.reroute ?? (() => null),
  };
  return {
    checkUrl: (url, extraPorts) => {
      const found = checkOutboundUrl(url, policy(extraPorts));
      return found.ok ? { ok: true } : { ok: false, reason: found.reason };
    },
    send: (outgoing) => send(client, outgoing),
    close: () => agent.destroy(),
  };
}

interface Client {
  readonly agent: Agent;
  readonly check: (url: string, extraPorts: readonly number[] | undefined) => UrlCheck;
  readonly slots: TargetSlots;
  readonly userAgent: string;
  readonly reroute: (url: URL) => URL | null;
}

async function send(client: Client, outgoing: OutboundRequest): Promise<OutboundAnswer> {
  const startedAt = performance.now();
  const since = (): number => Math.round(performance.now() - startedAt);
  const check = client.check(outgoing.url, outgoing.extraPorts);
  if (!check.ok) return { ok: false, reason: check.reason, durationMs: since() };
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException('out of time', 'TimeoutError')), outgoing.timeoutMs ?? 5_000);
  const signal = outgoing.signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, outgoing.signal]);
  try {
    const exchanged = await client.slots.run(check.url.host, signal, () => exchange(client, check.url, outgoing, signal));
    return { ...exchanged, durationMs: since() };
  } catch (error) {
    return { ok: false, reason: reasonOfError(error), durationMs: since() };
  } finally {
    clearTimeout(timer);
  }
}

type Exchanged =
  | Omit<Extract<OutboundAnswer, { ok: true }>, 'durationMs'>
  | { readonly ok: false; readonly reason: OutboundReason };

async function exchange(client: Client, url: URL, outgoing: OutboundRequest, signal: AbortSignal): Promise<Exchanged> {
  const elsewhere = client.reroute(url);
  const target = elsewhere ?? url;
  const asked = {
    method: outgoing.method ?? 'GET',
    headers: {
      'user-agent': client.userAgent,
      'accept-encoding': 'identity',
      ...outgoing.headers,
      ...(elsewhere === null ? {} : { host: url.host }),
    },
    body: outgoing.body ?? null,
  };
  const limit = outgoing.maxBodyBytes ?? 64 * 1024;
  if (outgoing.read === 'start') {
    const place = { origin: target.origin, path: `${target.pathname}${target.search}` };
    const limits = { maxBytes: limit, startMs: outgoing.startMs ?? BODY_START_MS };
    const start = await exchangeStart(client.agent, { ...asked, ...place }, limits, signal);
    return { ok: true, ...start, headers: plainHeaders(start.headers) };
  }
  const answer = await request(target, { ...asked, dispatcher: client.agent, signal });
  const { statusCode: status } = answer;
  const headers = plainHeaders(answer.headers);
  if (outgoing.bodyOf && !outgoing.bodyOf.includes(status)) {
    await answer.body.dump({ limit: UNWANTED_BYTES, signal }).catch(() => undefined);
    return { ok: true, status, headers, body: new Uint8Array() };
  }
  // Nothing is ever inflated: what was not asked for compressed and comes so is no answer.
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? '')) {
    answer.body.on('error', () => undefined).destroy();
    return { ok: false, reason: 'bad_response' };
  }
  const { body, isWhole } = await readUpTo(answer.body, limit);
  if (isWhole) return { ok: true, status, headers, body };
  return outgoing.read === 'cut' ? { ok: true, status, headers, body, isCut: true } : { ok: false, reason: 'too_large' };
}

/** The body, or its first `limit` bytes when it is longer; the connection ends then. */
async function readUpTo(
  body: Dispatcher.ResponseData['body'],
  limit: number,
): Promise<{ readonly body: Uint8Array; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    chunks.push(chunk);
    if (size > limit) {
      body.destroy();
      return { body: Buffer.concat(chunks, limit), isWhole: false };
    }
  }
  return { body: Buffer.concat(chunks), isWhole: true };
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}
