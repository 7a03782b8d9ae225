/**
 * What is a page of all that a site answers. Only pages are sold: a feed, a style sheet, a health check, a webhook, a redirect and an error are
 * answered as if there were no gate.
 */

const FILES =
  'css|m?js|map|xml|rss|atom|rdf|ico|png|jpe?g|gif|webp|avif|svg|bmp|woff2?|[ot]tf|eot|mp[34]|m4[av]|web[mp]|og[gv]|wav|vtt|webmanifest|wasm';
const NAMES =
  '(?:app-)?ads\\.txt|humans\\.txt|security\\.txt|manifest\\.json|feed\\.json|_?health[^/]*|live(?:z|ness)?|ready(?:z|ness)?|ping|heartbeat|metrics';
const ASIDE = new RegExp(`/(?:${NAMES})$|\\.(?:${FILES})$`, 'i');

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
const JSON_TYPE = /^application\/(?:[\w.]+\+)?json\b/i;

/** True for a head under which a page may come. `isByName`: what has the name of no page is one only as a document. */
export function mayBePage({ status, type }: Head, path: string, isByName: boolean): boolean {
  if (status < 200 || status > 299 || status === 204 || status === 205) return false;
  if (isByName) return DOCUMENT.test(type);
  // Of JSON only what a page's address ends in: the same page in another form. An API answers its own callers.
  return PAGE.test(type) || (JSON_TYPE.test(type) && /\.json$/i.test(path));
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
