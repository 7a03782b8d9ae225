/** The fonts that statements carry, and which file has which letters. All are Noto (OFL 1.1), from npm in slices of letters. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Font } from 'fontkit';
import * as fontkit from 'fontkit';
import decompress from 'woff2-encoder/decompress';

const require = createRequire(import.meta.url);

/** A language whose letters of one code are drawn in its own way; `zh` where nothing tells. */
export type Language = 'ja' | 'ko' | 'zh';

/** One file of letters; `font` is null until it was opened. */
export interface FontFile {
  readonly name: string;
  readonly path: string;
  /** Whether its simple text can be shaped from pairs (shaped.ts). Fonts of Han letters change digits by what stands further away. */
  readonly hasPairs: boolean;
  /** Whether a blank after its letters is its own. That of emoji is as wide as they are. */
  readonly hasBlanks: boolean;
  font: Font | null;
}

/** A family's files by the block of 256 code points that they may have letters of, each with its range in it. */
type Family = ReadonlyMap<number, readonly { readonly first: number; readonly last: number; readonly file: FontFile }[]>;

const BLOCK = 256;
const EVERYWHERE = [
  family('noto-sans', require.resolve('@fontsource-variable/noto-sans/unicode.json'), 'standard'),
  family('noto-sans-arabic', require.resolve('@fontsource-variable/noto-sans-arabic/unicode.json'), 'wght'),
  family('noto-sans-hebrew', require.resolve('@fontsource-variable/noto-sans-hebrew/unicode.json'), 'wght'),
  family('noto-sans-armenian', require.resolve('@fontsource-variable/noto-sans-armenian/unicode.json'), 'wght', 'armenian'),
  family('noto-sans-bengali', require.resolve('@fontsource-variable/noto-sans-bengali/unicode.json'), 'wght', 'bengali'),
  family('noto-sans-georgian', require.resolve('@fontsource-variable/noto-sans-georgian/unicode.json'), 'wght', 'georgian'),
  family('noto-sans-tamil', require.resolve('@fontsource-variable/noto-sans-tamil/unicode.json'), 'wght', 'tamil'),
  family('noto-sans-thai', require.resolve('@fontsource-variable/noto-sans-thai/unicode.json'), 'wght', 'thai'),
];
const OF_LANGUAGE: Readonly<Record<Language, Family>> = {
  ja: family('noto-sans-jp', require.resolve('@fontsource-variable/noto-sans-jp/unicode.json'), 'wght'),
  ko: family('noto-sans-kr', require.resolve('@fontsource-variable/noto-sans-kr/unicode.json'), 'wght'),
  zh: family('noto-sans-sc', require.resolve('@fontsource-variable/noto-sans-sc/unicode.json'), 'wght'),
};
/** In one colour. It has digits and signs of its own, for what keys and marks are made of: any other font comes before it. */
const EMOJI = family('noto-emoji', require.resolve('@fontsource-variable/noto-emoji/unicode.json'), 'wght');
const ORDER: Readonly<Record<Language, readonly Language[]>> = {
  ja: ['ja', 'zh', 'ko'],
  ko: ['ko', 'ja', 'zh'],
  zh: ['zh', 'ja', 'ko'],
};

/** Files that may have a letter, the best for a text of a language first. */
export function filesOf(codePoint: number, language: Language): FontFile[] {
  const block = Math.floor(codePoint / BLOCK);
  const families = [...EVERYWHERE, ...ORDER[language].map((name) => OF_LANGUAGE[name]), EMOJI];
  const ranges = families.flatMap((one) => one.get(block) ?? []);
  return ranges.flatMap(({ first, last, file }) => (codePoint >= first && codePoint <= last ? [file] : []));
}

/** Opens a file, once. */
export async function opened(file: FontFile): Promise<Font> {
  file.font ??= fontkit.create(Buffer.from(await decompress(readFileSync(file.path)))) as Font;
  return file.font;
}

/** The files of a family, of one cut, by the index that its package brings; `only`: one slice, where the others are letters of Noto Sans again. */
function family(name: string, index: string, cut: 'standard' | 'wght', only?: string): Family {
  const blocks = new Map<number, { first: number; last: number; file: FontFile }[]>();
  for (const [slice, ranges] of Object.entries(JSON.parse(readFileSync(index, 'utf8')) as Record<string, string>)) {
    if (only !== undefined && slice !== only) continue;
    const title = `${name}-${slice.replace(/[[\]]/g, '')}-${cut}-normal`;
    const file = {
      name: title,
      path: join(dirname(index), 'files', `${title}.woff2`),
      hasPairs: cut === 'standard',
      hasBlanks: name !== 'noto-emoji',
      font: null,
    };
    for (const [first, last] of ranges.split(',').map(rangeOf)) {
      for (let block = Math.floor(first / BLOCK); block <= last / BLOCK; block++) {
        blocks.set(block, [...(blocks.get(block) ?? []), { first, last, file }]);
      }
    }
  }
  return blocks;
}

/** `U+4e00` or `U+4e00-9fff`. */
function rangeOf(text: string): readonly [number, number] {
  const [first = '', last = first] = text.trim().slice(2).split('-');
  return [Number.parseInt(first, 16), Number.parseInt(last, 16)];
}
