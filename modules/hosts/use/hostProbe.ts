import { createHash, timingSafeEqual } from 'node:crypto';
import type { HostDns } from '../../../platform/outbound/hostDns.ts';
import type { Outbound, OutboundAnswer } from '../../../platform/outbound/outbound.ts';
import type { OutboundReason } from '../../../platform/outbound/reason.ts';
import type { ChallengeMethod, CheckReason } from '../rules/challenge.ts';
import { META_NAME, txtNameOf, txtValueOf, wellKnownUrls } from '../rules/challenge.ts';
import { findMetaTags } from '../rules/challengeMeta.ts';
import type { FrontPage } from '../rules/challengePlatform.ts';

/** What is looked for, and where. */
export interface ProbeTarget {
  readonly host: string;
  readonly method: ChallengeMethod;
  readonly token: string;
}

/** What a probe of a challenge found; a reason and nothing else of what was seen. */
export type ProbeResult = { readonly ok: true } | { readonly ok: false; readonly reason: CheckReason };

/** What one side of the routing probe saw; `unknown` when nobody answered. */
export type RouteSight = 'fleet' | 'elsewhere' | 'unknown';

/** How other people's hosts are looked at. */
export interface HostProbe {
  /** Looks once for the proof, within 5 s altogether. Never rejects. */
  prove(target: ProbeTarget): Promise<ProbeResult>;
  /** The beginning of a host's front page; null when it has none now. Never rejects. */
  look(host: string): Promise<FrontPage | null>;
  /** Where a host's name and its live answers lead. Never rejects; both `unknown` where no fleet is configured. */
  route(host: string): Promise<{ readonly cname: RouteSight; readonly live: RouteSight }>;
}

/** What probes work with. */
export interface HostProbeOptions {
  readonly outbound: Outbound;
  readonly dns: HostDns;
  /** The name publishers' CNAMEs point at; null: nothing is routed by a fleet. */
  readonly fleetHost: string | null;
  readonly timeoutMs?: number;
}

const USER_AGENT = 'svc-host-check/1.0';
const PAGE_BYTES = 512 * 1024;
const TOKEN_BYTES = 64 * 1024;
/** Nobody said what the name holds: silence, or a name server in trouble of its own. */
const UNANSWERED = ['ETIMEOUT', 'ECANCELLED', 'ESERVFAIL', 'EREFUSED', 'ECONNREFUSED'];

/** Probes through the outgoing client; nothing is kept between two calls. */
export function createHostProbe(options: HostProbeOptions): HostProbe {
  const timeoutMs = options.timeoutMs ?? 5_000;
  return {
    prove: async (target) => {
      const signal = AbortSignal.timeout(timeoutMs);
      if (target.method === 'dns-txt') return proveByDns(options.dns, target);
      if (target.method === 'meta-tag') return proveByTag(options.outbound, target, signal);
      return proveByPage(options.outbound, target, signal);
    },
    look: async (host) => lookOf(await fetchPage(options.outbound, `https://${host}/`, AbortSignal.timeout(timeoutMs))),
    route: async (host) => {
      const { fleetHost } = options;
      if (fleetHost === null) return { cname: 'unknown', live: 'unknown' };
      const [cname, live] = await Promise.all([aliasSight(options.dns, host, fleetHost), liveSight(options.outbound, host)]);
      return { cname, live };
    },
  };
}

async function proveByDns(dns: HostDns, { host, token }: ProbeTarget): Promise<ProbeResult> {
  let views: readonly (readonly string[])[];
  try {
    views = await dns.texts(txtNameOf(host));
  } catch (error) {
    return refused(UNANSWERED.includes((error as NodeJS.ErrnoException).code ?? '') ? 'timeout' : 'not_verified');
  }
  const wanted = txtValueOf(token);
  // Every view must hold the record: one name server may be lied to, several in different networks hardly at once.
  if (views.every((records) => records.some((record) => isSame(record.trim(), wanted)))) return { ok: true };
  return refused(views.every((records) => records.length === 0) ? 'not_verified' : 'dns_mismatch');
}

