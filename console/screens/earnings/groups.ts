import type { More } from '../../core/data.ts';
import { download } from '../../core/data.ts';
import { difference, exactPercent, percent, placesOf } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href, useRoute } from '../../core/router.ts';
import { TIME_ZONE } from '../../core/windows.ts';
import { Button } from '../../parts/button.ts';
import { Count, Exact, Money } from '../../parts/figure.ts';
import { Icon } from '../../parts/icon.ts';
import { Notice, Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { Group, Earnings as Report } from './document.ts';
import type { VIEWS } from './filters.ts';
import { filterOfGroup, filtersOf, GROUP_ORDERS, groupOrderOf, isWallet, valueName } from './filters.ts';

/** A report by one of its groups; each leads to the same screen for itself alone. */
export function Groups({
  view,
  rows,
  total,
  before,
  truncated,
  more,
  window,
}: {
  readonly view: (typeof VIEWS)[number];
  readonly rows: readonly Group[];
  readonly total: string;
  /** What the window before earned; null: that is not known. */
  readonly before: string | null;
  readonly truncated: boolean;
  readonly more: More | null;
  /** What the figures cover, which files of single groups cover too. */
  readonly window: Report['window'];
}): View {
  const { query } = useRoute();
  const partOf = (micro: string): number | null =>
    total === '0' ? null : Number((BigInt(micro) * 1_000_000n) / BigInt(total)) / 1_000_000;
  const places = placesOf(rows.map(({ grossMicro }) => grossMicro));
  const next = view.key === 'page' ? 'agent' : 'page';
  const nameOf = ({ key, title }: Group): View =>
    key === ''
      ? html`<span class="muted">none</span>`
      : html`<a title=${key} href=${href('/earnings', { ...query, ...filterOfGroup(view.filter, key), by: next })}>${title ?? valueName(view.filter, key)}</a>`;
  const sortOf = (head: keyof typeof GROUP_ORDERS): Pick<Column<Group>, 'sort'> => ({
    sort: {
      href: href('/earnings', { ...query, sort: GROUP_ORDERS[head] }),
      now: groupOrderOf(query) === GROUP_ORDERS[head] ? 'descending' : null,
    },
  });
  const columns: readonly Column<Group>[] = [
    { head: view.one, isName: true, width: 'wide', cell: nameOf },
    { head: 'Sales', ...sortOf('Sales'), align: 'end', cell: ({ events }) => html`<${Count} of=${events} />` },
    { head: 'Reads', ...sortOf('Reads'), align: 'end', width: 'late', cell: ({ reads }) => html`<${Count} of=${reads} />` },
    {
      head: 'Citations',
      ...sortOf('Citations'),
      align: 'end',
      width: 'late',
      cell: ({ citations }) => html`<${Count} of=${citations} />`,
    },
    { head: 'Change', align: 'end', width: 'late', cell: (row) => html`<${Change} row=${row} />` },
    {
      head: 'Share',
      align: 'end',
      width: 'late',
      cell: ({ grossMicro }) => html`<${Exact} text=${percent(partOf(grossMicro))} exact=${exactPercent(partOf(grossMicro))} />`,
    },
    {
      head: 'Earned',
      ...sortOf('Earned'),
      align: 'end',
      cell: ({ grossMicro }) => html`<${Money} micro=${grossMicro} places=${places} />`,
    },
  ];
  // A PDF is of an author, whatever else is filtered by: where something is, it would hold more than the row says.
  const hasFiles = view.key === 'author' && Object.keys(filtersOf(query)).length === 0;
  const files: Column<Group> = {
    head: html`<span class="sr">Statement</span>`,
    align: 'end',
    cell: ({ key }) =>
      key === '' || isWallet(key)
        ? null
        : html`<${Button} kind="quiet" label=${`Statement of ${key}`} download
            href=${download('statement.pdf', { from: window.from, to: window.to, timeZone: TIME_ZONE, author: key })}><${Icon} name="download" />PDF<//>`,
  };
  const hasChange = before !== null && before !== '0';
  const about =
    view.key === 'author'
      ? 'Each author is paid their share of a sale. A sale by several authors counts once for each of them.'
      : undefined;
  return html`<${Panel} title=${view.label} about=${about} flush>
    ${truncated ? html`<${Notice}>The 1,000 with the most money are listed; the sums above are of all.<//>` : null}
    <${Table} label=${`Earnings by ${view.label.toLowerCase()}`} columns=${[...(hasChange ? columns : columns.filter(({ head }) => head !== 'Change')), ...(hasFiles ? [files] : [])]} rows=${rows} keyOf=${({ key }: Group) => key}
      empty="Nothing was sold in this window." more=${more} />
  <//>`;
}

function Change({ row }: { readonly row: Group }): View {
  const change = difference(row.grossMicro, row.previous?.grossMicro);
  if (change === null) return html`<span class="muted">${row.previous === null ? '–' : 'new'}</span>`;
  return html`<span class=${`change ${change.direction === 'up' ? 'good' : change.direction === 'down' ? 'bad' : ''}`}>${change.text}</span>`;
}
