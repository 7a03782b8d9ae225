/**
 * Pages as Markdown: the site's own where it answers with it, else made of the HTML that was sold, after the payment. The conversion holds up the whole
 * process, some hundred milliseconds for the longest page. What bounds that: pages up to 256 KiB without their coding, two conversions a second, and what
 * was made is kept (8 MiB).
 */
import { tokensIn } from '../core/forms.ts';
import { decodedPage } from './decoded.ts';
import type { FinishedPage } from './sale.ts';

/** A longer page is given as the site made it, and its tokens are not counted. */
const MOST_BYTES = 256 * 1_024;
const A_SECOND = 2;
/** Of all bodies that are kept. */
const KEPT_BYTES = 8 * 1_024 * 1_024;
const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/i;
const MARKDOWN = /^text\/(?:x-)?markdown\b/i;
/** Of a page without a main part or a heading, what is no text of it. */
const ASIDE = ['nav', 'footer', 'aside', 'form', 'script', 'style', 'noscript', 'template', 'svg', 'iframe', 'title', 'button'];

/** A page as Markdown, and about how many tokens it has. */
export interface MarkdownPage {
  readonly headers: Readonly<Record<string, string>>;
  /** Null: the site's own goes out as it is. */
  readonly body: Uint8Array<ArrayBuffer> | null;
  readonly tokens: number;
}

/**
 * Makes Markdown of a page; null for one that is neither HTML nor Markdown, too long, of an unknown coding, or without any text, and where `hold` finds no
 * room for it without its coding; `busy`: other pages were made into Markdown just now. `address`: where it stands, for its links. Never rejects.
 */
export type AsMarkdown = (
  page: FinishedPage,
  address: string,
  hold?: (bytes: number) => boolean,
) => Promise<MarkdownPage | 'busy' | null>;

/** Opens the converter of a process. `now`: milliseconds. */
export function openMarkdown(now: () => number): AsMarkdown {
  const kept = new Map<string, Uint8Array<ArrayBuffer>>();
  let keptBytes = 0;
  let second = { began: 0, made: 0 };
  const isBusy = (): boolean => {
    if (Math.abs(now() - second.began) >= 1_000) second = { began: now(), made: 0 };
    second.made += 1;
    return second.made > A_SECOND;
  };
  const keep = (name: string, body: Uint8Array<ArrayBuffer>): void => {
    keptBytes += body.length - (kept.get(name)?.length ?? 0);
    kept.delete(name);
    kept.set(name, body);
    for (const [oldest, { length }] of kept) {
      if (keptBytes <= KEPT_BYTES) return;
      kept.delete(oldest);
      keptBytes -= length;
    }
  };
  const ofHtml = async (
    page: FinishedPage,
    address: string,
    hold: (bytes: number) => boolean,
  ): Promise<MarkdownPage | 'busy' | null> => {
    const { type = '', encoding = '', chunks = [] } = page;
    const name = `${await hashOf(chunks)} ${encoding} ${type} ${address}`;
    const known = kept.get(name);
    if (known) keep(name, known);
    if (known) return pageOf(known);
    if (isBusy()) return 'busy';
    const decoded = await decodedPage(chunks, encoding, MOST_BYTES);
    if (decoded === null || !hold(lengthOf(decoded))) return null;
    const decoder = new TextDecoder(charsetOf(type));
    const html = decoded.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode();
    const text = await convert(html, address);
    if (text === '') return null;
    const body = new TextEncoder().encode(`${text}\n`);
    keep(name, body);
    return pageOf(body);
  };
  return async (page, address, hold = () => true) => {
    const { type = '', encoding, chunks } = page;
    if (!chunks || lengthOf(chunks) > MOST_BYTES) return null;
    try {
      if (HTML.test(type)) return await ofHtml(page, address, hold);
      if (!MARKDOWN.test(type)) return null;
      const decoded = await decodedPage(chunks, encoding, MOST_BYTES);
      return decoded === null || !hold(lengthOf(decoded)) ? null : { body: null, ...counted(lengthOf(decoded)) };
    } catch {
      return null; // what was paid for is given as it is
    }
  };
}

function pageOf(body: Uint8Array<ArrayBuffer>): MarkdownPage {
  const { headers, tokens } = counted(body.length);
  return { headers: { 'content-type': 'text/markdown; charset=utf-8', ...headers }, body, tokens };
}

function lengthOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

async function hashOf(chunks: readonly Uint8Array[]): Promise<string> {
  const bytes = await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer();
  return String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

function counted(bytes: number): Pick<MarkdownPage, 'headers' | 'tokens'> {
  const tokens = tokensIn(bytes);
  return { headers: { 'x-markdown-tokens': String(tokens) }, tokens };
}

/** Its main part where it has one, else all of it but what stands around the text. */
async function convert(html: string, address: string): Promise<string> {
  const { htmlToMarkdown, withMinimalPreset } = await import('@mdream/js');
  const { origin } = new URL(address);
  const main = htmlToMarkdown(html, withMinimalPreset({ origin })).trim();
  return main === '' ? htmlToMarkdown(html, { origin, plugins: { filter: { exclude: ASIDE } } }).trim() : main;
}

function charsetOf(type: string): string {
  return /charset="?([\w-]{1,40})"?/i.exec(type)?.[1] ?? 'utf-8';
}

/** What of a page's own headers is about its own bytes. */
export const OF_BODY: readonly string[] = [
  ...['content-encoding', 'content-length', 'digest', 'content-digest', 'repr-digest', 'unencoded-digest'],
];
