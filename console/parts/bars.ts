import type { View } from '../core/html.ts';
import { html } from '../core/html.ts';
import { safeHref } from '../core/router.ts';
import { Exact } from './figure.ts';

/** One line of a ranking. */
export interface Bar {
  readonly label: View;
  /** Only for the length of the bar. */
  readonly size: number;
  readonly text: string;
  readonly exact?: string;
  readonly href?: string;
  /** A further word at the end: a change, a count. */
  readonly note?: View;
  readonly title?: string;
}

/** A ranking: names and figures, each in one column, and below them bars as long as their part of the longest. */
export function Bars({
  label,
  rows,
  empty,
}: {
  readonly label: string;
  readonly rows: readonly Bar[];
  readonly empty?: View;
}): View {
  if (rows.length === 0) return html`<div class="empty"><p>${empty ?? 'Nothing in this window.'}</p></div>`;
  const longest = Math.max(...rows.map(({ size }) => size), 0);
  return html`<ol class="bars" aria-label=${label}>
    ${rows.map((row, at) => html`<li key=${at}><${Line} row=${row} longest=${longest} /></li>`)}
  </ol>`;
}

function Line({ row, longest }: { readonly row: Bar; readonly longest: number }): View {
  const width = longest <= 0 ? 0 : Math.max(0, Math.min(1, row.size / longest)) * 100;
  const name = row.href === undefined ? html`<span>${row.label}</span>` : html`<a href=${safeHref(row.href)}>${row.label}</a>`;
  return html`<div class="bar" title=${row.title}>
    <span class="name">${name}</span>
    <span class="note">${row.note}</span>
    <${Exact} text=${row.text} exact=${row.exact ?? row.text} />
    <svg class="length" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="100" height="1" /><rect width=${width} height="1" /></svg>
  </div>`;
}
