import { LRUCache } from 'lru-cache';
import type { Outbound, OutboundAnswer } from '../../adapters/outbound/outbound.ts';
import type { OutboundReason } from '../../adapters/outbound/reason.ts';
import { readPageText } from '../../adapters/pageText.ts';
import { ServiceError } from '../../domain/errors.ts';
import { RELAY_BOT } from '../../domain/gate/agent.ts';
import type { ResourceUrl } from '../../domain/hosts/host.ts';
import { requireResource } from '../../domain/pages/resource.ts';
import type { DocumentSite } from '../discovery/site.ts';
import { findLiveSite } from '../discovery/site.ts';
import { inSlices } from '../pacing/slices.ts';
import { openTurns } from '../pacing/turns.ts';
import type { PublisherDeps } from '../quotes/deps.ts';

/** What asking a site for a page needs. */
export type PageDeps = Pick<PublisherDeps, 'database' | 'snapshots' | 'clock'> & {
  readonly outbound: Pick<Outbound, 'send'>;
  /** How long a site may take for a page, redirects included; 15 s unless told. */
  readonly pagePatienceMs?: number;
};

/** What a page says, as data. Nothing of it is read here: whoever shows it shows it as the words of its URL. */
export interface PageText {
  /** Where it was read, behind redirects within its host. */
  readonly url: string;
  readonly mediaType: string;
  readonly title: string | null;
  readonly text: string;
}

/** Why a page's text cannot be had through us. */
export type PageReason =
  | OutboundReason
  | 'redirected' // away from its host, or more than three times
  | 'not_text'
  | 'answered_otherwise' // with another status than the one that was needed
  | 'busy';

/** What a site answered for a page: its status, and its text where that is 200. */
export type PageAnswer =
  | { readonly ok: true; readonly status: number; readonly page: PageText | null }
  | { readonly ok: false; readonly reason: PageReason };

/** A page of a live site of ours. */
export interface SitePage {
  readonly site: DocumentSite;
  readonly resource: ResourceUrl;
}

/** Says that it is automated, so that a gate treats it as any agent it does not know. */
const USER_AGENT = `Mozilla/5.0 (compatible; ${RELAY_BOT}/1.0; content-settlement)`;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const ASK_MS = 15_000;
const MEDIA_TYPES = /^(?:text\/[a-z0-9.+-]+|application\/(?:json|xhtml\+xml))$/;

const WAITS = { mostWaiting: 20, mostWaitingInAll: 100, waitMs: 5_000 } as const;
/** Bodies of 8 MB are in memory at the same time: ten at most, two of one site, so that a site that hangs holds up its own pages. */
const turns = openTurns({ ...WAITS, atOnce: 8, mostOfOne: 2 });
/** Sites that kept a place for long share two, one each: four that hang would hold all eight of the others. */
const turnsOfSlow = openTurns({ ...WAITS, atOnce: 2, mostOfOne: 1 });
/** Sites that used up this part of the time for a page count as slow for five minutes. */
const SLOW_PART = 1 / 3;
const slow = new LRUCache<string, true>({ max: 10_000, ttl: 300_000 });

/**
 * The live site that sells a page. Throws invalid_resource (400), not_found (404), the same for every host that does not sell here, and
 * database_unavailable (503). No address that is not a verified host of a live site is ever asked.
 */
export async function requireSitePage(deps: Omit<PageDeps, 'outbound'>, url: string): Promise<SitePage> {
  const resource = requireResource(url);
  const site = await findLiveSite(deps, resource.host);
  if (!site) throw new ServiceError('not_found', 'this host sells nothing here');
  return { site, resource };
}

/**
 * Asks a site for one of its pages by GET, with these headers, which go to its host alone. Follows three redirects within the host. Takes 8 MB and
 * 15 s altogether, never inflates, and reads text, JSON and XHTML only. Never throws.
 */
export async function askForPage(
  deps: Pick<PageDeps, 'outbound' | 'pagePatienceMs'>,
  { site, resource }: SitePage,
  headers: Readonly<Record<string, string>> = {},
): Promise<PageAnswer> {
  const { tenantId } = site.tenant;
  let leave: () => void;
  try {
    leave = await (slow.has(tenantId) ? turnsOfSlow : turns).enter([tenantId]);
  } catch {
    return { ok: false, reason: 'busy' };
  }
  const startedAtMs = performance.now();
  try {
    return await follow(deps, resource.url.replace(/^http:/, 'https:'), headers);
  } finally {
    if (performance.now() - startedAtMs > (deps.pagePatienceMs ?? ASK_MS) * SLOW_PART) slow.set(tenantId, true);
    leave();
  }
}

async function follow(
  { outbound, pagePatienceMs: timeoutMs = ASK_MS }: Pick<PageDeps, 'outbound' | 'pagePatienceMs'>,
  first: string,
  headers: Readonly<Record<string, string>>,
): Promise<PageAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = { 'user-agent': USER_AGENT, accept: 'text/html, text/*;q=0.9, application/json;q=0.9', ...headers };
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await outbound.send({ url, headers: sent, timeoutMs, maxBodyBytes: MAX_BYTES, signal });
    if (!answer.ok) return { ok: false, reason: answer.reason };
    if (answer.status < 300 || answer.status > 399) return await read(url, answer);
    const next = nextOf(url, answer.headers['location']);
    if (next === null) break;
    url = next;
  }
  return { ok: false, reason: 'redirected' };
}

/** Where a redirect leads, if that is the same host over the same scheme; null otherwise. */
function nextOf(url: string, location: string | undefined): string | null {
  const next = location === undefined ? null : URL.parse(location, url);
  if (!next || next.origin !== new URL(url).origin || next.username !== '' || next.password !== '') return null;
  return next.href;
}

async function read(url: string, { status, headers, body }: Extract<OutboundAnswer, { ok: true }>): Promise<PageAnswer> {
  if (status !== 200) return { ok: true, status, page: null };
  const [named = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim());
  const mediaType = named.toLowerCase();
  if (!MEDIA_TYPES.test(mediaType)) return { ok: false, reason: 'not_text' };
  const charset = parameters.map((one) => /^charset="?([^"]{1,40})"?$/i.exec(one)?.[1]).find((one) => one !== undefined) ?? null;
  const isHtml = mediaType === 'text/html' || mediaType === 'application/xhtml+xml';
  const plain = await inSlices(readPageText(body, { isHtml, charset }));
  if (!plain) return { ok: false, reason: 'not_text' };
  return { ok: true, status, page: { url, mediaType, ...plain } };
}
