import { useList } from '../../core/data.ts';
import { count, difference, exactCount, exactPercent, exactUsd, percent, usd } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href, setQuery, useRoute } from '../../core/router.ts';
import type { LookedAt } from '../../core/windows.ts';
import { isRunning, useWindow } from '../../core/windows.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Figure, Figures } from '../../parts/figure.ts';
import { Head, Panel } from '../../parts/panel.ts';
import { Trend } from '../../parts/trend.ts';
import { WindowPicker } from '../../parts/windowPicker.ts';
import { bucketTimes } from '../series.ts';
import { useDeciding } from './decide.ts';
import type { Agent, Agents as Site } from './document.ts';
import { AGENTS_DOCUMENT } from './document.ts';
import { OtherNames } from './others.ts';
import { AgentsTable, Observations } from './tables.ts';
import { priceOf, WhatIfPanel } from './whatIf.ts';

/** Orders of the table, and what each is called. */
const ORDERS = [
  { key: 'EARNED', label: 'Earned most' },
  { key: 'UNANSWERED_MICRO', label: 'Missed most' },
  { key: 'HITS', label: 'Came most' },
  { key: 'UNANSWERED', label: 'Refused most' },
  { key: 'PAYMENT_FAILED', label: 'Failed most' },
  { key: 'MASQUERADES', label: 'Spoofed most' },
] as const;

type Answer = { readonly tenant: Site | null };

/** Who reads, who pays, who is refused, and who is not who he says. */
export function Agents(): View {
  const { query } = useRoute();
  const at = useWindow();
  const agent = query['agent'] ?? null;
  const agentName = agent === 'other' ? (query['name'] ?? null) : null;
  const orderBy = (ORDERS.find(({ key }) => key === query['sort']) ?? ORDERS[0]).key;
  const seen = { window: at.window, ...(agent === null ? { sigInvalid: true } : { classifiedAs: 'AGENT', agent, agentName }) };
  const price = agent === null ? priceOf(query['price']) : null;
  const asked = { orderBy, agent, agentName, seen, price: price ?? '0', asksPrice: price !== null };
  const variables = { window: at.window, every: at.every, timeZone: at.timeZone, ...asked };
  const deciding = useDeciding();
  const list = useList<Answer, Agent>(AGENTS_DOCUMENT, variables, ({ tenant }) => tenant?.agents ?? null);
  return html`
    <${Crumbs} agent=${agent} isNamed=${agentName !== null} />
    <${Head} title=${agentName ?? agent ?? 'Agents'}><${WindowPicker} /><//>
    <${Await} of=${list} isReport rows=${8} empty=${({ tenant }: Answer) => tenant === null}>
      ${({ tenant }: { readonly tenant: Site }) => html`<div class="stack">
        <${Sums} site=${tenant} agent=${agentName === null ? agent : null} />
        <${Over} site=${tenant} at=${at} />
        ${
          agent === null
            ? html`<${Panel} title="Agents" flush actions=${html`<${Order} value=${orderBy} />`}>
          ${deciding.outcome()}
          <${AgentsTable} rows=${list.rows} more=${list.more} orderBy=${orderBy} deciding=${deciding} />
        <//>`
            : null
        }
        ${agent === null ? html`<${WhatIfPanel} answer=${tenant.whatIf ?? null} price=${price} />` : null}
        ${agent === 'other' && agentName === null ? html`<${OtherNames} />` : null}
        <${Panel} flush title=${agent === null ? 'Spoofed requests' : 'Newest requests'}
          about=${agent === null ? 'Requests whose signature did not verify, or whose address is not the named robot’s.' : undefined}>
          <${Observations} rows=${tenant.observations?.nodes ?? []} empty=${agent === null ? 'No spoofed request in this window.' : 'No request in this window.'} />
        <//>
      </div>`}
    <//>
    ${deciding.dialog}`;
}

