/** How the lines of a statement's document are shared out: a document has a limit, however many authors a site has. */

/** A table's heading, what it says under it, and the heads of its columns. */
const HEAD_LINES = 3;

/** What a document has room for; the rest it leaves out and says so. */
export interface LinePlan {
  /** So many authors, the largest, stand in the table of authors. */
  readonly listed: number;
  /** So many of these have a table of their lines, in which there is room for at least one. */
  readonly detailed: number;
  /** So many lines these tables may have together. */
  readonly lines: number;
}

/**
 * Shares out the lines of a document of `most` in all: the table of authors first, then tables of single authors, the largest
 * first. Every line of a table counts once, its head too; what is repeated on a page does not. `most` is at least 3.
 */
export function planLines(authors: number, most: number): LinePlan {
  const room = most - HEAD_LINES;
  const listed = Math.min(authors, room);
  const left = room - listed;
  const detailed = Math.min(listed, Math.floor(left / (HEAD_LINES + 1)));
  return { listed, detailed, lines: left - HEAD_LINES * detailed };
}
