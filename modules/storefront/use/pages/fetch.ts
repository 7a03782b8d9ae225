import { LRUCache } from 'lru-cache';
import type { Outbound, OutboundAnswer } from '../../../../platform/outbound/outbound.ts';
import type { OutboundReason } from '../../../../platform/outbound/reason.ts';
import { openTurns } from '../../../../platform/pacing/fairQueue.ts';
import type { DocumentSite } from '../../../discovery/use/site.ts';
import { findLiveSite } from '../../../discovery/use/site.ts';
import { RELAY_BOT } from '../../../gate/rules/agent.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { ResourceUrl } from '../../../kernel/hosts/host.ts';
import { requireResource } from '../../../kernel/pages/resource.ts';
import type { PublisherDeps } from '../../../quotes/use/deps.ts';
import type { OfferText } from '../../rules/offerSeen.ts';
import { openTexts } from './texts.ts';

/** What asking a site for a page needs. */
export type PageDeps = Pick<PublisherDeps, 'database' | 'snapshots' | 'clock'> & {
  readonly outbound: Pick<Outbound, 'send'>;
  /** How long a site may take for a page, redirects included; 15 s unless told. */
  readonly pagePatienceMs?: number;
};

/** What a page says, as data. Nothing of it is read here: the caller shows it as the words of its URL. */
export interface PageText {
  /** Where it was read, behind redirects within its host. */
  readonly url: string;
  readonly mediaType: string;
  readonly title: string | null;
  /** 500,000 characters at most. */
  readonly text: string;
  /** There is more of it than `text`. */
  readonly isCut: boolean;
  /** From how many bytes it was read. */
  readonly bytes: number;
}

/** Why a page's text cannot be had through us. */
export type PageReason =
  | OutboundReason
  | 'redirected' // away from its host, or more than three times
  | 'not_text'
  | 'answered_otherwise' // with another status than the one that was needed
  | 'busy';

/** What a site answered for a page: its status, its text where that is 200 and the text was wanted, and what a 402 asks for. */
export type PageAnswer =
  | { readonly ok: true; readonly status: number; readonly page: PageText | null; readonly offer?: OfferText }
  | { readonly ok: false; readonly reason: PageReason };

/** A page of a live site of ours. */
export interface SitePage {
  readonly site: DocumentSite;
  readonly resource: ResourceUrl;
}

/** Says that it is automated, so that a gate treats it as any agent it does not know. */
const USER_AGENT = `Mozilla/5.0 (compatible; ${RELAY_BOT}/1.0; content-settlement)`;
/** More of a page is not read: its text is cut. */
const MAX_BYTES = 2 * 1024 * 1024;
/** A longer body of a 402 is no offer of ours: one of 50 authors with every extension has less than a quarter of it. */
const MAX_OFFER_BYTES = 64 * 1024;
/** More than models read; a buyer who wants all of a longer page reads it at its site with the licence. */
const MAX_CHARS = 500_000;
const MAX_REDIRECTS = 3;
const ASK_MS = 15_000;
const MEDIA_TYPES = /^(?:text\/[a-z0-9.+-]+|application\/(?:json|xhtml\+xml))$/;

const WAITS = { mostWaiting: 20, mostWaitingInAll: 100, waitMs: 5_000 } as const;
/** Bodies of 2 MB are in memory at the same time: ten at most, two of one site, so that a site that hangs holds up its own pages. */
const turns = openTurns({ ...WAITS, atOnce: 8, mostOfOne: 2 });
/** Sites that kept a place for long share two, one each: four that hang would hold all eight of the others. */
const turnsOfSlow = openTurns({ ...WAITS, atOnce: 2, mostOfOne: 1 });
/** Sites that used up this part of the time for a page count as slow for five minutes. */
const SLOW_PART = 1 / 3;
const texts = openTexts();
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

