/** Elements whose content is text to a browser: tags in there are none. */
const TEXT_ELEMENTS = ['script', 'style', 'title', 'textarea', 'noscript', 'template', 'noframes', 'iframe', 'xmp'];

/**
 * The contents of a page's meta tags of that exact name, in order. Only real tags in the head count: not those in comments,
 * scripts or the body, since a visitor can often write there. Linear in the length of the page.
 */
export function findMetaTags(html: string, name: string): string[] {
  const found: string[] = [];
  let at = 0;
  for (;;) {
    const open = html.indexOf('<', at);
    if (open < 0) return found;
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open + 4);
      if (end < 0) return found;
      at = end + 3;
      continue;
    }
    const tag = readTag(html, open);
    if (tag === null) {
      at = open + 1;
      continue;
    }
    at = tag.end;
    if (tag.name === 'body' || tag.name === '/head') return found;
    if (tag.name === 'meta' && tag.attributes.get('name') === name) found.push(tag.attributes.get('content') ?? '');
    if (TEXT_ELEMENTS.includes(tag.name)) {
      const end = indexOfIgnoringCase(html, `</${tag.name}`, at);
      if (end < 0) return found;
      at = end;
    }
  }
}

interface Tag {
  /** Lower case; with its slash when it is an end tag. */
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Just after the tag. */
  readonly end: number;
}

const MAX_NAME_CHARS = 40;
const NAME = /^\/?[a-z][a-z0-9-]*/i;
const ATTRIBUTE = /[\s/]*([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/y;

/** The tag that begins at `open`; null where none does. */
function readTag(html: string, open: number): Tag | null {
  const name = NAME.exec(html.slice(open + 1, open + 1 + MAX_NAME_CHARS))?.[0].toLowerCase();
  if (name === undefined) return null;
  const attributes = new Map<string, string>();
  let at = open + 1 + name.length;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const match = ATTRIBUTE.exec(html);
    if (match === null) break;
    const key = (match[1] ?? '').toLowerCase();
    if (!attributes.has(key)) attributes.set(key, match[2] ?? match[3] ?? match[4] ?? '');
    at = ATTRIBUTE.lastIndex;
  }
  const end = html.indexOf('>', at);
  return { name, attributes, end: end < 0 ? html.length : end + 1 };
}

function indexOfIgnoringCase(text: string, wanted: string, from: number): number {
  for (let at = text.indexOf('</', from); at >= 0; at = text.indexOf('</', at + 2)) {
    if (text.slice(at, at + wanted.length).toLowerCase() === wanted) return at;
  }
  return -1;
}
