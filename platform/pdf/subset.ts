import type { Font, Path } from 'fontkit';

/** What fontkit's subset of TrueType glyphs is made of, where its own way is replaced. */
interface GlyphTables {
  readonly glyf: Uint8Array[];
  readonly loca: { version: number; readonly offsets: number[] };
  readonly hmtx: { readonly metrics: { advance: number; bearing: number }[] };
  offset: number;
}

const ON_CURVE = 1;
const LONG_OFFSETS = 1;
const HEADER_BYTES = 10;

/**
 * The subset of a varied font, for pdfkit to embed. fontkit 2.0.4 cannot write varied glyphs (its encoder calls a buffer by an old
 * signature) and leaves the parts of composed letters where they stand in the default cut; here each glyph is written as its outline.
 */
export function subsetOf(font: Font): unknown {
  return Object.assign(font.createSubset(), {
    _addGlyph(this: GlyphTables, glyphId: number): number {
      const glyph = font.getGlyph(glyphId);
      const outline = encoded(glyph.path);
      this.loca.version = LONG_OFFSETS;
      this.loca.offsets.push(this.offset);
      this.glyf.push(outline);
      this.hmtx.metrics.push({ advance: Math.round(glyph.advanceWidth), bearing: bearingOf(glyph.path) });
      this.offset += outline.length;
      return this.glyf.length - 1;
    },
  });
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly isOnCurve: boolean;
}

/** A simple glyph of the glyf table (OpenType): no instructions, each flag and coordinate written out. Empty for a blank. */
function encoded(path: Path): Uint8Array {
  const contours = contoursOf(path);
  const points = contours.flat();
  if (points.length === 0) return new Uint8Array(0);
  const size = HEADER_BYTES + 2 * contours.length + 2 + 5 * points.length;
  const view = new DataView(new ArrayBuffer(size + ((4 - (size % 4)) % 4)));
  let at = 0;
  const word = (value: number): void => {
    view.setInt16(at, value);
    at += 2;
  };
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  for (const value of [contours.length, Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]) word(value);
  let end = -1;
  for (const contour of contours) {
    end += contour.length;
    word(end);
  }
  word(0);
  for (const { isOnCurve } of points) view.setUint8(at++, isOnCurve ? ON_CURVE : 0);
  for (const list of [xs, ys]) for (const [n, value] of list.entries()) word(value - (list[n - 1] ?? 0));
  return new Uint8Array(view.buffer);
}

/** The contours of a path of TrueType outlines: lines and quadratic curves. */
function contoursOf({ commands }: Path): Point[][] {
  const contours: Point[][] = [];
  for (const { command, args } of commands) {
    if (command === 'moveTo') contours.push([]);
    for (let n = 0; n + 1 < args.length; n += 2) {
      const isOnCurve = command !== 'quadraticCurveTo' || n === 2;
      contours.at(-1)?.push({ x: Math.round(args[n] ?? 0), y: Math.round(args[n + 1] ?? 0), isOnCurve });
    }
  }
  return contours.filter(({ length }) => length > 0);
}

function bearingOf(path: Path): number {
  return path.commands.length === 0 ? 0 : Math.round(path.bbox.minX);
}
