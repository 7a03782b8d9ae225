import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty, MAX_TIME_MS } from '../../../kernel/time/window.ts';

/** A page of a list, newest first. Rows of one millisecond stay together, so a page may hold more than its limit. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins: rows older than this; null at the end. */
  readonly nextCursorMs: number | null;
}

/** Gives the newest `most` rows of a span, newest first, with all that share the last one's millisecond. */
export type PageReader<Row> = (span: Span, most: number) => Promise<Row[]>;

/** One page of a list. One row more than the page is asked for tells where the next one begins. */
export async function readPage<Row extends { readonly atMs: number }>(
  window: Span,
  limit: number,
  read: PageReader<Row>,
): Promise<Page<Row>> {
  if (isEmpty(window)) return { rows: [], nextCursorMs: null };
  const found = await read(window, limit + 1);
  const lastMs = found[limit - 1]?.atMs;
  if (lastMs === undefined) return { rows: found, nextCursorMs: null };
  const rows = found.filter(({ atMs }) => atMs >= lastMs);
  const isMore = found.length > rows.length || (rows.length > limit && (await isOlder(window, lastMs, read)));
  return { rows, nextCursorMs: isMore ? lastMs : null };
}

/** Rows of the last millisecond filled the answer up: whether there are older ones must be asked. */
async function isOlder<Row>(window: Span, lastMs: number, read: PageReader<Row>): Promise<boolean> {
  const older = { fromMs: window.fromMs, toMs: lastMs };
  return !isEmpty(older) && (await read(older, 1)).length > 0;
}

/** Where a page begins among rows whose times callers set: right below a moment, or after so many rows of it. */
export interface SplitCursor {
  readonly atMs: number;
  /** Rows of that millisecond that pages before have shown; 0: it is done with. */
  readonly shown: number;
}

/** A page that never holds more than its limit; rows of one millisecond may be on several. */
export interface SplitPage<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins; null at the end. */
  readonly next: SplitCursor | null;
  /** True when rows of a millisecond were left out, since no cursor leads to them. */
  readonly isCut: boolean;
}

/** How many rows of one millisecond a cursor can count. */
const PLACES = 2_048;

/**
 * The cursor in a whole number, which every JSON library keeps: epoch milliseconds, or, where rows of that millisecond were shown, the
 * milliseconds times 2,048 and how many. A number holds that of moments from 1974 to 2109 exactly.
 */
export function cursorToNumber({ atMs, shown }: SplitCursor): number {
  return shown === 0 ? atMs : atMs * PLACES + shown;
}

/** The cursor that a number holds. */
export function cursorFromNumber(cursor: number): SplitCursor {
  if (cursor <= MAX_TIME_MS) return { atMs: cursor, shown: 0 };
  return { atMs: Math.floor(cursor / PLACES), shown: cursor % PLACES };
}

/** The part of a window where the rows of a page are: up to the cursor, with its millisecond when that is not done with. */
export function spanFrom<Window extends Span>(window: Window, cursor: SplitCursor | null): Window {
  if (cursor === null) return window;
  const toMs = cursor.shown > 0 ? cursor.atMs + 1 : cursor.atMs;
  return { ...window, toMs: Math.min(toMs, window.toMs ?? toMs) };
}

/** How many rows a page asks for: its own, those shown before that are read again, and one that tells whether there are more. */
export function rowsToRead(limit: number, cursor: SplitCursor | null): number {
  return limit + (cursor?.shown ?? 0) + 1;
}

/** Cuts a page from the newest `rowsToRead` rows of its span, newest first in one lasting order. */
export function cutSplitPage<Row extends { readonly atMs: number }>(
  found: readonly Row[],
  limit: number,
  cursor: SplitCursor | null,
): SplitPage<Row> {
  const again = cursor === null ? 0 : found.slice(0, cursor.shown).filter(({ atMs }) => atMs === cursor.atMs).length;
  const rows = found.slice(again, again + limit);
  const [last, following] = [rows.at(-1), found[again + limit]];
  if (!last || !following) return { rows, next: null, isCut: false };
  const { atMs } = last;
  if (following.atMs < atMs) return { rows, next: { atMs, shown: 0 }, isCut: false };
  const shown = rows.filter((row) => row.atMs === atMs).length + (cursor?.atMs === atMs ? again : 0);
  return shown < PLACES ? { rows, next: { atMs, shown }, isCut: false } : { rows, next: { atMs, shown: 0 }, isCut: true };
}
