/** What the fonts of a PDF can show: the letters of Windows-1252, which every reader of PDFs has. */

const OUTSIDE_FONT = /[^\x20-\x7e\xa0-\xff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/gu;

/** Text in letters that can be shown: line breaks and other controls become blanks, every other letter a `?`. */
export function printable(text: string): string {
  return composed(text).replace(OUTSIDE_FONT, '?');
}

/** True for text of which `printable` shows every letter. */
export function isPrintable(text: string): boolean {
  return composed(text).search(OUTSIDE_FONT) < 0;
}

/** A page's address of which every letter can be shown: what the fonts lack is percent-encoded (RFC 3987 §3.1). */
export function printablePage(page: string): string {
  return composed(page).replace(OUTSIDE_FONT, (letter) => encodeURIComponent(letter.toWellFormed()));
}

function composed(text: string): string {
  return text.normalize('NFC').replace(/\p{Cc}+/gu, ' ');
}
