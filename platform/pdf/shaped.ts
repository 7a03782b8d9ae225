import type { Font } from 'fontkit';

/** A glyph, and the letters that it stands for. */
export interface DrawnGlyph {
  readonly id: number;
  /** Without the letters beside it; in the font's units. */
  readonly advanceWidth: number;
  readonly codePoints: readonly number[];
}

/** Glyphs as they stand beside each other, from left to right; widths in the font's units. */
export interface Shaped {
  readonly glyphs: readonly DrawnGlyph[];
  /** From each glyph to the next. */
  readonly advances: readonly number[];
  /** How far each glyph is moved from its place; null: none is. */
  readonly offsets: readonly (readonly [x: number, y: number])[] | null;
  readonly width: number;
  /**
   * Whether the letters of its glyphs, in their order, are its text. They are not where glyphs stand in another order than letters (Devanagari,
   * Bengali, Tamil), or several are made of one letter. Text from right to left is said to be: who reads the file turns it round.
   */
  readonly isSpelt: boolean;
}

/** Any text as fontkit shapes it. */
export function shapedWhole(font: Font, text: string, direction: 'ltr' | 'rtl'): Shaped {
  const { glyphs, positions, advanceWidth } = font.layout(text, undefined, undefined, undefined, direction);
  return {
    glyphs,
    advances: positions.map(({ xAdvance }) => xAdvance),
    offsets: positions.some(isMoved) ? positions.map(({ xOffset, yOffset }) => [xOffset, yOffset] as const) : null,
    width: advanceWidth,
    isSpelt: direction === 'rtl' || text === String.fromCodePoint(...glyphs.flatMap(({ codePoints }) => codePoints)),
  };
}

/** Latin, Greek and Cyrillic without marks: one glyph each, moved by its neighbour alone. */
const IS_SIMPLE = /^[ -~\u00a0-\u00ac\u00ae-\u024f\u0370-\u0482\u048a-\u052f\u2010-\u2026]*$/;
/** Most pairs that are remembered of one cut. */
const MAX_PAIRS = 20_000;
const NOTHING = 0;

/** Shapes a simple text; null: it is not, or the font joins or moves some of its letters. */
export type Pairs = (text: string) => Shaped | null;

/**
 * Shapes simple text from its pairs of letters: fontkit is asked for each pair once, in place of for each text, which takes a hundred times
 * as long.
 */
export function createPairs(font: Font): Pairs {
  const letters = new Map<number, DrawnGlyph>();
  const pairs = new Map<number, number>();
  const letterOf = (code: number): DrawnGlyph => {
    const { id, advanceWidth } = font.glyphForCodePoint(code);
    const letter = { id, advanceWidth, codePoints: [code] };
    letters.set(code, letter);
    return letter;
  };
  const advanceOf = (first: number, second: number, pair: number): number => {
    const both = second === NOTHING ? [first] : [first, second];
    const { glyphs, positions } = font.layout(String.fromCharCode(...both));
    const isPlain = glyphs.length === both.length && !positions.some(isMoved);
    const isSame = isPlain && both.every((code, n) => glyphs[n]?.id === (letters.get(code) ?? letterOf(code)).id);
    const advance = isSame ? (positions[0]?.xAdvance ?? Number.NaN) : Number.NaN;
    if (pairs.size >= MAX_PAIRS) pairs.clear();
    pairs.set(pair, advance);
    return advance;
  };
  return (text) => {
    if (!IS_SIMPLE.test(text)) return null;
    const glyphs = new Array<DrawnGlyph>(text.length);
    const advances = new Array<number>(text.length);
    let width = 0;
    for (let n = 0, code = text.charCodeAt(0); n < text.length; n++) {
      const next = n + 1 < text.length ? text.charCodeAt(n + 1) : NOTHING;
      const pair = code * 0x1_0000 + next;
      const advance = pairs.get(pair) ?? advanceOf(code, next, pair);
      if (Number.isNaN(advance)) return null;
      glyphs[n] = letters.get(code) ?? letterOf(code);
      advances[n] = advance;
      width += advance;
      code = next;
    }
    return { glyphs, advances, offsets: null, width, isSpelt: true };
  };
}

function isMoved({ xOffset, yOffset }: { readonly xOffset: number; readonly yOffset: number }): boolean {
  return xOffset !== 0 || yOffset !== 0;
}
