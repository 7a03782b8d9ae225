import { useQuery } from '../../core/data.ts';
import { count, difference, exactCount, exactMoment, exactSpan, exactUsd, span, usd } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href } from '../../core/router.ts';
import type { LookedAt } from '../../core/windows.ts';
import { useWindow } from '../../core/windows.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Bars } from '../../parts/bars.ts';
import { Button } from '../../parts/button.ts';
import { Figure, Figures } from '../../parts/figure.ts';
import { Head, Notice, Panel } from '../../parts/panel.ts';
import { Trend } from '../../parts/trend.ts';
import { WindowPicker } from '../../parts/windowPicker.ts';
import { PaymentsTable } from '../payments/table.ts';
import { axisUsd, bucketTimes } from '../series.ts';
import { Attention } from './attention.ts';
import type { Overview as Site } from './document.ts';
import { OVERVIEW_DOCUMENT } from './document.ts';

/** How the site does, at a glance, and what needs a look. */
export function Overview(): View {
  const at = useWindow();
  const { window, every, timeZone } = at;
  const query = useQuery<{ readonly tenant: Site | null }>(OVERVIEW_DOCUMENT, { window, every, timeZone });
  return html`<${Head} title="Overview"><${WindowPicker} /><//>
    <${Await} of=${query} isReport rows=${8} empty=${(data: { readonly tenant: Site | null }) => data.tenant === null}>
      ${({ tenant }: { readonly tenant: Site }) => html`<div class="stack">
        <${Sums} site=${tenant} />
        <${Chart} site=${tenant} at=${at} />
        <div class="columns">
          <${Panel} title="Needs a look"><${Attention} site=${tenant} /><//>
          <${Panel} title="Best pages" actions=${html`<a href=${href('/earnings', { by: 'page' })}>All pages</a>`}><${BestPages} site=${tenant} /><//>
          <${Panel} title="Best agents" actions=${html`<a href=${href('/agents')}>All agents</a>`}><${BestAgents} site=${tenant} /><//>
        </div>
        <${Panel} title="Newest payments" flush actions=${html`<a href=${href('/earnings', { by: 'payments' })}>All payments</a>`}>
          <${PaymentsTable} rows=${tenant.payments?.nodes ?? []} empty="Nobody has paid yet." />
        <//>
      </div>`}
    <//>`;
}

function Sums({ site: { earnings, audit, attention, settlementTimes } }: { readonly site: Site }): View {
  const before = (micro: string | undefined): string | undefined =>
    micro === undefined ? undefined : `${exactUsd(micro)} in the window before`;
  const changed = (now: string | undefined, previous: string | undefined): object | null => {
    const change = now === undefined ? null : difference(now, previous);
    return change && { ...change, exact: before(previous) };
  };
  return html`<${Panel}>
    <${Figures}>
      <${Figure} label="Earned" value=${usd(earnings?.totals.grossMicro)} exact=${exactUsd(earnings?.totals.grossMicro)}
        change=${changed(earnings?.totals.grossMicro, earnings?.previous?.grossMicro)}
        note=${`${count(earnings?.totals.events)} ${earnings?.totals.events === 1 ? 'sale' : 'sales'}`} />
      <${Figure} label="Missed" value=${usd(audit?.totals.missedMicro)} exact=${exactUsd(audit?.totals.missedMicro)} good="down"
        change=${changed(audit?.totals.missedMicro, audit?.previous?.missedMicro)} note=${`${count(audit?.totals.denied)} refused`} />
      <${Figure} label="Failed" value=${usd(audit?.totals.failedMicro)} exact=${exactUsd(audit?.totals.failedMicro)} good="down"
        change=${changed(audit?.totals.failedMicro, audit?.previous?.failedMicro)} note=${`${count(audit?.totals.paymentFailed)} payments`} />
      <${Figure} label="Waiting for the chain" value=${usd(attention.waiting?.total.micro)} exact=${exactUsd(attention.waiting?.total.micro)}
        note=${`${count(attention.waiting?.total.payments)} payments`} />
      <${Figure} label="Agents’ requests" value=${count(audit?.totals.agentHits)} exact=${exactCount(audit?.totals.agentHits)}
        change=${audit ? difference(audit.totals.agentHits, audit.previous?.agentHits) : null} good="neither" />
      <${Figure} label="Sale to settled" value=${span(settlementTimes?.settled.p50Ms)} exact=${exactSpan(settlementTimes?.settled.p50Ms)}
        note=${html`<span title=${exactSpan(settlementTimes?.settled.p95Ms)}>95 % within ${span(settlementTimes?.settled.p95Ms)}</span>`} />
    <//>
    ${earnings?.window.retentionClampedTo ? html`<${Notice}>Your plan keeps figures since ${exactMoment(earnings.window.retentionClampedTo).slice(0, 10)}.<//>` : null}
  <//>`;
}

const EARNED_AND_MISSED = [
  { name: 'Earned', tone: 'accent' },
  { name: 'Missed', tone: 'quiet' },
] as const;

function Chart({ site: { earnings, audit }, at }: { readonly site: Site; readonly at: LookedAt }): View {
  const rows = earnings?.series ?? [];
  const isNothing =
    rows.every(({ grossMicro }) => grossMicro === '0') && (audit?.series ?? []).every(({ totals }) => totals.missedMicro === '0');
  const action = html`<${Button} href=${href('/setup')}>Look at the set-up<//>`;
  if (isNothing)
    return html`<${Panel}><${Empty} title="Nothing was sold or missed in this window" action=${action}>Sales appear here seconds after they are made.<//><//>`;
  const buckets = rows.map(({ from, grossMicro }, place) => {
    const missed = audit?.series[place]?.totals.missedMicro ?? '0';
    const said = { texts: [usd(grossMicro), usd(missed)], exact: [exactUsd(grossMicro), exactUsd(missed)] };
    return { ...bucketTimes(from, at.every), ...said, values: [Number(grossMicro), Number(missed)] };
  });
  return html`<${Panel} title=${`Earned and missed by ${at.every.toLowerCase()}`}>
    <${Trend} label="Earned and missed" series=${EARNED_AND_MISSED} buckets=${buckets} axis=${axisUsd} />
  <//>`;
}

function BestPages({ site }: { readonly site: Site }): View {
  const rows = (site.pages?.breakdown?.nodes ?? []).map(({ key, title, grossMicro, events }) => ({
    label: title ?? key,
    title: key,
    size: Number(grossMicro),
    text: usd(grossMicro),
    exact: exactUsd(grossMicro),
    note: `${count(events)} sold`,
    href: href('/earnings', { by: 'agent', slug: key }),
  }));
  return html`<${Bars} label="Best pages" rows=${rows} empty="No page was sold in this window." />`;
}

function BestAgents({ site }: { readonly site: Site }): View {
  const rows = (site.agents?.nodes ?? []).map(({ agent, earnedMicro, hits }) => ({
    label: agent,
    size: Number(earnedMicro),
    text: usd(earnedMicro),
    exact: exactUsd(earnedMicro),
    note: `${count(hits)} requests`,
    href: href('/agents', { agent }),
  }));
  return html`<${Bars} label="Best agents" rows=${rows} empty="No agent came by in this window." />`;
}
