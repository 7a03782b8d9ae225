/**
 * What is a page of all that a site answers. Only pages are sold: a feed, a style sheet, a health check, a webhook, a redirect and an error are
 * answered as if there were no gate.
 */

const FILES =
  'css|m?js|map|xml|rss|atom|rdf|ico|png|jpe?g|gif|webp|avif|svg|bmp|woff2?|[ot]tf|eot|mp[34]|m4[av]|web[mp]|og[gv]|wav|vtt|webmanifest|wasm';
const NAMES =
  '(?:app-)?ads\\.txt|humans\\.txt|security\\.txt|manifest\\.json|feed\\.json|_?health(?:z|[-_]?checks?)?|live(?:z|ness)?|ready(?:z|ness)?|ping|heartbeat|metrics';
/** Where sites answer programs of their own. */
const INTERFACES = '(?:api|graphql|wp-json)';
const ASIDE = new RegExp(`^/${INTERFACES}(?:/|$)|/(?:${NAMES})$|\\.(?:${FILES})$`, 'i');

/**
 * True for a plain path that is no page by its name: nobody is asked what it costs before the site has answered. The name alone gives nothing
 * away, since an answer that is a page after all is offered. `pages`: endings that the owner names as pages.
 */
export function isAside(path: string, pages: readonly string[] = []): boolean {
  return ASIDE.test(path) && !pages.some((ending) => path.toLowerCase().endsWith(ending));
}

/** An answer as its head tells it. */
export interface Head {
  readonly status: number;
  /** Its Content-Type; '' for none. */
  readonly type: string;
}

const DOCUMENT = /^(?:text\/html|application\/xhtml\+xml)\b/i;
const PAGE = /^(?:text\/(?:html|plain|(?:x-)?markdown)|application\/(?:xhtml\+xml|pdf|epub\+zip))\b|^$/i;
const NO_PAGE =
  /^(?:(?:image|font)\/|text\/(?:css|(?:java|ecma)script|event-stream)\b|application\/(?:(?:x-)?(?:java|ecma)script|(?:rss|atom)\+xml|manifest\+json|wasm|font-[\w-]+|vnd\.ms-fontobject)\b)/i;

/** How an address was asked for: as a page may be, under the name of none, or with a method that gets none. */
export type Asked = 'page' | 'name' | 'method';

/**
 * True for a head under which a page may come. Where a page is asked for, everything is one but what no page is made of: a reader chooses by
 * headers and query in which form a site answers, and none of them is free. Under the name of none only a document is a page, and after
 * another method what is a page by its type.
 */
export function mayBePage({ status, type }: Head, asked: Asked): boolean {
  if (status < 200 || status > 299 || status === 204 || status === 205) return false;
  if (asked === 'name') return DOCUMENT.test(type);
  return asked === 'method' ? PAGE.test(type) : !NO_PAGE.test(type);
}

/** More bytes than this are no acknowledgement. */
export const ACKNOWLEDGEMENT_BYTES = 256;

/**
 * True for a short answer that is no document, such as the `ok` of a webhook or a health check, whatever type its server gives it. `chunks`: all of
 * the answer; undefined for one that goes on.
 */
export function isAcknowledgement(chunks: readonly Uint8Array[] | undefined): boolean {
  if (chunks === undefined || chunks.reduce((sum, { length }) => sum + length, 0) > ACKNOWLEDGEMENT_BYTES) return false;
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what is compressed has them, and may be a page
    return !/[\0-\x08]|^\s*<(?:!doctype|html|head|body)\b/i.test(text);
  } catch {
    return false;
  }
}
