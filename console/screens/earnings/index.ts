import { download, useList } from '../../core/data.ts';
import { count, difference, exactCount, exactMoment, exactUsd, usd } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href, useRoute } from '../../core/router.ts';
import type { LookedAt } from '../../core/windows.ts';
import { isRunning, TIME_ZONE, useWindow } from '../../core/windows.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Figure, Figures } from '../../parts/figure.ts';
import { Icon } from '../../parts/icon.ts';
import { Head, Notice, Panel, Tabs } from '../../parts/panel.ts';
import { Trend } from '../../parts/trend.ts';
import { WindowPicker } from '../../parts/windowPicker.ts';
import { axisUsd, bucketTimes, lineOf } from '../series.ts';
import type { Former, Group, Earnings as Report } from './document.ts';
import { EARNINGS_DOCUMENT } from './document.ts';
import { Chips, filtersOf, groupOrderOf, VIEWS } from './filters.ts';
import { Groups } from './groups.ts';
import { Payments } from './payments.ts';

/** What was earned: by page, author, agent, host, purpose, kind or buyer, over time, down to each payment. */
export function Earnings(): View {
  const { query } = useRoute();
  const by = query['by'] ?? 'page';
  const { by: _, ...kept } = query;
  const link = (key: string): string => href('/earnings', { ...kept, by: key });
  const items = [
    ...VIEWS.map(({ key, label }) => ({ key, label, href: link(key) })),
    { key: 'payments', label: 'Payments', href: link('payments') },
  ];
  return html`<${Head} title="Earnings"><${WindowPicker} /><//>
    <${Tabs} label="Earnings by" items=${items} current=${by} />
    <${Chips} />
    ${by === 'payments' ? html`<${Payments} />` : html`<${ByGroup} by=${by} />`}`;
}

type Answer = { readonly tenant: { readonly earnings: Report | null; readonly former?: Former | null } | null };

function ByGroup({ by }: { readonly by: string }): View {
  const { query } = useRoute();
  const at = useWindow();
  const view = VIEWS.find(({ key }) => key === by) ?? VIEWS[0];
  const { window, every, timeZone, before } = at;
  const variables = {
    window,
    every,
    timeZone,
    before,
    hasBefore: before !== null,
    groupBy: view.groupBy,
    orderBy: groupOrderOf(query),
    ...filtersOf(query),
  };
  const list = useList<Answer, Group>(EARNINGS_DOCUMENT, variables, ({ tenant }) => tenant?.earnings?.breakdown ?? null);
  return html`<${Await} of=${list} isReport rows=${8} empty=${({ tenant }: Answer) => !tenant?.earnings}>
    ${({
      tenant,
    }: {
      readonly tenant: { readonly earnings: Report; readonly former?: Former | null };
    }) => html`<div class="stack">
      <${Sums} report=${tenant.earnings} former=${tenant.former ?? null} at=${at} />
      <${Groups} view=${view} rows=${list.rows} total=${tenant.earnings.totals.grossMicro} before=${tenant.earnings.previous?.grossMicro ?? null} truncated=${tenant.earnings.truncated} more=${list.more} window=${tenant.earnings.window} />
    </div>`}
  <//>`;
}

function Sums({ report, former, at }: { readonly report: Report; readonly former: Former | null; readonly at: LookedAt }): View {
  const { totals, previous, prices, window } = report;
  const change = difference(totals.grossMicro, previous?.grossMicro);
  return html`<${Panel}>
    <div class="beside">
      <${Figures}>
        <${Figure} isHero label="Earned" value=${usd(totals.grossMicro)} exact=${exactUsd(totals.grossMicro)}
          change=${change && { ...change, exact: `${exactUsd(previous?.grossMicro)} in the window before` }} />
        <${Figure} label="Sales" value=${count(totals.events)} exact=${exactCount(totals.events)}
          change=${difference(totals.events, previous?.events)} />
        <${Figure} label="Reads" value=${count(totals.reads)} exact=${exactCount(totals.reads)} />
        <${Figure} label="Citations" value=${count(totals.citations)} exact=${exactCount(totals.citations)} />
        <${Figure} label="Median price" value=${usd(prices?.median)} exact=${exactUsd(prices?.median)}
          note=${prices ? `${usd(prices.smallest)} to ${usd(prices.largest)}` : null} />
      <//>
      <${Files} window=${window} />
    </div>
    <${Over} report=${report} former=${former} at=${at} />
    ${window.retentionClampedTo ? html`<${Notice}>Your plan keeps figures since ${exactMoment(window.retentionClampedTo).slice(0, 10)}.<//>` : null}
  <//>`;
}

/** The files of what is shown: the CSV follows every filter; a PDF is of the whole site or of one author, and is offered for nothing else. */
function Files({ window }: { readonly window: Report['window'] }): View {
  const filters = filtersOf(useRoute().query);
  const span = { from: window.from, to: window.to, timeZone: TIME_ZONE };
  const { authorId, author: wallet, ...others } = filters;
  const isFiltered = Object.keys(filters).length > 0;
  const isOfAuthor = authorId !== undefined && wallet === undefined && Object.keys(others).length === 0;
  const { kind, purpose, ...rest } = others;
  const rows = { ...rest, author: authorId, wallet, kind: kind?.toLowerCase(), purpose: purpose?.toLowerCase() };
  return html`<div class="actions">
    <${Button} href=${download('earnings.csv', { ...span, ...rows })} download label=${isFiltered ? 'CSV of these sales' : 'CSV'}><${Icon} name="download" />${isFiltered ? 'CSV of these' : 'CSV'}<//>
    ${isFiltered && !isOfAuthor ? null : html`<${Button} href=${download('statement.pdf', { ...span, author: authorId })} download><${Icon} name="download" />${isOfAuthor ? `Statement of ${authorId}` : 'PDF'}<//>`}
  </div>`;
}

const EARNED = [{ name: 'Earned', tone: 'accent' }] as const;

function Over({
  report: { series },
  former,
  at,
}: {
  readonly report: Report;
  readonly former: Former | null;
  readonly at: LookedAt;
}): View {
  const buckets = series.map(({ from, grossMicro, events }) => ({
    ...bucketTimes(from, at.every),
    values: [Number(grossMicro)],
    texts: [`${usd(grossMicro)} · ${count(events)} sold`],
    exact: [exactUsd(grossMicro)],
  }));
  return html`<${Trend} label=${`Earned by ${at.every.toLowerCase()}`} series=${EARNED} buckets=${buckets} axis=${axisUsd}
    line=${lineOf(former, at.before)} isRunning=${isRunning(at)} />`;
}