async function proveByPage(outbound: Outbound, { host, token }: ProbeTarget, signal: AbortSignal): Promise<ProbeResult> {
  const [own, fixed] = wellKnownUrls(host, token);
  const first = await fetchToken(outbound, own, signal);
  const result = judgeText(first, token, (text) => text.trim());
  if (result.ok || !first.ok || first.status !== 404) return result;
  const second = judgeText(await fetchToken(outbound, fixed, signal), token, (text) => (text.split('\n', 1)[0] ?? '').trim());
  return second.ok || second.reason !== 'not_verified' ? second : result;
}

async function proveByTag(outbound: Outbound, { host, token }: ProbeTarget, signal: AbortSignal): Promise<ProbeResult> {
  const answer = await fetchPage(outbound, `https://${host}/`, signal);
  const refusal = refusalOf(answer);
  if (refusal) return refused(refusal);
  const page = lookOf(answer);
  const contents = page === null ? [] : findMetaTags(page.html, META_NAME);
  if (contents.some((content) => isSame(content, token))) return { ok: true };
  return refused(contents.length === 0 ? 'not_verified' : 'wrong_token');
}

function judgeText(answer: OutboundAnswer, token: string, pick: (text: string) => string): ProbeResult {
  const refusal = refusalOf(answer);
  if (refusal || !answer.ok) return refused(refusal ?? 'not_verified');
  const text = Buffer.from(answer.body).toString('utf8');
  return isSame(pick(text), token) ? { ok: true } : refused('wrong_token');
}

function fetchToken(outbound: Outbound, url: string, signal: AbortSignal): Promise<OutboundAnswer> {
  return outbound.send({ url, headers: { 'user-agent': USER_AGENT }, maxBodyBytes: TOKEN_BYTES, signal });
}

function fetchPage(outbound: Outbound, url: string, signal: AbortSignal): Promise<OutboundAnswer> {
  const headers = { 'user-agent': USER_AGENT, accept: 'text/html' };
  return outbound.send({ url, headers, maxBodyBytes: PAGE_BYTES, read: 'start', startMs: 4_000, signal });
}

/** A page that came in the clear with 200; null otherwise. */
function lookOf(answer: OutboundAnswer): FrontPage | null {
  if (!answer.ok || answer.status !== 200) return null;
  if (!/^(identity)?$/i.test(answer.headers['content-encoding'] ?? '')) return null;
  return { headers: answer.headers, html: Buffer.from(answer.body).toString('utf8') };
}

const REASONS: Partial<Record<OutboundReason, CheckReason>> = {
  blocked_address: 'blocked_address',
  tls_error: 'tls_error',
  timeout: 'timeout',
};

/** Why an answer cannot hold a proof; null when it can. A closed port, a refusal and a missing page look the same outside. */
function refusalOf(answer: OutboundAnswer): CheckReason | null {
  if (!answer.ok) return REASONS[answer.reason] ?? 'not_verified';
  if (answer.status >= 300 && answer.status < 400) return 'redirect';
  return answer.status === 200 ? null : 'not_verified';
}

async function aliasSight(dns: HostDns, host: string, fleetHost: string): Promise<RouteSight> {
  try {
    return (await dns.alias(host)) === fleetHost ? 'fleet' : 'elsewhere';
  } catch {
    return 'unknown';
  }
}

/** The fleet marks whatever it serves; any other answer comes from elsewhere. */
async function liveSight(outbound: Outbound, host: string): Promise<RouteSight> {
  const headers = { 'user-agent': USER_AGENT };
  const answer = await outbound.send({ url: `https://${host}/`, headers, maxBodyBytes: 1_024, read: 'start' });
  if (!answer.ok) return 'unknown';
  return answer.headers['svc-fleet'] === undefined ? 'elsewhere' : 'fleet';
}

/** Compares in a time that tells nothing about where the two differ. */
function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(wanted));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function refused(reason: CheckReason): ProbeResult {
  return { ok: false, reason };
}
