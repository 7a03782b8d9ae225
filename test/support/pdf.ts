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
}

interface PdfFont {
  readonly letters: ReadonlyMap<number, string>;
  readonly widths: readonly number[];
}

/** Every piece of text, page by page, in the order in which it was drawn. */
export function textsOf(pdf: Buffer): PdfText[] {
  const objects = objectsOf(pdf);
  const fonts = fontsOf(objects);
  const pages = [...objects.values()].filter(({ head }) => /\/Type \/Page\b/.test(head));
  return pages.flatMap(({ head }, page) => {
    const content = objects.get(reference(head, 'Contents') ?? '')?.stream() ?? '';
    const height = Number(/\/MediaBox \[0 0 [\d.]+ ([\d.]+)\]/.exec(head)?.[1]);
    return [...content.matchAll(/1 0 0 1 ([-\d.]+) ([-\d.]+) Tm\n\/(F\d+) ([\d.]+) Tf[^[]*\[([^\]]*)\] TJ/g)].map(
      ([, x, y, name, points, list]) => {
        const font = fonts.get(name ?? '');
        const size = Number(points);
        const glyphs = [...(list ?? '').matchAll(/<([0-9a-f]*)>/g)].flatMap(([, hex]) => (hex ?? '').match(/.{4}/g) ?? []);
        const ids = glyphs.map((glyph) => Number.parseInt(glyph, 16));
        const width = (ids.reduce((sum, id) => sum + (font?.widths[id] ?? 0), 0) * size) / 1000;
        return {
          page,
          x: Number(x),
          y: height - Number(y),
          width,
          size,
          text: ids.map((id) => font?.letters.get(id) ?? '').join(''),
        };
      },
    );
  });
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
  return objects;
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
