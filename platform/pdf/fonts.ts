import type { Font } from 'fontkit';
import { isAscii } from './cleaned.ts';
import type { FontFile, Language } from './fontFiles.ts';
import { filesOf, opened } from './fontFiles.ts';
import type { Pairs, Shaped } from './shaped.ts';
import { createPairs, shapedWhole } from './shaped.ts';
import { subsetOf } from './subset.ts';

/** How letters are cut. `narrow` is for references, where it exists; elsewhere it is `regular`. */
export type Cut = 'regular' | 'bold' | 'narrow';

/** A font as text is set in it. */
export interface SetFont {
  /** Its name in the document. */
  readonly name: string;
  /** For pdfkit, which embeds it. */
  readonly font: Font;
  readonly unitsPerEm: number;
  readonly shape: (text: string) => Shaped;
}

/** The fonts of a document. */
export interface Fonts {
  /** What tells which files a text is set in. */
  languageOf(text: string): Language;
  /** The file that has a letter, one for all of ASCII; null: none has it. Only letters of the texts that fonts were opened for are known. */
  fileOf(letter: string, language: Language): FontFile | null;
  /** A file in a cut and direction; the same each time. */
  setIn(file: FontFile, cut: Cut, isRightToLeft: boolean): SetFont;
}

const AXES: Readonly<Record<Cut, Readonly<Record<string, number>>>> = {
  regular: { wght: 400, wdth: 100 },
  bold: { wght: 700, wdth: 100 },
  narrow: { wght: 400, wdth: 66 },
};

/** Opens what the letters of some texts need, and `always`, which has all of ASCII, beside each of them. */
export async function openFonts(texts: readonly string[], always: string): Promise<Fonts> {
  const told = languageIn(texts.join(' '));
  const languageOf = (text: string): Language => (told === null ? 'zh' : (languageIn(text) ?? told));
  const fileOf = {
    ja: new Map<string, FontFile | null>(),
    ko: new Map<string, FontFile | null>(),
    zh: new Map<string, FontFile | null>(),
  };
  const find = async (letters: string, language: Language): Promise<void> => {
    const ofLanguage = fileOf[language];
    for (const letter of letters) {
      if (!ofLanguage.has(letter)) ofLanguage.set(letter, await findFile(letter.codePointAt(0) as number, language));
    }
  };
  for (const language of new Set(texts.map(languageOf))) await find(always, language);
  for (const text of texts) if (!isAscii(text)) await find(text, languageOf(text));
  const set = new Map<FontFile, Map<string, SetFont>>();
  return {
    languageOf,
    fileOf: (letter, language) => fileOf[language].get(letter) ?? null,
    setIn: (file, cut, isRightToLeft) => {
      const ofFile = set.get(file) ?? new Map<string, SetFont>();
      const key = isRightToLeft ? `${cut}-rtl` : cut;
      const font = ofFile.get(key) ?? fontIn(file, cut, isRightToLeft, `${file.name}-${key}`);
      set.set(file, ofFile.set(key, font));
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

/** Pairs of letters of each cut of a file, for this document and the next. */
const known = new Map<string, Pairs>();

/** A cut of a file under a name of its own, since pdfkit takes two cuts of a file for one; text goes the way it is told, not by its script. */
function fontIn(file: FontFile, cut: Cut, isRightToLeft: boolean, name: string): SetFont {
  if (!file.font) throw new Error('this font was not opened');
  const varied = file.font.getVariation(AXES[cut]);
  const pairs = file.hasPairs && !isRightToLeft ? (known.get(name) ?? createPairs(varied)) : null;
  if (pairs) known.set(name, pairs);
  return {
    name,
    font: Object.create(varied, { postscriptName: { value: name }, createSubset: { value: () => subsetOf(varied) } }) as Font,
    unitsPerEm: varied.unitsPerEm,
    shape: (text) => pairs?.(text) ?? shapedWhole(varied, text, isRightToLeft ? 'rtl' : 'ltr'),
  };
}

/** What kana or hangul say of a text; Han letters alone say nothing. */
function languageIn(text: string): Language | null {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja';
  return /\p{Script=Hangul}/u.test(text) ? 'ko' : null;
}
