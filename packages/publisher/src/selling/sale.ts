/**
 * One purchase: the page first, money second. What bounds the cost of payments that are worth nothing: 250 pages wait at once, for half a minute
 * each, and hold 64 MiB in all.
 */
import type { Answer } from '../answers.ts';
import { offerAnswer, paidHeaders, refusalAnswer, waitAnswer } from '../answers.ts';
import type { Client, Outcome, Quote, Receipt, Result } from '../client.ts';
import { Breaker } from '../core/breaker.ts';
import { decideSettled, isServable } from '../core/decide.ts';
import { Lru } from '../core/lru.ts';
import type { Caller } from '../core/who.ts';
import type { Page, Pages } from '../knowing/pages.ts';
import { isReceipt, nextOf } from '../shapes.ts';
import type { Bodies } from '../telling/bodies.ts';
import type { Failures } from '../telling/failures.ts';
import { factsOf, isAway, isKeyRefused, wordsOf } from '../telling/failures.ts';
import { hasContent } from './decoded.ts';
import type { AsMarkdown, MarkdownPage } from './markdown.ts';
import { openMarkdown } from './markdown.ts';

const AT_ONCE = 250;
/** Pages whose tokens are remembered. */
const PAGES = 5_000;
/** How long a page may take to be made. */
export const MAKING_MS = 30_000;
/** Bytes of all pages that wait in memory: those that are sold, and as many of those that are looked at. */
export const HELD_BYTES = 64 * 1_024 * 1_024;

/** What the buyer gets. */
export type SaleResult =
  /** The page, with these headers on it; `body` in place of its own. Whoever sends it tells how that `ended`, where that is asked. */
  | {
      readonly act: 'page';
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: Uint8Array<ArrayBuffer>;
      readonly ended?: (outcome: Outcome) => void;
    }
  /** What the site made is no page that may be sold: sent as it is, and nobody is charged. */
  | { readonly act: 'unservable'; readonly headers: Readonly<Record<string, string>> }
  | { readonly act: 'answer'; readonly answer: Answer };

/** A page as it was made. */
export interface FinishedPage {
  readonly status: number;
  readonly bytes: number;
  readonly type?: string | undefined;
  /** Its `Content-Encoding`. */
  readonly encoding?: string | undefined;
  /** All of it; absent for a page of which more is to come. */
  readonly chunks?: readonly Uint8Array[] | undefined;
}

/** A purchase that waits for its page. */
export interface Sale {
  /** Settles for a page of that status and length, once; a second call gets the outcome of the first. Never rejects. */
  finish(page: FinishedPage): Promise<SaleResult>;
  /** Counts bytes of the page that wait in memory; false when all pages together have too many. */
  hold(bytes: number): boolean;
  /** The buyer is gone, or the page was never made: nothing is settled. After `finish` only the bytes are no longer counted. */
  abandon(): void;
}

/** What is bought, and with what. */
export interface Purchase {
  readonly page: Page;
  readonly quote: Quote;
  readonly caller: Caller;
  readonly payment: string;
  readonly accept: string;
  /** True where its reader wants it as Markdown. */
  readonly isMarkdown: boolean;
}

/** Opens purchases. */
export interface Sales {
  /** Null when too many wait for their pages, or these are too large together. */
  open(purchase: Purchase): Sale | null;
  /** The page as Markdown for who has paid for it already, with these headers; nothing is settled. Null as of `open`. */
  deliver(page: Page, headers: Readonly<Record<string, string>>): Sale | null;
  /** About how many tokens a page has as Markdown; undefined: it was not sold here lately. */
  tokensOf(page: Page): number | undefined;
}

interface SaleDeps {
  readonly client: Client;
  readonly now: () => number;
  readonly failures: Failures;
  readonly pages: Pages;
  /** Of one page, at most: one alone always finds room. */
  readonly maxPageBytes: number;
  readonly unservable: (purchase: Purchase) => void;
  /** Where what was sold is noted; null: nowhere. */
  readonly bodies: Pick<Bodies, 'add'> | null;
  readonly receiptName: 'host' | 'service';
}

