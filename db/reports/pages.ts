import type { Span } from '../../domain/window.ts';
import { isEmpty } from '../../domain/window.ts';

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