/** The way back from one agent, and from one name inside a label. */
function Crumbs({ agent, isNamed }: { readonly agent: string | null; readonly isNamed: boolean }): View {
  if (agent === null) return null;
  return html`<nav class="crumbs" aria-label="Where this is">
    <a href=${href('/agents')}>Agents</a>${isNamed ? html` / <a href=${href('/agents', { agent })}>${agent}</a>` : null}
  </nav>`;
}

function Order({ value }: { readonly value: string }): View {
  const pick = (event: Event): void => setQuery({ sort: (event.currentTarget as HTMLSelectElement).value });
  return html`<select aria-label="Order" value=${value} onChange=${pick}>${ORDERS.map(({ key, label }) => html`<option key=${key} value=${key}>${label}</option>`)}</select>`;
}

function Sums({ site: { audit }, agent }: { readonly site: Site; readonly agent: string | null }): View {
  if (!audit) return null;
  const { totals, previous } = audit;
  return html`<${Panel}>
    <div class="beside">
      <${Figures}>
        <${Figure} label="Agents’ requests" value=${count(totals.agentHits)} exact=${exactCount(totals.agentHits)} good="neither"
          change=${difference(totals.agentHits, previous?.agentHits)} note=${`${count(totals.verifiedHits)} verified`} />
        ${agent === null ? html`<${Figure} label="People’s requests" value=${count(totals.peopleHits)} exact=${exactCount(totals.peopleHits)} note="in no list below" />` : null}
        <${Figure} label="Paid" value=${count(totals.paid)} exact=${exactCount(totals.paid)} change=${difference(totals.paid, previous?.paid)}
          note=${html`<span title=${exactPercent(totals.conversion)}>${percent(totals.conversion)} of those asked</span>`} />
        <${Figure} label="Refused" value=${count(totals.unanswered)} exact=${exactCount(totals.unanswered)} good="down"
          change=${difference(totals.unanswered, previous?.unanswered)} note=${`${count(totals.paymentFailed)} failed to pay`} />
        <${Figure} label="Spoofed" value=${count(totals.masqueradeAttempts)} exact=${exactCount(totals.masqueradeAttempts)} good="down"
          change=${difference(totals.masqueradeAttempts, previous?.masqueradeAttempts)} />
        <${Figure} label="Earned" value=${usd(totals.earnedMicro)} exact=${exactUsd(totals.earnedMicro)}
          change=${difference(totals.earnedMicro, previous?.earnedMicro)}
          note=${html`<span title=${exactUsd(totals.verifiedEarnedMicro)}>${usd(totals.verifiedEarnedMicro)} from verified agents</span>`} />
        <${Figure} label="Missed" value=${usd(totals.unansweredMicro)} exact=${exactUsd(totals.unansweredMicro)} good="down"
          change=${difference(totals.unansweredMicro, previous?.unansweredMicro)} />
      <//>
      ${agent === null ? null : html`<div class="actions"><${Button} href=${href('/earnings', { by: 'page', agent })}>Its earnings<//></div>`}
    </div>
  <//>`;
}

const ASKED = [
  { name: 'Paid', tone: 'accent' },
  { name: 'Refused', tone: 'quiet' },
] as const;

function Over({ site: { audit }, at }: { readonly site: Site; readonly at: LookedAt }): View {
  const buckets = (audit?.series ?? []).map(({ from, totals }) => ({
    ...bucketTimes(from, at.every),
    values: [totals.paid, totals.unanswered],
    texts: [count(totals.paid), count(totals.unanswered)],
    exact: [exactCount(totals.paid), exactCount(totals.unanswered)],
  }));
  return html`<${Panel} title=${`Paid and refused requests by ${at.every.toLowerCase()}`}>
    <${Trend} label="Paid and refused requests" series=${ASKED} buckets=${buckets} isRunning=${isRunning(at)} axis=${(value: number) => count(Math.round(value * 10) / 10)} />
  <//>`;
}
