import type { More } from '../core/data.ts';
import type { View } from '../core/html.ts';
import { html, useEffect, useRef, useState } from '../core/html.ts';
import { safeHref } from '../core/router.ts';
import { ProblemText } from './await.ts';
import { Button } from './button.ts';

/** A column: its head, and what a row shows in it. */
export interface Column<R> {
  readonly head: View;
  readonly cell: (row: R) => View;
  /** Where a click on the head leads: the same rows in this order; `now` where they are in it, and which way. */
  readonly sort?: { readonly href: string; readonly now: 'ascending' | 'descending' | null };
  /** Figures stand at the end, so that their digits line up. */
  readonly align?: 'end';
  /** Names the row for screen readers; one column of a table. */
  readonly isName?: boolean;
  /** `wide` takes what is left; `late` is left out where a card of the row would be long otherwise. */
  readonly width?: 'wide' | 'late';
}

/** Rows with heads. `more` is what `useList` gives: null where there is no further page. */
export function Table<R>({
  label,
  columns,
  rows,
  keyOf,
  empty,
  more,
  total,
}: {
  /** What the table is of, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly keyOf?: (row: R) => string;
  readonly empty?: View;
  readonly more?: More | null;
  /** A row under the rows, one cell a column. */
  readonly total?: readonly View[];
}): View {
  if (rows.length === 0 && empty !== undefined) return html`<div class="empty"><p>${empty}</p></div>`;
  const classOf = ({ align, width }: Column<R>): string | undefined => [align, width].filter(Boolean).join(' ') || undefined;
  return html`<div class="table-frame" role="region" aria-label=${label} tabindex="0">
    <table>
      <caption class="sr">${label}</caption>
      <thead>
        <tr>${columns.map((column, at) => html`<th key=${at} scope="col" class=${classOf(column)} aria-sort=${column.sort?.now ?? undefined}>${headOf(column)}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map((row, at) => html`<tr key=${keyOf?.(row) ?? at}>${columns.map((column) => cellOf(column, row, classOf(column)))}</tr>`)}
      </tbody>
      ${total ? html`<tfoot><tr>${columns.map((column, at) => html`<td class=${classOf(column)} data-head=${at > 0 && typeof column.head === 'string' ? column.head : undefined}>${total[at]}</td>`)}</tr></tfoot>` : null}
    </table>
    ${more === undefined ? null : html`<${Further} more=${more} rows=${rows.length} />`}
  </div>`;
}

function headOf<R>({ head, sort }: Column<R>): View {
  if (sort === undefined) return head;
  return html`<a class="sort" href=${safeHref(sort.href)}>${head}</a>`;
}

function cellOf<R>(column: Column<R>, row: R, className: string | undefined): View {
  const inside = column.cell(row);
  const head = typeof column.head === 'string' ? column.head : undefined; // said in the cell where a row is a card
  return column.isName
    ? html`<th scope="row" class=${className}>${inside}</th>`
    : html`<td class=${className} data-head=${head}>${inside}</td>`;
}

/**
 * The way to further rows. The button stays where it is while they come and keeps the focus; after the last of them the focus is on the line
 * that says so. How many rows there are now is read aloud.
 */
function Further({ more, rows }: { readonly more: More | null; readonly rows: number }): View {
  const end = useRef<HTMLParagraphElement>(null);
  const [first] = useState(rows);
  const pressed = useRef(false);
  const number = (n: number): string => n.toLocaleString('en-US');
  const hasGrown = rows > first;
  useEffect(() => {
    if (more === null && hasGrown && pressed.current) end.current?.focus({ preventScroll: true });
  }, [more === null]);
  const load = (): Promise<void> | undefined => {
    pressed.current = true;
    return more?.load();
  };
  const said =
    more === null
      ? `All ${number(rows)} are shown`
      : `${number(rows)}${more.total === null ? '' : ` of ${number(more.total)}`} are shown`;
  return html`<div class=${more || hasGrown ? 'more' : ''}>
    ${more ? html`<${Button} kind="quiet" onClick=${load}>Show more<//>` : null}
    <p class="muted" ref=${end} tabindex="-1" role="status">${hasGrown ? said : ''}</p>
    ${more?.problem ? html`<p class="error" role="alert"><${ProblemText} problem=${more.problem} /></p>` : null}
  </div>`;
}