/** What a sale is made with. */
type Till = SaleDeps & { readonly breaker: Breaker; readonly tokens: Lru<number>; readonly asMarkdown: AsMarkdown };
/** Counts bytes that wait in memory, as of a sale. */
type Hold = Sale['hold'];

/** Opens the till. */
export function openSales(deps: SaleDeps): Sales {
  const breaker = new Breaker(deps.now);
  const most = Math.max(HELD_BYTES, deps.maxPageBytes);
  const tokens = new Lru<number>(PAGES);
  const known = { ...deps, breaker, tokens, asMarkdown: openMarkdown(deps.now) };
  let waiting = 0;
  let heldBytes = 0;
  const openSale = (work: (made: FinishedPage, hold: Hold) => Promise<SaleResult>): Sale | null => {
    if (waiting >= AT_ONCE || heldBytes >= most) return null;
    waiting += 1;
    let isOpen = true;
    let ownBytes = 0;
    const hold = (bytes: number): boolean => {
      if (isOpen) ownBytes += bytes;
      if (isOpen) heldBytes += bytes;
      return heldBytes <= most;
    };
    const close = (): void => {
      hold(-ownBytes);
      if (isOpen) waiting -= 1;
      isOpen = false;
    };
    let outcome: Promise<SaleResult> | null = null;
    return {
      finish: (page) =>
        (outcome ??= work(page, hold)
          .catch((error: unknown) => brokenOff(deps, error))
          .finally(close)),
      hold,
      abandon: () => (outcome === null ? close() : void hold(-ownBytes)),
    };
  };
  return {
    open: (purchase) => openSale((made, hold) => settle(known, purchase, made, hold)),
    deliver: (page, headers) => openSale((made, hold) => reread(known, page, made, { headers, hold })),
    tokensOf: ({ resource }) => tokens.get(resource),
  };
}

/** A page for who has paid for it before, as Markdown where it can be: who asks for more than the converter may do comes back. */
async function reread(
  till: Till,
  page: Page,
  made: FinishedPage,
  { headers, hold }: { readonly headers: Readonly<Record<string, string>>; readonly hold: Hold },
): Promise<SaleResult> {
  const markdown = await markdownOf(till, page, made, hold);
  return markdown === 'busy' ? { act: 'answer', answer: waitAnswer(1) } : given(markdown, headers);
}

/** What is no page has no Markdown, and goes out as it is. */
async function markdownOf({ asMarkdown, tokens }: Till, page: Page, made: FinishedPage, hold: Hold): ReturnType<AsMarkdown> {
  if (!isServable(made.status, made.bytes)) return null;
  const markdown = await asMarkdown(copied(made), page.resource, hold);
  if (markdown !== null && markdown !== 'busy') tokens.set(page.resource, markdown.tokens);
  return markdown;
}

function given(markdown: MarkdownPage | null, headers: Readonly<Record<string, string>>): Extract<SaleResult, { act: 'page' }> {
  if (markdown === null) return { act: 'page', headers };
  const all = { ...headers, ...markdown.headers };
  return markdown.body === null ? { act: 'page', headers: all } : { act: 'page', headers: all, body: markdown.body };
}

/** Counts the tokens of a page that was sold as HTML, once, behind its answer. */
function countTokens(till: Till, page: Page, made: FinishedPage): void {
  if (till.tokens.get(page.resource) === undefined) void markdownOf(till, page, made, () => true);
}

/** With a list of its own: that of a response is emptied when it is sent, or its reader leaves. */
function copied(made: FinishedPage): FinishedPage {
  return made.chunks ? { ...made, chunks: [...made.chunks] } : made;
}

