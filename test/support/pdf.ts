/** Reads what a PDF of ours says: its fonts are embedded, so letters are looked up in what each font says of its glyphs. */
import { inflateSync } from 'node:zlib';

/** A piece of text in one font; `x` and `y` are where it begins, from the top left, in points. Right-to-left text stands as it is drawn. */
export interface PdfText {
  readonly page: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
  readonly text: string;
  /** The number of its marked content on its page; null: it is an artifact. */
  readonly mark: number | null;
}

interface PdfFont {
  readonly letters: ReadonlyMap<number, string>;
  readonly widths: readonly number[];
}

/** What a content stream is made of here: marked content begins, ends, and text. */
const PIECES =
  /\/\w+ <<\/MCID (\d+)>> BDC|(\/Artifact) BMC|\/Span <<\/ActualText <feff([0-9a-f]*)>>> BDC|\b(EMC)\b|BT\n1 0 0 1 ([-\d.]+) ([-\d.]+) Tm\n\/(F\d+) ([\d.]+) Tf\n([^B]*?)\nET/g;

/** Every piece of text, page by page, in the order in which it was drawn. Throws for text that is neither tagged nor an artifact. */
export function textsOf(pdf: Buffer): PdfText[] {
  const objects = objectsOf(pdf);
  const fonts = fontsOf(objects);
  return pagesOf(objects).flatMap(({ head }, page) => {
    const content = objects.get(reference(head, 'Contents') ?? '')?.stream() ?? '';
    const height = Number(/\/MediaBox \[0 0 [\d.]+ ([\d.]+)\]/.exec(head)?.[1]);
    const open: { readonly mark: number | null; readonly actual: string | null }[] = [];
    const texts: PdfText[] = [];
    for (const [, mark, artifact, actual, end, x, y, name, points, shown] of content.matchAll(PIECES)) {
      const within = open.at(-1);
      if (mark !== undefined) open.push({ mark: Number(mark), actual: null });
      else if (artifact !== undefined) open.push({ mark: null, actual: null });
      else if (actual !== undefined) open.push({ mark: within?.mark ?? null, actual: lettersOf(actual) });
      else if (end !== undefined) open.pop();
      else {
        if (!within) throw new Error(`a text of page ${page} is neither tagged nor an artifact`);
        const font = fonts.get(name ?? '');
        const size = Number(points);
        const glyphs = [...(shown ?? '').matchAll(/<([0-9a-f]*)>/g)].flatMap(([, hex]) => (hex ?? '').match(/.{4}/g) ?? []);
        const ids = glyphs.map((glyph) => Number.parseInt(glyph, 16));
        texts.push({
          page,
          x: Number(x),
          y: height - Number(y),
          width: (ids.reduce((sum, id) => sum + (font?.widths[id] ?? 0), 0) * size) / 1000,
          size,
          text: within.actual ?? ids.map((id) => font?.letters.get(id) ?? '').join(''),
          mark: within.mark,
        });
      }
    }
    if (open.length > 0) throw new Error(`marked content of page ${page} does not end`);
    return texts;
  });
}

/** An element of a PDF's structure, with its text where it holds no other. */
export interface PdfElement {
  readonly tag: string;
  readonly text: string;
  /** What the head of a row or column says of itself. */
  readonly scope: string | null;
  readonly kids: readonly PdfElement[];
}

/** What a screen reader is told: the elements under the document, in their order. Throws where an element is not where its content says it is. */
export function structureOf(pdf: Buffer): PdfElement[] {
  const objects = objectsOf(pdf);
  const texts = Map.groupBy(textsOf(pdf), ({ page, mark }) => `${page} ${mark}`);
  const ids = new Map([...objects].map(([id, object]) => [object, id]));
  const pages = new Map(pagesOf(objects).map((page, n) => [ids.get(page), n]));
  const root = objects.get(
    reference([...objects.values()].find(({ head }) => /\/Type \/Catalog/.test(head))?.head ?? '', 'StructTreeRoot') ?? '',
  );
  const parents = [...(/\/Nums\[([^\]]*)\]/.exec(root?.head ?? '')?.[1] ?? '').matchAll(/(\d+) (\d+) 0 R/g)].map(
    ([, key, id]) => {
      return [Number(key), objects.get(id ?? '')?.head.match(/\d+(?= 0 R)/g) ?? []] as const;
    },
  );
  const parentsOf = new Map(parents);
  const read = (id: string, parent: string | undefined): PdfElement => {
    const head = objects.get(id)?.head ?? '';
    if (reference(head, 'P') !== parent) throw new Error(`element ${id} names another parent`);
    const kids = /\/K\[([^\]]*)\]/.exec(head)?.[1]?.match(/\d+(?= 0 R)/g) ?? [];
    const page = pages.get(reference(head, 'Pg'));
    const mark = Number(/\/K (\d+)>>/.exec(head)?.[1] ?? Number.NaN);
    if (page !== undefined && parentsOf.get(page)?.[mark] !== id) throw new Error(`the content of element ${id} names another`);
    return {
      tag: /\/S\/(\w+)/.exec(head)?.[1] ?? '',
      text: (texts.get(`${page} ${mark}`) ?? []).map(({ text }) => text).join(''),
      scope: /\/Scope\/(\w+)/.exec(head)?.[1] ?? null,
      kids: kids.map((kid) => read(kid, id)),
    };
  };
  const whole = reference(root?.head ?? '', 'K') ?? '';
  return [...read(whole, root && ids.get(root)).kids];
}

