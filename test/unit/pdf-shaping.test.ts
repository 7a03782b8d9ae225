import type { Bidi } from 'bidi-js';
import bidiFactory from 'bidi-js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { filesOf, opened } from '../../platform/pdf/fontFiles.ts';
import { mayRunLeft } from '../../platform/pdf/runs.ts';
import { createPairs, shapedWhole } from '../../platform/pdf/shaped.ts';

/** Letters of one file each: of Latin, its extensions, Vietnamese, Greek and Cyrillic. */
const ALPHABETS = ['AVTWLYfijkrty01789.,:-/x“é ', 'ŁżĆšŽěıŁ', 'ơưĂđ', 'ΑΤΥΛΡνίκος', 'ТУГДЖабвгЯ'];
const CUTS = [
  { wght: 400, wdth: 100 },
  { wght: 700, wdth: 100 },
  { wght: 400, wdth: 66 },
];

test('simple text is set from its pairs of letters as fontkit sets it whole, in every cut', async () => {
  for (const alphabet of ALPHABETS) {
    const [file] = filesOf(alphabet.codePointAt(0) as number, 'zh');
    if (!file) throw new Error(`no file has ${alphabet}`);
    expect(file.hasPairs).toBe(true);
    const font = await opened(file);
    for (const axes of CUTS) {
      const cut = font.getVariation(axes);
      const pairs = createPairs(cut);
      const check = (text: string): void => {
        const whole = shapedWhole(cut, text, 'ltr');
        const own = pairs(text);
        // The font joins an f with what follows it: that is left to fontkit.
        if (own === null) {
          expect(text).toMatch(/f[fij]/);
          return;
        }
        expect(own.glyphs.map(({ id }) => id)).toEqual(whole.glyphs.map(({ id }) => id));
        expect(own.glyphs.flatMap(({ codePoints }) => codePoints)).toEqual(Array.from(text, (letter) => letter.codePointAt(0)));
        expect(own.width).toBeCloseTo(whole.width, 6);
        for (const [n, advance] of own.advances.entries()) expect(advance).toBeCloseTo(whole.advances[n] ?? Number.NaN, 6);
        expect(whole.offsets).toBeNull();
      };
      fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 30 }), check), {
        numRuns: 60,
      });
    }
  }
});

test('marks, and letters of other scripts, are never set from pairs', async () => {
  const [file] = filesOf(0x61, 'zh');
  const pairs = createPairs(file ? await opened(file) : (undefined as never));
  for (const text of ['e\u0301', '山', 'م', 'क्षि', '\u{1f600}', 'a\u200db', '\u0488'])
    expect([text, pairs(text)]).toEqual([text, null]);
});

test('a letter or mark that may run from right to left is never taken for one that runs from left to right', () => {
  const bidi = (bidiFactory as unknown as () => Bidi)();
  const runsRight = new Set(['L', 'EN', 'ES', 'ET', 'CS', 'NSM', 'BN', 'B', 'S', 'WS', 'ON', 'FSI', 'PDI', 'PDF']);
  const missed: string[] = [];
  for (let code = 0; code <= 0x10_ffff; code++) {
    const letter = String.fromCodePoint(code);
    if (!runsRight.has(bidi.getBidiCharTypeName(letter)) && !mayRunLeft(letter)) missed.push(code.toString(16));
  }
  expect(missed).toEqual([]);
  for (const text of ['12 (ann) +5%', '山田 1.5', 'Ольга – 7', '((:']) {
    expect([...bidi.getEmbeddingLevels(text, 'auto').levels]).toEqual(Array.from(text, () => 0));
  }
});