async function settle(deps: Till, purchase: Purchase, made: FinishedPage, hold: Hold): Promise<SaleResult> {
  // A filter of the site's may have emptied the page: what it left is a coding of nothing, twenty bytes long.
  const isPage = isServable(made.status, made.bytes) && (!made.chunks || (await hasContent(made.chunks, made.encoding)));
  if (!isPage) {
    deps.unservable(purchase);
    return { act: 'unservable', headers: { 'cache-control': 'private, no-store' } };
  }
  if (!deps.breaker.mayCall()) return { act: 'answer', answer: waitAnswer(10) };
  const { page, quote, caller, payment } = purchase;
  const agent = { ua: page.userAgent.slice(0, 512), classifyReason: caller.reason, ...page.signed };
  const answer = await deps.client.verify({
    payment,
    quote,
    resource: page.resource,
    agent,
    ...(deps.receiptName === 'host' ? { receiptName: 'host' } : {}),
  });
  // A service that says so of a network is there: sales on the others go on.
  deps.breaker.note(!answer.ok && isAway(answer) && answer.code !== 'chain_unavailable');
  return answer.ok && !isReceipt(answer.body)
    ? wait(deps, { ok: false, why: 'status', status: 502 })
    : resultOf(deps, purchase, made, { answer, hold });
}

async function resultOf(
  deps: Till,
  purchase: Purchase,
  made: FinishedPage,
  { answer, hold }: { readonly answer: Result<Receipt>; readonly hold: Hold },
): Promise<SaleResult> {
  const { headers } = answer;
  if (answer.ok) {
    const { licenseJws: licence, chargedMicro, receiptId } = answer.body;
    const { page } = purchase;
    const paid = paidHeaders({ headers, licence, chargedMicro });
    const markdown = purchase.isMarkdown ? await markdownOf(deps, page, made, hold) : null;
    // Who has just paid gets the page in any case.
    const sold = given(markdown === 'busy' ? null : markdown, paid);
    if (!purchase.isMarkdown) countTokens(deps, page, made);
    const sent: Pick<FinishedPage, 'chunks' | 'encoding'> = sold.body ? { chunks: [sold.body] } : made;
    const ended = typeof receiptId === 'string' ? deps.bodies?.add(receiptId, sent.chunks ?? [], sent.encoding) : undefined;
    return ended ? { ...sold, ended } : sold;
  }
  const decision = decideSettled({ status: answer.status ?? 0, code: answer.code ?? null });
  if (decision.act === 'wait') return wait(deps, answer, decision.needsOwner);
  const price = await deps.pages.priceAgain(purchase.page);
  if (price.state === 'refused') return { act: 'answer', answer: refusalAnswer(403) };
  if (price.state !== 'priced') return { act: 'answer', answer: waitAnswer(undefined, { headers }) };
  const error = answer.error ?? 'payment refused';
  const next = nextOf(answer.body);
  const tokens = deps.tokens.get(purchase.page.resource);
  const told = { error, ...(next ? { next } : {}), accept: purchase.accept, tokens, settlement: { headers }, isHead: false };
  return { act: 'answer', answer: offerAnswer(price.quote, told) };
}

/** What nobody foresaw: it may have been paid, so the buyer is never asked for another payment. */
function brokenOff({ failures }: SaleDeps, error: unknown): SaleResult {
  failures.note({ what: 'verify', message: `a sale broke off: ${String(error)}; the buyer is told to come back` });
  return { act: 'answer', answer: waitAnswer(undefined) };
}

function wait(deps: SaleDeps, answer: Result<Receipt> & { readonly ok: false }, needsOwner = false): SaleResult {
  // Pending and "too much at once" are the service's ordinary words, not failures.
  const isWord = answer.code !== undefined && !needsOwner && !isAway(answer);
  const meanwhile = 'the buyer is told to come back with the same payment, and is charged once at most';
  if (!isWord) {
    const what = isKeyRefused(answer) ? 'key' : 'verify';
    deps.failures.note({ what, message: `${wordsOf(answer)}; ${meanwhile}`, ...factsOf(answer) });
  }
  return { act: 'answer', answer: waitAnswer(answer.retryAfter, { headers: answer.headers }) };
}
