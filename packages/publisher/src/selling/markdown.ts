/**
 * Pages as Markdown: the site's own where it answers with it, else made of the HTML that was sold, after the payment. What bounds the cost: pages up to
 * 2 MiB without their coding, once for each time that one is paid for.
 */
import { tokensIn } from '../core/forms.ts';
import { decodedPage } from './decoded.ts';
import type { FinishedPage } from './sale.ts';

/** A longer page is given as the site made it. */
const MAX_HTML_BYTES = 2 * 1_024 * 1_024;
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
 * A page as Markdown; null for one that is neither HTML nor Markdown, too long, of an unknown coding, or without any text. `address`: where it stands, for
 * its links. Never rejects.
 */
export async function asMarkdown({ type = '', encoding, chunks }: FinishedPage, address: string): Promise<MarkdownPage | null> {
  const isHtml = HTML.test(type);
  if (!chunks || !(isHtml || MARKDOWN.test(type))) return null;
  try {
    const decoded = await decodedPage(chunks, encoding, MAX_HTML_BYTES);
    if (decoded === null) return null;
    if (!isHtml) return { body: null, ...counted(decoded.reduce((sum, { length }) => sum + length, 0)) };
    const decoder = new TextDecoder(charsetOf(type));
    const html = decoded.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode();
    const text = await convert(html, address);
    if (text === '') return null;
    const body = new TextEncoder().encode(`${text}\n`);
    const { headers, tokens } = counted(body.length);
    return { headers: { 'content-type': 'text/markdown; charset=utf-8', ...headers }, body, tokens };
  } catch {
    return null; // what was paid for is given as it is
  }
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
export const OF_BODY: readonly string[] = ['content-encoding', 'content-length', 'digest', 'content-digest', 'repr-digest'];
