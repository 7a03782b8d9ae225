import { useQuery } from '../../core/data.ts';
import { count, difference, exactCount, exactMoment, exactSpan, exactUsd, placesOf, span, usd } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { href } from '../../core/router.ts';
import type { LookedAt } from '../../core/windows.ts';
import { isRunning, useWindow } from '../../core/windows.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Bars } from '../../parts/bars.ts';
import { Button } from '../../parts/button.ts';
import { Figure, Figures } from '../../parts/figure.ts';
import { Head, Notice, Panel } from '../../parts/panel.ts';
import { Trend } from '../../parts/trend.ts';
import { WindowPicker } from '../../parts/windowPicker.ts';
import { PaymentsTable } from '../payments/table.ts';
import { axisUsd, bucketTimes, lineOf } from '../series.ts';
import { Attention } from './attention.ts';
import type { Overview as Site } from './document.ts';
import { OVERVIEW_DOCUMENT } from './document.ts';

/** How the site does, at a glance, and what needs a look. */
export function Overview(): View {
  const at = useWindow();
  const { window, every, timeZone, before } = at;
  const asked = { window, every, timeZone, before, hasBefore: before !== null };
  const query = useQuery<{ readonly tenant: Site | null }>(OVERVIEW_DOCUMENT, asked);
  return html`<${Head} title="Overview"><${WindowPicker} /><//>
    <${Await} of=${query} isReport rows=${8} empty=${(data: { readonly tenant: Site | null }) => data.tenant === null}>
      ${({ tenant }: { readonly tenant: Site }) => html`<div class="board">
        <div class="main"><${Money} site=${tenant} at=${at} /></div>
        <div class="aside"><${Panel} title="Needs a look"><${Attention} site=${tenant} /><//></div>
        <div class="third"><${Panel} title="Best pages" actions=${html`<a href=${href('/earnings', { by: 'page' })}>All pages</a>`}><${BestPages} site=${tenant} /><//></div>
        <div class="third"><${Panel} title="Best agents" actions=${html`<a href=${href('/agents')}>All agents</a>`}><${BestAgents} site=${tenant} /><//></div>
        <div class="rest"><${Panel} title="Newest payments" flush actions=${html`<a href=${href('/earnings', { by: 'payments' })}>All payments</a>`}>
          <${PaymentsTable} rows=${tenant.payments?.nodes ?? []} empty="Nobody has paid yet." />
        <//></div>
      </div>`}
    <//>`;
}

/** What was earned, how it went, and below it all that did not become money, or not yet. */
function Money({ site, at }: { readonly site: Site; readonly at: LookedAt }): View {
  const { earnings, audit, attention, settlementTimes } = site;
  const before = (micro: string | undefined): string | undefined =>
    micro === undefined ? undefined : `${exactUsd(micro)} in the window before`;
  const changed = (now: string | undefined, previous: string | undefined): object | null => {
    const change = now === undefined ? null : difference(now, previous);
    return change && { ...change, exact: before(previous) };
  };
  const p95 = settlementTimes?.settled.p95Ms ?? null;
  return html`<${Panel}>
    <${Figures}>
      <${Figure} isHero label="Earned" value=${usd(earnings?.totals.grossMicro)} exact=${exactUsd(earnings?.totals.grossMicro)}
        change=${changed(earnings?.totals.grossMicro, earnings?.previous?.grossMicro)} note=${sold(earnings)} />
    <//>
    <${Chart} site=${site} at=${at} />
    <div class="second"><${Figures}>
      <${Figure} label="Missed" value=${usd(audit?.totals.unansweredMicro)} exact=${exactUsd(audit?.totals.unansweredMicro)} good="down"
        change=${changed(audit?.totals.unansweredMicro, audit?.previous?.unansweredMicro)} note=${`${count(audit?.totals.unanswered)} refused`} />
      <${Figure} label="Failed" value=${usd(audit?.totals.failedMicro)} exact=${exactUsd(audit?.totals.failedMicro)} good="down"
        change=${changed(audit?.totals.failedMicro, audit?.previous?.failedMicro)} note=${many(audit?.totals.paymentFailed ?? 0, 'payment')} />
      <${Figure} label="Waiting for the chain" value=${usd(attention.waiting?.total.micro)} exact=${exactUsd(attention.waiting?.total.micro)}
        note=${many(attention.waiting?.total.payments ?? 0, 'payment')} />
      <${Figure} label="Agents’ requests" value=${count(audit?.totals.agentHits)} exact=${exactCount(audit?.totals.agentHits)}
        change=${audit ? difference(audit.totals.agentHits, audit.previous?.agentHits) : null} good="neither" />
      <${Figure} label="Sale to settled" value=${span(settlementTimes?.settled.p50Ms)} exact=${exactSpan(settlementTimes?.settled.p50Ms)}
        note=${html`<span title=${exactSpan(p95)}>${p95 === null ? 'none settled' : `95 % within ${span(p95)}`}</span>`} />
    <//></div>
    ${earnings?.window.retentionClampedTo ? html`<${Notice}>Your plan keeps figures since ${exactMoment(earnings.window.retentionClampedTo).slice(0, 10)}.<//>` : null}
  <//>`;
}

