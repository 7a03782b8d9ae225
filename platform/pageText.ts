import { Parser } from 'htmlparser2';

/** What a page says, without its markup. */
export interface PlainPage {
  /** Of the document; null: it has none. */
  readonly title: string | null;
  readonly text: string;
}

/** Octets that are taken at a time: what was read of them is made one text, or a page would be held as millions of words. */
const PIECE = 16 * 1024;
/** Elements in elements. The parser's work on one grows with its depth, so that a page of openings alone would cost hours. */
const MAX_DEPTH = 512;
const MAX_TITLE_CHARS = 500;
/** What is not read by people. */
const UNREAD = new Set(['script', 'style', 'noscript', 'template', 'svg', 'math', 'iframe', 'object', 'canvas']);
const BLOCKS = new Set(
  `address article aside blockquote body br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol
   option p pre section select summary table tr ul`.split(/\s+/),
);

/**
 * What a body of text says: HTML without its markup, anything else as it stands. Null for what is no text: an octet of zero, or elements too deep.
 * `charset` is the one the server named, null for none; an unknown one counts as UTF-8. Its work is linear in the length of the body: up to
 * a quarter of a second of CPU for each hostile megabyte, so it is not for the thread that answers calls.
 */
export function readPageText(
  body: Uint8Array,
  { isHtml, charset }: { readonly isHtml: boolean; readonly charset: string | null },
): PlainPage | null {
  const decoder = decoderOf(charset ?? (isHtml ? charsetOfMarkup(body) : null));
  const reading = isHtml ? openHtml() : openPlain();
  for (let from = 0; from < body.length; from += PIECE) {
    const piece = decoder.decode(body.subarray(from, from + PIECE), { stream: true });
    if (piece.includes('\0') || !reading.take(piece)) return null;
  }
  return reading.take(decoder.decode()) ? reading.end() : null;
}

interface Reading {
  /** False: it cannot be read. */
  take(piece: string): boolean;
  end(): PlainPage;
}

function openPlain(): Reading {
  const pieces: string[] = [];
  return { take: (piece) => pieces.push(piece) > 0, end: () => ({ title: null, text: pieces.join('') }) };
}

function openHtml(): Reading {
  const lines = new Lines();
  let [title, depth, unread, verbatim] = ['', 0, 0, 0];
  let isTitle = false;
  const count = (name: string, by: 1 | -1): void => {
    depth += by;
    if (UNREAD.has(name)) unread += by;
    if (name === 'pre') verbatim += by;
    if (name === 'title') isTitle = by === 1 && title === '';
    if (BLOCKS.has(name)) lines.break();
  };
  const parser = new Parser({
    onopentagname: (name) => {
      count(name, 1);
      if (name === 'li') lines.add('- ');
      if (name === 'td' || name === 'th') lines.add(' ');
    },
    onclosetag: (name) => count(name, -1),
    ontext: (data) => {
      if (unread > 0) return;
      if (isTitle) title = `${title}${data}`.slice(0, MAX_TITLE_CHARS);
      else if (depth > 0 && verbatim > 0) lines.addVerbatim(data);
      else lines.add(data);
    },
  });
  return {
    take: (piece) => {
      parser.write(piece);
      lines.seal();
      return depth <= MAX_DEPTH;
    },
    end: () => {
      parser.end();
      return { title: title.replace(/\s+/g, ' ').trim() || null, text: lines.text() };
    },
  };
}

/** Text as it is read: runs of white space are one space, a block begins a line, empty lines are one at most. */
class Lines {
  /** Words of the present piece; of a whole page they may be millions, which nobody could join in one turn. */
  #pieces: string[] = [];
  readonly #sealed: string[] = [];
  #isBegun = false;
  /** What stands before the next word. */
  #gap: '' | ' ' | '\n' = '';

  add(data: string): void {
    const words = data.replace(/\s+/g, ' ');
    const inner = words.trim();
    if (words.startsWith(' ') && this.#gap === '') this.#gap = ' ';
    if (inner === '') return;
    this.#put(inner);
    if (words.endsWith(' ')) this.#gap = ' ';
  }

  addVerbatim(data: string): void {
    if (data !== '') this.#put(data);
  }

  break(): void {
    this.#gap = '\n';
  }

  /** Makes one text of what was read since the last time. */
  seal(): void {
    if (this.#pieces.length === 0) return;
    this.#sealed.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  text(): string {
    this.seal();
    return this.#sealed.join('');
  }

  #put(words: string): void {
    if (this.#isBegun && this.#gap !== '') this.#pieces.push(this.#gap);
    this.#isBegun = true;
    this.#pieces.push(words);
    this.#gap = '';
  }
}

function decoderOf(label: string | null): TextDecoder {
  try {
    return new TextDecoder(label ?? 'utf-8');
  } catch {
    return new TextDecoder('utf-8');
  }
}

/** The charset that a document names in its first kilobyte. */
function charsetOfMarkup(body: Uint8Array): string | null {
  const start = Buffer.from(body.subarray(0, 1_024)).toString('latin1');
  return /<meta[^>]{0,200}charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})/i.exec(start)?.[1] ?? null;
}
