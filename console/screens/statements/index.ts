import { download, useList } from '../../core/data.ts';
import { count, exactCount, exactMoment, exactUsd, placesOf, usd } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { href, setQuery, useRoute } from '../../core/router.ts';
import { TIME_ZONE } from '../../core/windows.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Count, Figure, Figures, Money } from '../../parts/figure.ts';
import { Icon } from '../../parts/icon.ts';
import { Head, Notice, Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import { isWallet, valueName } from '../earnings/filters.ts';
import type { Statements as Answer, AuthorRow } from './document.ts';
import { STATEMENTS_DOCUMENT } from './document.ts';
import type { MadeLink } from './link.ts';
import { LinkDialog, Linked } from './link.ts';
import type { Month } from './months.ts';
import { isRunning, monthNamed, monthsUpTo } from './months.ts';

type Report = NonNullable<NonNullable<Answer['tenant']>['earnings']>;
type Former = NonNullable<NonNullable<Answer['tenant']>['before']>;

/** What each author was paid in a month: as a table, as documents, as an archive of them, and as links for the authors. */
export function Statements(): View {
  const { query } = useRoute();
  const months = monthsUpTo();
  const month = monthNamed(query['month'], months);
  const [made, setMade] = useState<MadeLink | null>(null);
  const [author, setAuthor] = useState<string | null>(null);
  const span = (from: Date, to: Date) => ({ from: from.toISOString(), to: to.toISOString() });
  const variables = {
    window: span(month.from, month.to),
    months: span(months.at(-1)?.from ?? month.from, months[0]?.to ?? month.to),
    timeZone: TIME_ZONE,
  };
  const list = useList<Answer, AuthorRow>(STATEMENTS_DOCUMENT, variables, ({ tenant }) => tenant?.earnings?.breakdown ?? null);
  const pick = (event: Event): void => setQuery({ month: (event.currentTarget as HTMLSelectElement).value });
  return html`<${Head} title="Statements" about=${`What each author was paid in a month, by the calendar of ${TIME_ZONE}.`}>
      <select aria-label="Month" value=${month.key} onChange=${pick}>
        ${months.map(({ key, name }) => html`<option key=${key} value=${key}>${name}</option>`)}
      </select>
    <//>
    ${made ? html`<${Linked} made=${made} onDone=${() => setMade(null)} />` : null}
    <${Await} of=${list} isReport rows=${8} empty=${({ tenant }: Answer) => !tenant?.earnings}>
      ${({
        tenant,
      }: {
        readonly tenant: { readonly earnings: Report; readonly before: Former | null };
      }) => html`<div class="stack">
        <${Sums} report=${tenant.earnings} month=${month} />
        <${Panel} title="Authors" about="A sale by several authors counts once for each of them." flush>
          <${Table} label=${`What authors were paid in ${month.name}`} columns=${columns(month, list.rows, setAuthor)} rows=${list.rows} keyOf=${({ key }: AuthorRow) => key}
            empty="Nobody was paid in this month." more=${list.more} />
        <//>
        ${tenant.before ? html`<${Months} of=${tenant.before} months=${months} now=${month} />` : null}
      </div>`}
    <//>
    <${LinkDialog} author=${author} month=${month} onClose=${() => setAuthor(null)} onMade=${setMade} />`;
}

/** What the month came to, and the files of all of it. */
function Sums({ report, month }: { readonly report: Report; readonly month: Month }): View {
  const { totals, window, breakdown, archives: parts } = report;
  const authors = breakdown?.totalCount ?? 0;
  const span = { from: month.from.getTime(), to: month.to.getTime(), timeZone: TIME_ZONE };
  const archives = Array.from({ length: authors === 0 ? 0 : (parts ?? 0) }, (_, at) => ({
    name: parts === 1 ? 'All as ZIP' : `ZIP ${at + 1} of ${parts}`,
    href: download('statements.zip', { ...span, part: parts === 1 ? null : at + 1 }),
  }));
  return html`${isRunning(month) ? html`<${Notice}>${month.name} is not over: these are its figures up to now. A month that is over keeps its figures; what is corrected later counts in the month in which it is recorded.<//>` : null}
    ${window.retentionClampedTo ? html`<${Notice}>Your plan keeps figures since ${exactMoment(window.retentionClampedTo).slice(0, 10)}.<//>` : null}
    <${Panel}>
    <div class="beside">
      <${Figures}>
        <${Figure} isHero label=${`Earned in ${month.name}`} value=${usd(totals.grossMicro)} exact=${exactUsd(totals.grossMicro)} />
        <${Figure} label="Sales" value=${count(totals.events)} exact=${exactCount(totals.events)} />
        <${Figure} label="Authors" value=${count(authors)} exact=${exactCount(authors)} />
      <//>
      <div class="actions">
        ${archives.map(({ name, href: to }) => html`<${Button} key=${name} kind="primary" href=${to} download><${Icon} name="download" />${name}<//>`)}
        <${Button} href=${download('statement.pdf', span)} download><${Icon} name="download" />PDF of the site<//>
        <${Button} href=${download('earnings.csv', span)} download><${Icon} name="download" />CSV<//>
      </div>
    </div>
  <//>`;
}

function columns(month: Month, rows: readonly AuthorRow[], link: (author: string) => void): readonly Column<AuthorRow>[] {
  const places = placesOf(rows.map(({ grossMicro }) => grossMicro));
  const span = { from: month.from.getTime(), to: month.to.getTime(), timeZone: TIME_ZONE };
  const nameOf = ({ key }: AuthorRow): View =>
    isWallet(key) ? html`<span class="muted" title=${key}>${valueName('author', key)}</span>` : key;
  const filesOf = ({ key }: AuthorRow): View =>
    isWallet(key)
      ? html`<span class="muted">no author is named</span>`
      : html`<div class="row-actions">
          <${Button} kind="quiet" label=${`PDF of ${key}`} download href=${download('statement.pdf', { ...span, author: key })}><${Icon} name="download" />PDF<//>
          <${Button} kind="quiet" label=${`A link for ${key}`} onClick=${() => link(key)}>Link<//>
        </div>`;
  return [
    { head: 'Author', isName: true, width: 'wide', cell: nameOf },
    { head: 'Reads', align: 'end', width: 'late', cell: ({ reads }) => html`<${Count} of=${reads} />` },
    { head: 'Citations', align: 'end', width: 'late', cell: ({ citations }) => html`<${Count} of=${citations} />` },
    { head: 'Paid', align: 'end', cell: ({ grossMicro }) => html`<${Money} micro=${grossMicro} places=${places} />` },
    { head: html`<span class="sr">Statement</span>`, align: 'end', cell: filesOf },
  ];
}

/** Months that something was sold in, the newest first; each leads to its statements. */
function Months({ of, months, now }: { readonly of: Former; readonly months: readonly Month[]; readonly now: Month }): View {
  const sums = new Map(of.series.map((bucket) => [bucket.from, bucket]));
  const rows = months.flatMap((month) => {
    const { grossMicro = '0', events = 0 } = sums.get(month.from.getTime()) ?? {};
    return events === 0 && grossMicro === '0' ? [] : [{ ...month, grossMicro, events }];
  });
  type Row = (typeof rows)[number];
  const places = placesOf(rows.map(({ grossMicro }) => grossMicro));
  const monthColumns: readonly Column<Row>[] = [
    {
      head: 'Month',
      isName: true,
      width: 'wide',
      cell: ({ key, name }) =>
        key === now.key
          ? html`<strong aria-current="true">${name}</strong>`
          : html`<a href=${href('/statements', { month: key })}>${name}</a>`,
    },
    { head: 'Sales', align: 'end', cell: ({ events }) => html`<${Count} of=${events} />` },
    { head: 'Earned', align: 'end', cell: ({ grossMicro }) => html`<${Money} micro=${grossMicro} places=${places} />` },
  ];
  return html`<${Panel} title="Months" flush>
    <${Table} label="Months" columns=${monthColumns} rows=${rows} keyOf=${({ key }: Row) => key} empty="Nothing was sold in the last twelve months." />
  <//>`;
}