/** The lines of a PDF, cells of a line two blanks apart. */
export function linesOf(pdf: Buffer): string[] {
  const lines = Map.groupBy(textsOf(pdf), ({ page, y }) => `${page} ${y.toFixed(1)}`);
  return [...lines.values()].map((pieces) => {
    let end: number | null = null;
    let line = '';
    for (const { x, width, size, text } of [...pieces].sort((a, b) => a.x - b.x)) {
      if (end !== null && x - end > size * 0.4) line += '  ';
      line += text;
      end = x + width;
    }
    return line;
  });
}

/** The text a PDF shows, line by line. */
export function textOf(pdf: Buffer): string {
  return linesOf(pdf).join('\n');
}

interface PdfObject {
  readonly head: string;
  stream(): string;
}

function pagesOf(objects: ReadonlyMap<string, PdfObject>): PdfObject[] {
  return [...objects.values()].filter(({ head }) => /\/Type \/Page\b/.test(head));
}

/** Every object, those of compressed streams, too. */
function objectsOf(pdf: Buffer): Map<string, PdfObject> {
  const raw = pdf.toString('latin1');
  const objects = new Map<string, PdfObject>();
  for (const match of raw.matchAll(/(?:^|\n)(\d+) 0 obj\n/g)) {
    const start = match.index + match[0].length;
    const end = raw.indexOf('\nendobj', start);
    const body = raw.slice(start, end);
    const at = body.indexOf('stream\n');
    const stream = (): string => {
      const bytes = pdf.subarray(start + at + 'stream\n'.length, start + body.lastIndexOf('\nendstream'));
      return /\/FlateDecode/.test(body.slice(0, at)) ? inflateSync(bytes).toString('latin1') : bytes.toString('latin1');
    };
    objects.set(match[1] ?? '', { head: at < 0 ? body : body.slice(0, at), stream: at < 0 ? () => '' : stream });
  }
  for (const { head, stream } of [...objects.values()]) {
    if (!/\/Type \/ObjStm/.test(head)) continue;
    const text = stream();
    const first = Number(/\/First (\d+)/.exec(head)?.[1]);
    const index = text.slice(0, first).trim().split(/\s+/).map(Number);
    for (let n = 0; n < index.length; n += 2) {
      const end = index[n + 3] === undefined ? text.length : first + (index[n + 3] as number);
      objects.set(String(index[n]), { head: text.slice(first + (index[n + 1] as number), end), stream: () => '' });
    }
  }
  return objects;
}

/** UTF-16 in hex. */
function lettersOf(hex: string): string {
  return String.fromCharCode(...(hex.match(/.{4}/g) ?? []).map((code) => Number.parseInt(code, 16)));
}

function fontsOf(objects: ReadonlyMap<string, PdfObject>): Map<string, PdfFont> {
  const fonts = new Map<string, PdfFont>();
  for (const { head } of objects.values()) {
    for (const [, name = '', id = ''] of head.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      if (!fonts.has(name)) fonts.set(name, fontOf(objects, id));
    }
  }
  return fonts;
}

function fontOf(objects: ReadonlyMap<string, PdfObject>, id: string): PdfFont {
  const head = objects.get(id)?.head ?? '';
  const descendant = objects.get(/\/DescendantFonts \[(\d+) 0 R\]/.exec(head)?.[1] ?? '')?.head ?? '';
  const widths = (/\/W \[0 \[([^\]]*)\]/.exec(descendant)?.[1] ?? '').trim().split(/\s+/).map(Number);
  const letters = new Map<number, string>();
  const map = objects.get(reference(head, 'ToUnicode') ?? '')?.stream() ?? '';
  for (const [, first = '', list = ''] of map.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/g)) {
    for (const [n, [, codes = '']] of [...list.matchAll(/<([^>]*)>/g)].entries()) {
      const units = codes.split(' ').filter((code) => code !== '');
      letters.set(Number.parseInt(first, 16) + n, String.fromCharCode(...units.map((code) => Number.parseInt(code, 16))));
    }
  }
  return { letters, widths };
}

function reference(head: string, name: string): string | undefined {
  return new RegExp(`/${name} (\\d+) 0 R`).exec(head)?.[1];
}
