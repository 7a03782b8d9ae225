import type { Bidi } from 'bidi-js';
import bidiFactory from 'bidi-js';
import { isAscii } from './cleaned.ts';
import type { FontFile, Language } from './fontFiles.ts';
import type { Cut, Fonts, SetFont } from './fonts.ts';
import type { Shaped } from './shaped.ts';

/** Blocks of right-to-left scripts and the Arabic numbers, and the marks that set a direction. */
const RUNS_LEFT =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** False of text that runs from left to right as a whole (UAX #9), which nearly all does: nobody needs to work out its levels. */
export function mayRunLeft(text: string): boolean {
  return RUNS_LEFT.test(text);
}

/** A piece of text in one font and direction; pieces stand as they are drawn, from left to right. */
export interface Run {
  /** In the order in which it is read. */
  readonly text: string;
  readonly isRightToLeft: boolean;
  readonly set: SetFont;
  readonly shaped: Shaped;
  /** In units of the font's size. */
  readonly width: number;
}

/** A text ready to be drawn. */
export interface Line {
  readonly runs: readonly Run[];
  readonly width: number;
}

/** Sets texts in the fonts of a document; what no font has is drawn as MISSING, and `lacked` is true from then on. */
export interface Setter {
  line(text: string, cut: Cut, direction?: 'auto' | 'ltr'): Line;
  /** Whether a font has a letter of a text. */
  isShown(letter: string, text: string): boolean;
  readonly lacked: boolean;
}

/** Stands for a letter that no font has. */
export const MISSING = '□';
/** Longer texts are hardly ever said twice. */
const MAX_REMEMBERED_LETTERS = 24;
const MAX_REMEMBERED = 1_000;
/** Blanks, marks and joiners go with what is before them, if its font has them: that keeps words and what is joined in one piece. */
const GOES_WITH = /[\s\p{M}\u200c\u200d]/u;
// Its types are of its other build; this one is the function itself.
const bidi = (bidiFactory as unknown as () => Bidi)();

/** A setter; lines are worked out once, and remembered. */
export function createSetter(fonts: Fonts): Setter {
  const lines = new Map<string, Line>();
  let lacked = false;
  const pieceOf = (text: string, language: Language): Piece[] | null => {
    const file = isAscii(text) ? fonts.fileOf(text.charAt(0), language) : null;
    return file && [{ file, level: 0, text }];
  };
  const piecesOf = (text: string, language: Language, direction: 'auto' | 'ltr'): Piece[] => {
    const levels = mayRunLeft(text) ? bidi.getEmbeddingLevels(text, direction).levels : null;
    const pieces: Piece[] = [];
    let at = 0;
    for (const letter of text) {
      const level = levels?.[at] ?? 0;
      at += letter.length;
      const last = pieces.at(-1);
      const isMark = GOES_WITH.test(letter);
      let shown = level % 2 === 1 ? (bidi.getMirroredCharacter(letter) ?? letter) : letter;
      const isOwn = last !== undefined && (last.file.hasBlanks || letter.trim() !== '');
      const stays = isOwn && isMark && last.file.font?.hasGlyphForCodePoint(letter.codePointAt(0) as number);
      let file = stays ? last.file : (fonts.fileOf(shown, language) ?? fonts.fileOf(letter, language));
      if (!file) {
        lacked = true;
        shown = MISSING;
        file = isMark ? null : fonts.fileOf(MISSING, language);
      }
      if (!file) continue;
      if (last?.file === file && last.level === level) last.text += shown;
      else pieces.push({ file, level, text: shown });
    }
    return inOrder(pieces);
  };
  const set = (text: string, cut: Cut, direction: 'auto' | 'ltr'): Line => {
    const language = fonts.languageOf(text);
    const runs = (pieceOf(text, language) ?? piecesOf(text, language, direction)).map(({ file, level, text: piece }) => {
      const isRightToLeft = level % 2 === 1;
      const setFont = fonts.setIn(file, cut, isRightToLeft);
      const shaped = setFont.shape(piece);
      return { text: piece, isRightToLeft, set: setFont, shaped, width: shaped.width / setFont.unitsPerEm };
    });
    return { runs, width: runs.reduce((sum, { width }) => sum + width, 0) };
  };
  return {
    line: (text, cut, direction = 'auto') => {
      if (text.length > MAX_REMEMBERED_LETTERS) return set(text, cut, direction);
      const key = `${cut}${direction}${text}`;
      const before = lines.get(key);
      if (before) return before;
      if (lines.size >= MAX_REMEMBERED) lines.clear();
      const line = set(text, cut, direction);
      lines.set(key, line);
      return line;
    },
    isShown: (letter, text) => fonts.fileOf(letter, fonts.languageOf(text)) !== null,
    get lacked() {
      return lacked;
    },
  };
}

interface Piece {
  readonly file: FontFile;
  readonly level: number;
  text: string;
}

/** Pieces in the order in which they stand on paper (UAX #9, rule L2): from the highest level down, what is as high is turned round. */
function inOrder(pieces: readonly Piece[]): Piece[] {
  const ordered = [...pieces];
  const highest = Math.max(0, ...pieces.map(({ level }) => level));
  for (let level = highest; level > 0; level--) {
    for (let start = 0; start < ordered.length; start++) {
      let end = start;
      while (end < ordered.length && (ordered[end] as Piece).level >= level) end++;
      if (end > start) ordered.splice(start, end - start, ...ordered.slice(start, end).reverse());
      start = end;
    }
  }
  return ordered;
}
