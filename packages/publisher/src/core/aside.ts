/**
 * What is a page of all that a site answers. Only pages are sold: a feed, a style sheet, a health check, a webhook, a redirect and an error are
 * answered as if there were no gate.
 */

const FEEDS = 'xml|rss|atom|rdf';
const DATA = 'map|webmanifest';
const MEDIA = 'ico|png|jpe?g|gif|webp|avif|svg|bmp|woff2?|[ot]tf|eot|mp[34]|m4[av]|web[mp]|og[gv]|wav|vtt|wasm';
const FILE = new RegExp(`\\.(?:css|m?js|${FEEDS}|${DATA}|${MEDIA})$`, 'i');
const NAMES = '(?:app-)?ads\\.txt|humans\\.txt|security\\.txt|manifest\\.json|feed\\.json';
/** Names of health checks, which are words that an article may have as well. */
const CHECKS = '_?health(?:z|[-_]?checks?)?|live(?:z|ness)?|ready(?:z|ness)?|ping|heartbeat|metrics';
/** Where sites answer programs of their own. */
const INTERFACE = /^\/(?:api|graphql|wp-json)(?:\/|$)/i;
const NAME = new RegExp(`/(?:${NAMES})$`, 'i');
const CHECK = new RegExp(`/(?:${CHECKS})$`, 'i');
/** Servers have their health checks at the root, and their articles seldom. */
const ROOT_CHECK = new RegExp(`^/(?:${CHECKS})$`, 'i');

/**
 * True for a plain path that is no page by its name: nobody is asked what it costs before the site has answered. The name alone gives nothing
 * away, since an answer that is a page after all is offered. `pages`: endings that the owner names as pages.
 */
export function isAside(path: string, pages: readonly string[] = []): boolean {
  const isNamedSo = INTERFACE.test(path) || NAME.test(path) || CHECK.test(path) || FILE.test(path);
  return isNamedSo && !pages.some((ending) => path.toLowerCase().endsWith(ending));
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

/** Types that servers give files by their endings, besides those of which no page is made. */
const OWN_TYPES: readonly (readonly [ending: RegExp, type: RegExp])[] = [
  [new RegExp(`\\.(?:${FEEDS})$`, 'i'), /^(?:text|application)\/(?:[\w.-]+\+)?xml\b/i],
  [new RegExp(`\\.(?:${DATA})$`, 'i'), /^(?:application\/(?:json|octet-stream)|text\/plain)\b/i],
  [new RegExp(`\\.(?:${MEDIA})$`, 'i'), /^(?:(?:audio|video)\/|application\/(?:ogg|octet-stream|(?:x-)?font)\b|text\/vtt\b)/i],
];

/**
 * How an address was asked for: as a page may be, under a name of files or of health checks that an article may have as well, under one that no
 * article has, with a method that gets none, or as a form of an article.
 */
export type Asked = 'page' | 'file' | 'name' | 'method' | 'form';

/** How a path is asked for that `isAside`. */
export function nameOf(path: string): 'file' | 'name' {
  return INTERFACE.test(path) || NAME.test(path) || ROOT_CHECK.test(path) ? 'name' : 'file';
}

/**
 * True for a head under which a page may come. Where a page is asked for, everything is one but what no page is made of: a reader chooses by
 * headers and query in which form a site answers, and none of them is free. Under the name of a file the same holds, but for the types of such
 * files: an article may be called `what-is-node.js`, and one below the root `ping`. Under another name of no page only a document is one, and after
 * another method what is a page by its type. A form of an article is one whatever its type: its feed has its text, too.
 */
export function mayBePage({ status, type }: Head, asked: Asked, path: string): boolean {
  if (status < 200 || status > 299 || status === 204 || status === 205) return false;
  if (asked === 'form') return true;
  if (asked === 'name') return DOCUMENT.test(type);
  if (asked === 'method') return PAGE.test(type);
  const isFile = asked === 'file' && OWN_TYPES.some(([ending, own]) => ending.test(path) && own.test(type));
  return !isFile && !NO_PAGE.test(type);
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