function sold(earnings: Site['earnings']): string {
  return earnings === null ? '' : many(earnings.totals.events, 'sale');
}

const EARNED_AND_MISSED = [
  { name: 'Earned', tone: 'accent' },
  { name: 'Missed', tone: 'quiet' },
] as const;

function Chart({ site, at }: { readonly site: Site; readonly at: LookedAt }): View {
  const { earnings, audit } = site;
  const rows = earnings?.series ?? [];
  const isNothing =
    rows.every(({ grossMicro }) => grossMicro === '0') &&
    (audit?.series ?? []).every(({ totals }) => totals.unansweredMicro === '0');
  const action = html`<${Button} href=${href('/setup')}>Look at the set-up<//>`;
  if (isNothing)
    return html`<${Empty} title="Nothing was sold or missed in this window" action=${action}>Sales appear here seconds after they are made.<//>`;
  const buckets = rows.map(({ from, grossMicro }, place) => {
    const missed = audit?.series[place]?.totals.unansweredMicro ?? '0';
    const said = { texts: [usd(grossMicro), usd(missed)], exact: [exactUsd(grossMicro), exactUsd(missed)] };
    return { ...bucketTimes(from, at.every), ...said, values: [Number(grossMicro), Number(missed)] };
  });
  return html`<${Trend} label=${`Earned and missed by ${at.every.toLowerCase()}`} series=${EARNED_AND_MISSED} buckets=${buckets} axis=${axisUsd}
    line=${lineOf(site.former, at.before)} isRunning=${isRunning(at)} />`;
}

function BestPages({ site }: { readonly site: Site }): View {
  const pages = site.pages?.breakdown?.nodes ?? [];
  const places = placesOf(pages.map(({ grossMicro }) => grossMicro));
  const rows = pages.map(({ key, title, grossMicro, events }) => ({
    label: title ?? key,
    title: key,
    size: Number(grossMicro),
    text: usd(grossMicro, places),
    exact: exactUsd(grossMicro),
    note: `${count(events)} sold`,
    href: href('/earnings', { by: 'agent', slug: key }),
  }));
  return html`<${Bars} label="Best pages" rows=${rows} empty="No page was sold in this window." />`;
}

function BestAgents({ site }: { readonly site: Site }): View {
  const agents = site.agents?.nodes ?? [];
  const places = placesOf(agents.map(({ earnedMicro }) => earnedMicro));
  const rows = agents.map(({ agent, earnedMicro, hits }) => ({
    label: agent,
    size: Number(earnedMicro),
    text: usd(earnedMicro, places),
    exact: exactUsd(earnedMicro),
    note: `${count(hits)} ${hits === 1 ? 'request' : 'requests'}`,
    href: href('/agents', { agent }),
  }));
  return html`<${Bars} label="Best agents" rows=${rows} empty="No agent came by in this window." />`;
}