/** How a page is asked for. */
export interface PageAsking {
  /**
   * Who asks, with what that is (`payer 0x…`, `account …`, `address …`), so that no two kinds share a name: those who wait for one site come in turns, and
   * nobody has more than two places.
   */
  readonly who: string;
  /** False: no page is read, and of a 402 its offer alone. */
  readonly isTextWanted: boolean;
  /** Go to the page's host alone. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Asks a site for one of its pages by GET. Follows three redirects within the host. Takes 2 MB, of a longer page the first, and 15 s altogether, never
 * inflates, and reads text, JSON and XHTML only. Never throws.
 */
export async function askForPage(
  deps: Pick<PageDeps, 'outbound' | 'pagePatienceMs'>,
  { site, resource }: SitePage,
  asking: PageAsking,
): Promise<PageAnswer> {
  const { tenantId } = site.tenant;
  let leave: () => void;
  try {
    leave = await (slow.has(tenantId) ? turnsOfSlow : turns).enter([`site ${tenantId}`, asking.who]);
  } catch {
    return { ok: false, reason: 'busy' };
  }
  const startedAtMs = performance.now();
  try {
    const answer = await follow(deps, resource.url.replace(/^http:/, 'https:'), asking);
    if (performance.now() - startedAtMs > (deps.pagePatienceMs ?? ASK_MS) * SLOW_PART) slow.set(tenantId, true);
    return 'body' in answer ? await read(answer) : answer;
  } finally {
    leave();
  }
}

/** What a site sent, before it is read. */
type Sent = Pick<Extract<OutboundAnswer, { ok: true }>, 'headers' | 'body' | 'isCut'> & { readonly url: string };

async function follow(
  { outbound, pagePatienceMs: timeoutMs = ASK_MS }: Pick<PageDeps, 'outbound' | 'pagePatienceMs'>,
  first: string,
  { headers, isTextWanted }: PageAsking,
): Promise<PageAnswer | Sent> {
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = { 'user-agent': USER_AGENT, accept: 'text/html, text/*;q=0.9, application/json;q=0.9', ...headers };
  const wanted = isTextWanted
    ? ({ maxBodyBytes: MAX_BYTES, read: 'cut', bodyOf: [200, 402] } as const)
    : ({ maxBodyBytes: MAX_OFFER_BYTES, read: 'cut', bodyOf: [402] } as const);
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await outbound.send({ url, headers: sent, timeoutMs, signal, ...wanted });
    if (!answer.ok) return { ok: false, reason: answer.reason };
    const { status } = answer;
    if (status === 200 && isTextWanted) return { ...answer, url };
    if (status === 402) return { ok: true, status, page: null, offer: offerOf(answer) };
    if (status < 300 || status > 399) return { ok: true, status, page: null };
    const next = nextOf(url, answer.headers['location']);
    if (next === null) break;
    url = next;
  }
  return { ok: false, reason: 'redirected' };
}

function offerOf({ headers, body, isCut }: Omit<Sent, 'url'>): OfferText {
  const isShort = isCut === undefined && body.length <= MAX_OFFER_BYTES;
  return { header: headers['payment-required'], body: isShort ? Buffer.from(body).toString('utf8') : '' };
}

/** Where a redirect leads, if that is the same host over the same scheme; null otherwise. */
function nextOf(url: string, location: string | undefined): string | null {
  const next = location === undefined ? null : URL.parse(location, url);
  if (!next || next.origin !== new URL(url).origin || next.username !== '' || next.password !== '') return null;
  return next.href;
}

async function read({ url, headers, body, isCut }: Sent): Promise<PageAnswer> {
  const [named = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim());
  const mediaType = named.toLowerCase();
  if (!MEDIA_TYPES.test(mediaType)) return { ok: false, reason: 'not_text' };
  const charset = parameters.map((one) => /^charset="?([^"]{1,40})"?$/i.exec(one)?.[1]).find((one) => one !== undefined) ?? null;
  const isHtml = mediaType === 'text/html' || mediaType === 'application/xhtml+xml';
  const plain = await texts.read(body, { isHtml, charset, mostChars: MAX_CHARS });
  if (!plain) return { ok: false, reason: 'not_text' };
  return { ok: true, status: 200, page: { url, mediaType, ...plain, isCut: plain.isCut || isCut === true, bytes: body.length } };
}
