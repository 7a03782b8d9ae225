import { deflateSync } from 'node:zlib';
import type PDFDocument from 'pdfkit';
import type { Run } from './runs.ts';
import type { DrawnGlyph, Shaped } from './shaped.ts';

/** Where a piece of text begins: `x` from the left, `y` its baseline from the top, in points. */
export interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  /** As #rrggbb. */
  readonly colour: string;
}

/** A line from left to right; in points. */
export interface LinePlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly thickness: number;
  readonly colour: string;
}

/** Draws on the page that pdfkit is at. */
export interface Ink {
  text(run: Run, place: TextPlace): void;
  line(place: LinePlace): void;
  /** Begins marked content (ISO 32000-2 §14.6), which ends with `close` on the same page: `mark` is its tag and properties. */
  open(mark: string): void;
  close(): void;
  /** Puts on its page what was drawn; before pdfkit goes to another. */
  flush(): void;
  /** The same, after which nothing is drawn on this page. */
  finishPage(): void;
}

/** What pdfkit has of an embedded font. */
interface Embedded {
  readonly id: string;
  readonly subset: { includeGlyph(id: number): number };
  /** By the glyph's number in the subset; thousandths of the font's size. */
  readonly widths: number[];
  readonly unicode: (readonly number[])[];
  /** Thousandths of the font's size in one of its units. */
  readonly scale: number;
  ref(): unknown;
}

/** The stream of a page; pdfkit compresses it unless told that this was done. */
interface Content {
  buffer: Uint8Array[];
  compress: boolean;
  readonly data: Record<string, unknown>;
  write(bytes: Uint8Array): void;
}

type Pdf = InstanceType<typeof PDFDocument> & {
  readonly _font: Embedded;
  readonly page: { readonly height: number; readonly fonts: Record<string, unknown>; readonly content: Content };
};

/** A font of the document: pdfkit's, and how its glyphs are written, by the letter or glyph that they come from. */
interface PageFont {
  readonly embedded: Embedded;
  readonly codes: Map<DrawnGlyph, string>;
  /** Glyphs that stand for other letters, too, and were first written for those. */
  readonly misread: Set<DrawnGlyph>;
}

/**
 * Ink for a document. It writes the operators of a page (ISO 32000-2 §8, §9) as one text: pdfkit's own calls shape each text three times,
 * and write ten operators for it, each by itself.
 */
export function createInk(given: InstanceType<typeof PDFDocument>): Ink {
  const pdf = given as Pdf;
  const fonts = new Map<string, PageFont>();
  let operators: string[] = [];
  let fill = '';
  let stroke = '';
  const fontOf = ({ name, font }: Run['set']): PageFont => {
    const before = fonts.get(name);
    if (before) return before;
    pdf.registerFont(name, font as never);
    pdf.font(name);
    const made = { embedded: pdf._font, codes: new Map<DrawnGlyph, string>(), misread: new Set<DrawnGlyph>() };
    fonts.set(name, made);
    return made;
  };
  const flush = (): void => {
    if (operators.length === 0) return;
    // A page of pdfkit's counts from its top.
    pdf.page.content.write(Buffer.from(`q\n1 0 0 -1 0 ${pdf.page.height} cm\n${operators.join('\n')}\nQ\n`, 'latin1'));
    [operators, fill, stroke] = [[], '', ''];
  };
  return {
    text: ({ text, isRightToLeft, set, shaped }, place) => {
      const font = fontOf(set);
      pdf.page.fonts[font.embedded.id] ??= font.embedded.ref();
      if (fill !== place.colour) operators.push(`${rgb(place.colour)} rg`);
      fill = place.colour;
      const drawn = textOperators(font, shaped, { ...place, y: pdf.page.height - place.y });
      const isRead =
        isRightToLeft || (shaped.isSpelt && (font.misread.size === 0 || !shaped.glyphs.some((one) => font.misread.has(one))));
      operators.push(isRead ? drawn : `/Span <</ActualText <${utf16(text)}>>> BDC\n${drawn}\nEMC`);
    },
    line: ({ x, y, width, thickness, colour }) => {
      const height = points(pdf.page.height - y);
      if (stroke !== colour) operators.push(`${rgb(colour)} RG`);
      stroke = colour;
      operators.push(`${thickness} w ${points(x)} ${height} m ${points(x + width)} ${height} l S`);
    },
    open: (mark) => void operators.push(mark),
    close: () => void operators.push('EMC'),
    flush,
    finishPage: () => {
      flush();
      const { content } = pdf.page;
      content.buffer = [deflateSync(Buffer.concat(content.buffer), { level: LEVEL })];
      content.compress = false;
      content.data.Filter = 'FlateDecode';
    },
  };
}

/** A third of the time of zlib's usual level, for a tenth more bytes. */
const LEVEL = 4;
const IN_PLACE = [0, 0] as const;

/** Glyphs of a run; `y` counts from the bottom of the page. A glyph that is moved has a place of its own, and so has the next. */
function textOperators(font: PageFont, { glyphs, advances, offsets }: Shaped, place: Omit<TextPlace, 'colour'>): string {
  const { embedded, codes } = font;
  const { x, y, size } = place;
  const scale = (embedded.scale * size) / 1000;
  let content = `BT\n1 0 0 1 ${points(x)} ${points(y)} Tm\n/${embedded.id} ${points(size)} Tf\n[<`;
  let at = x;
  let isMoved = false;
  for (let n = 0; n < glyphs.length; n++) {
    const glyph = glyphs[n] as DrawnGlyph;
    const [right, up] = offsets?.[n] ?? IN_PLACE;
    if (isMoved || right !== 0 || up !== 0) {
      content += `>] TJ\n1 0 0 1 ${points(at + right * scale)} ${points(y + up * scale)} Tm\n[<`;
      isMoved = right !== 0 || up !== 0;
    }
    const advance = advances[n] as number;
    const closer = glyph.advanceWidth - advance;
    content += codes.get(glyph) ?? include(font, glyph);
    if (closer !== 0) content += `> ${points(closer * embedded.scale)} <`;
    at += advance * scale;
  }
  return `${content}>] TJ\nET`;
}

/** Takes a glyph into the document; returns how it is written. */
function include({ embedded, codes, misread }: PageFont, glyph: DrawnGlyph): string {
  const { subset, widths, unicode, scale } = embedded;
  const place = subset.includeGlyph(glyph.id);
  widths[place] ??= glyph.advanceWidth * scale;
  unicode[place] ??= glyph.codePoints;
  if (unicode[place]?.join() !== glyph.codePoints.join()) misread.add(glyph);
  const code = place.toString(16).padStart(4, '0');
  codes.set(glyph, code);
  return code;
}

/** A text as a PDF writes any letter: UTF-16 after its mark, in hex. */
function utf16(text: string): string {
  return Buffer.from(`\ufeff${text}`, 'utf16le').swap16().toString('hex');
}

/** Thousandths of a point are finer than any printer. */
function points(length: number): number {
  return Math.round(length * 1000) / 1000;
}

function rgb(colour: string): string {
  return [1, 3, 5].map((at) => points(Number.parseInt(colour.slice(at, at + 2), 16) / 255)).join(' ');
}
