/**
 * COPY's text format (PostgreSQL, COPY, Text Format) with commas between cells. Rows end with a line feed, which never stands within a
 * cell; a comma within a cell has a backslash in front.
 */

/** Tells COPY to write what this file reads. */
export const COPY_OPTIONS = "(format text, delimiter ',')";

const LINE_FEED = 10;
const ESCAPED = /\\(.)/g;
/** What COPY writes after a backslash for characters that would end a cell or a row; anything else stands for itself. */
const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/**
 * Cuts bytes, which may end anywhere, into pieces of whole rows: those a piece completes, as soon as it does. Most are views of what
 * came in, nothing is read ahead. Throws when the bytes end within a row.
 */
export async function* wholeRows(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  for await (const piece of pieces) {
    // In UTF-8 a line feed is no part of any other letter.
    const end = piece.lastIndexOf(LINE_FEED) + 1;
    if (end === 0) {
      if (piece.length > 0) begun.push(piece);
      continue;
    }
    const first = begun.length === 0 ? 0 : piece.indexOf(LINE_FEED) + 1;
    if (first > 0) yield Buffer.concat([...begun, piece.subarray(0, first)]);
    if (first < end) yield piece.subarray(first, end);
    begun = end === piece.length ? [] : [piece.subarray(end)];
  }
  if (begun.length > 0) throw new Error('a COPY ended within a row');
}

/** The cells of one row, without its line feed; null for NULL. */
export function cellsOfRow(row: string): (string | null)[] {
  const cells: (string | null)[] = [];
  let start = 0;
  for (let at = 0; at <= row.length; at++) {
    if (row[at] === '\\') at++;
    else if (at === row.length || row[at] === ',') {
      cells.push(decoded(row.slice(start, at)));
      start = at + 1;
    }
  }
  return cells;
}

function decoded(cell: string): string | null {
  if (cell === '\\N') return null;
  return cell.replace(ESCAPED, (_, letter: string) => LETTERS[letter] ?? letter);
}
