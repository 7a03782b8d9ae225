/** Text of strangers before it is drawn: one line, no marks that steer, no longer than anything shows. */

/** No column is as wide as this many letters; what is longer loses its middle before anything is measured. */
const MAX_LETTERS = 160;
/** Marks above or below one letter; more of them would run over the lines beside it. */
const MAX_MARKS = 3;

/** Ends of lines, tabs and other controls: a blank each. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;
/** What shows nothing and only steers: overrides of direction, private letters, tags. Joiners stay, since Persian and Hindi are spelt with them. */
const STEERING = /(?![\u200c\u200d])[\p{Cf}\p{Co}\p{Cn}]|\p{Variation_Selector}/gu;
const MANY_MARKS = new RegExp(`(\\p{M}{${MAX_MARKS}})\\p{M}+`, 'gu');

const IS_ASCII = /^[ -~]+$/;

/** True of text, not empty, that stands as it is in every language: nothing to compose, nothing that steers, one letter a character. */
export function isAscii(text: string): boolean {
  return IS_ASCII.test(text);
}

/** A text as it can be drawn: composed (NFC), well formed, in one line, without letters that steer others, cut to so many. */
export function cleaned(text: string, most = MAX_LETTERS): string {
  if (text.length <= most && isAscii(text)) return text;
  const short = text.length > 8 * most ? `${text.slice(0, 4 * most)}…${text.slice(-4 * most)}` : text;
  const plain = short.toWellFormed().normalize('NFC').replace(CONTROLS, ' ').replace(STEERING, '').replace(MANY_MARKS, '$1');
  return plain.length <= most ? plain : shortened(lettersOf(plain), most);
}

/** The same for a page's address, of which every letter that is not drawn as it stands is percent-encoded (RFC 3987 §3.1). */
export function cleanedAddress(address: string, isShown: (letter: string) => boolean): string {
  if (address.length <= MAX_LETTERS && isAscii(address)) return address;
  const short = address
    .slice(0, 8 * MAX_LETTERS)
    .toWellFormed()
    .normalize('NFC');
  const letters = Array.from(short, (letter) =>
    letter.search(CONTROLS) < 0 && letter.search(STEERING) < 0 && isShown(letter) ? letter : encodeURIComponent(letter),
  );
  return shortened(letters, MAX_LETTERS);
}

/** Letters as people count them: a base with its marks is one. */
export function lettersOf(text: string): string[] {
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** At most `most` letters: an ellipsis takes the place of the middle, since texts differ at their ends. */
export function shortened(letters: readonly string[], most: number): string {
  if (letters.length <= most) return letters.join('');
  const atEnd = Math.floor(most / 2);
  return `${letters.slice(0, most - atEnd).join('')}…${letters.slice(letters.length - atEnd).join('')}`;
}
