import type { View } from '../core/html.ts';
import { html } from '../core/html.ts';
import { Button } from './button.ts';

/** A column: its head, and what a row shows in it. */
export interface Column<R> {
  readonly head: View;
  readonly cell: (row: R) => View;
  /** Figures stand at the end, so that their digits line up. */
  readonly align?: 'end';
  /** Names the row for screen readers; one column of a table. */
  readonly isName?: boolean;
  /** `wide` takes what is left; `late` is left out on a phone. */
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
  readonly more?: (() => void) | null;
  /** A row under the rows, one cell a column. */
  readonly total?: readonly View[];
}): View {
  if (rows.length === 0 && empty !== undefined) return html`<div class="empty"><p>${empty}</p></div>`;
  const classOf = ({ align, width }: Column<R>): string | undefined => [align, width].filter(Boolean).join(' ') || undefined;
  return html`<div class="table-frame" role="region" aria-label=${label} tabindex="0">
    <table>
      <caption class="sr">${label}</caption>
      <thead>
        <tr>${columns.map((column, at) => html`<th key=${at} scope="col" class=${classOf(column)}>${column.head}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map((row, at) => html`<tr key=${keyOf?.(row) ?? at}>${columns.map((column) => cellOf(column, row, classOf(column)))}</tr>`)}
      </tbody>
      ${total ? html`<tfoot><tr>${columns.map((column, at) => html`<td class=${classOf(column)}>${total[at]}</td>`)}</tr></tfoot>` : null}
    </table>
    ${more ? html`<div class="more"><${Button} kind="quiet" onClick=${more}>Show more<//></div>` : null}
  </div>`;
}

function cellOf<R>(column: Column<R>, row: R, className: string | undefined): View {
  const inside = column.cell(row);
  return column.isName ? html`<th scope="row" class=${className}>${inside}</th>` : html`<td class=${className}>${inside}</td>`;
}
