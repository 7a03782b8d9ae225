import type { Font, GlyphRun } from 'fontkit';
import type { FontFile, Language } from './fontFiles.ts';
import { filesOf, opened } from './fontFiles.ts';
import { subsetOf } from './subset.ts';

/** How letters are cut. `narrow` is for references, where it exists; elsewhere it is `regular`. */
export type Cut = 'regular' | 'bold' | 'narrow';

/** A font as text is set in it. */
export interface SetFont {
  /** Its name in the document. */
  readonly name: string;
  /** For pdfkit, which takes whatever can lay out text. */
  readonly font: Font;
  readonly isRightToLeft: boolean;
}

/** The fonts of a document. */
export interface Fonts {
  /** What tells which files a text is set in. */
  languageOf(text: string): Language;
  /** The file that has a letter; null: none has it. Only letters of the texts that the fonts were opened for are known. */
  fileOf(letter: string, language: Language): FontFile | null;
  /** A file in a cut and direction; the same each time. */
  setIn(file: FontFile, cut: Cut, isRightToLeft: boolean): SetFont;
}

const AXES: Readonly<Record<Cut, Readonly<Record<string, number>>>> = {
  regular: { wght: 400, wdth: 100 },
  bold: { wght: 700, wdth: 100 },
  narrow: { wght: 400, wdth: 66 },
};

/** Opens what the letters of some texts need, and `always` beside each of them. */
export async function openFonts(texts: readonly string[], always: string): Promise<Fonts> {
  const ofDocument = languageIn(texts.join(' ')) ?? 'zh';
  const languageOf = (text: string): Language => languageIn(text) ?? ofDocument;
  const known = new Map<string, FontFile | null>();
  const find = async (letters: string, language: Language): Promise<void> => {
    for (const letter of letters) {
      const key = language + letter;
      if (!known.has(key)) known.set(key, await findFile(letter.codePointAt(0) as number, language));
    }
  };
  for (const language of new Set(texts.map(languageOf))) await find(always, language);
  for (const text of texts) await find(text, languageOf(text));
  const set = new Map<string, SetFont>();
  return {
    languageOf,
    fileOf: (letter, language) => known.get(language + letter) ?? null,
    setIn: (file, cut, isRightToLeft) => {
      const name = `${file.name}-${cut}${isRightToLeft ? '-rtl' : ''}`;
      const font = set.get(name) ?? { name, isRightToLeft, font: fontIn(file, cut, isRightToLeft, name) };
      set.set(name, font);
      return font;
    },
  };
}

async function findFile(codePoint: number, language: Language): Promise<FontFile | null> {
  for (const file of filesOf(codePoint, language)) {
    if ((await opened(file)).hasGlyphForCodePoint(codePoint)) return file;
  }
  return null;
}

/** A cut of a file under a name of its own, since pdfkit takes two cuts of a file for one; text goes the way it is told, not by its script. */
function fontIn({ font }: FontFile, cut: Cut, isRightToLeft: boolean, name: string): Font {
  if (!font) throw new Error('this font was not opened');
  const varied = font.getVariation(AXES[cut]);
  const direction = isRightToLeft ? 'rtl' : 'ltr';
  return Object.create(varied, {
    postscriptName: { value: name },
    createSubset: { value: () => subsetOf(varied) },
    layout: {
      value: (text: string) =>
        IS_PLAIN.test(text) ? plainRun(varied, text) : varied.layout(text, undefined, undefined, undefined, direction),
    },
  }) as Font;
}

/** Numbers, times, hexadecimal text: nothing in them is shaped, and most of a long document is made of them. */
const IS_PLAIN = /^[\dA-Fa-fx.:-]+$/;

function plainRun(font: Font, text: string): Pick<GlyphRun, 'glyphs' | 'positions' | 'advanceWidth'> {
  const glyphs = font.glyphsForString(text);
  const positions = glyphs.map(({ advanceWidth: xAdvance }) => ({ xAdvance, yAdvance: 0, xOffset: 0, yOffset: 0 }));
  return { glyphs, positions, advanceWidth: positions.reduce((sum, { xAdvance }) => sum + xAdvance, 0) };
}

/** What kana or hangul say of a text; Han letters alone say nothing. */
function languageIn(text: string): Language | null {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja';
  return /\p{Script=Hangul}/u.test(text) ? 'ko' : null;
}
