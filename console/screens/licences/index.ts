import { ask, useList } from '../../core/data.ts';
import { count, exactCount, exactMoment, uses } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useEffect, useState } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { mutate } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { href, setQuery, useRoute } from '../../core/router.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Count, Figure, Figures, Money, Short, Time } from '../../parts/figure.ts';
import { Badge, Head, Panel, Tabs } from '../../parts/panel.ts';
import { Effect, useReview } from '../../parts/review.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import { DenyToken } from './denyToken.ts';
import type { Licence, ReportedUse } from './documents.ts';
import { LICENCE_DOCUMENT, LICENCES_DOCUMENT, REVOKE_LICENCE_DOCUMENT } from './documents.ts';
import { OfferingForm } from './offering.ts';
import { licenceState } from './words.ts';

interface Counted {
  readonly totalCount: number | null;
}

interface Answer {
  readonly tenant: {
    readonly licencesSold: Counted & {
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      readonly nodes: readonly Licence[];
    };
    readonly inForce: Counted;
    readonly ending: Counted;
  } | null;
}

const SHOWN = [
  { value: '', label: 'In force', filter: { inForce: true }, orderBy: 'NEWEST', nothing: 'No licence is in force.' },
  {
    value: 'ending',
    label: 'Ending within 14 days',
    filter: { endsWithinDays: 14 },
    orderBy: 'ENDING',
    nothing: 'None ends soon.',
  },
  { value: 'all', label: 'All that were sold', filter: {}, orderBy: 'NEWEST', nothing: 'No licence was sold yet.' },
] as const;

/** Licences over many pages: those sold, and what is offered. */
export function Licences(): View {
  const { query } = useRoute();
  const view = query['view'] === 'offering' ? 'offering' : '';
  const items = [
    { key: '', label: 'Sold', href: href('/licences', { view: '' }) },
    { key: 'offering', label: 'Offered', href: href('/licences', { view: 'offering' }) },
  ];
  return html`<${Head} title="Licences" about="Many pages for a period, paid at once." />
    <${Tabs} label="Licences" items=${items} current=${view} />
    ${view === 'offering' ? html`<${OfferingForm} />` : html`<${Sold} />`}`;
}

function Sold(): View {
  const { query } = useRoute();
  const shown = SHOWN.find(({ value }) => value === query['show']) ?? SHOWN[0];
  const { filter, orderBy } = shown;
  const list = useList<Answer, Licence>(LICENCES_DOCUMENT, { filter, orderBy }, ({ tenant }) => tenant?.licencesSold ?? null);
  const [chosen, choose] = useState<Licence | null>(null);
  const revocation = useRevocation(chosen, list.reload);
  const tenant = list.data?.tenant ?? null;
  const figure = (label: string, of: Counted | undefined): View =>
    html`<${Figure} label=${label} value=${count(of?.totalCount)} exact=${exactCount(of?.totalCount)} />`;
  const actions = html`<${Field} label=${html`<span class="sr">Show</span>`} value=${shown.value} options=${SHOWN} onInput=${(show: string) => setQuery({ show })} />`;
  return html`<${Panel}><${Figures}>
        ${figure('In force', tenant?.inForce)} ${figure('Ending within 14 days', tenant?.ending)}
      <//><//>
    <${Panel} flush title=${list.total === null ? 'Licences' : many(list.total, 'licence')} actions=${actions}>
      ${revocation.outcome()}
      <${Await} of=${list} empty=${() => list.rows.length === 0} nothing=${html`<${Empty}>${shown.nothing}<//>`}>
        ${() => html`<${Table} label="Licences" rows=${list.rows} more=${list.more} keyOf=${({ jti }: Licence) => jti} columns=${columnsOf((one) => choose({ ...one }))} />`}
      <//>
    <//>
    ${revocation.dialog}
    <${DenyToken} />`;
}

function columnsOf(revoke: (licence: Licence) => void): readonly Column<Licence>[] {
  return [
    {
      head: 'Licence',
      isName: true,
      width: 'wide',
      cell: ({ host, patterns, pages, jti }) =>
        html`<span class="two"><span>${host} <span class="muted"><${Count} of=${pages} /> ${pages === 1 ? 'page' : 'pages'}</span></span>
          <small title=${patterns.join('\n')}>${patterns.slice(0, 3).join(', ')}${patterns.length > 3 ? ` and ${patterns.length - 3} more` : ''} · <${Short} of=${jti} /></small></span>`,
    },
    {
      head: 'For',
      width: 'late',
      cell: ({ terms }) =>
        html`<span class="words" title=${terms.join(', ')}>${terms.map((term, n) => html`${n > 0 ? ', ' : ''}<span class="whole">${uses([term])}</span>`)}</span>`,
    },
    {
      head: 'Paid',
      align: 'end',
      cell: ({ micro, payment }) =>
        payment
          ? html`<a href=${href(`/earnings/payments/${payment.paymentId}`)}><${Money} micro=${micro} /></a>`
          : html`<${Money} micro=${micro} />`,
    },
    { head: 'Use reported', width: 'late', cell: ({ reportedUse }) => usesOf(reportedUse) },
    { head: 'Bought', width: 'late', cell: ({ boughtAt }) => html`<${Time} at=${boughtAt} />` },
    { head: 'Until', width: 'late', cell: ({ until }) => html`<${Time} at=${until} />` },
    {
      head: 'State',
      cell: (licence) => {
        const { tone, text } = licenceState(licence);
        return html`<${Badge} tone=${tone} title=${exactMoment(licence.revokedAt ?? licence.until)}>${text}<//>`;
      },
    },
    {
      head: html`<span class="sr">Actions</span>`,
      align: 'end',
      cell: (licence) =>
        licence.revokedAt === null && licence.until > Date.now()
          ? html`<${Button} kind="quiet" label=${`Revoke the licence ${licence.jti}`} onClick=${() => revoke(licence)}>Revoke<//>`
          : null,
    },
  ];
}

/** What a buyer reports; a use that was not sold stands out. */
function usesOf(reported: readonly ReportedUse[]): View {
  if (reported.length === 0) return html`<span class="muted">None</span>`;
  return html`${reported.map(({ use, count: times, outside }) =>
    outside > 0
      ? html`<${Badge} tone="warn" title=${`${exactCount(outside)} of these uses are not among what was sold`}>${uses([use])} ${count(times)}<//> `
      : html`<span title="Reported by the buyer; nobody checked it">${uses([use])} ${count(times)}</span> `,
  )}`;
}

function useRevocation(licence: Licence | null, done: () => void) {
  const review = useReview({
    title: 'Revoke the licence',
    look: async () => {
      const { tenant } = await ask<{ tenant: { licenceSold: Licence | null } | null }>(LICENCE_DOCUMENT, { jti: licence?.jti });
      if (!tenant?.licenceSold) throw new Problem('not_found', 'There is no such licence any more.');
      return tenant.licenceSold;
    },
    show: ({ host, pages, micro, until, revokedAt }) =>
      html`<${Effect} lines=${
        revokedAt !== null
          ? ['Somebody revoked it already.']
          : [
              html`The licence for ${many(pages, 'page')} of ${host} ends now, instead of on <${Time} at=${until} />.`,
              'The next check of it says that it is revoked.',
              'Who checks offline notices when the last token ends that was made of it.',
              html`No money moves: the <${Money} micro=${micro} /> stay with the authors.`,
              'This cannot be taken back.',
            ]
      } />`,
    make: ({ jti }) => mutate(REVOKE_LICENCE_DOCUMENT, { jti }),
    confirm: 'Revoke it',
    danger: true,
    isIdle: ({ revokedAt }) => revokedAt !== null,
    said: 'Revoked.',
    done,
  });
  useEffect(() => {
    if (licence !== null) void review.start();
  }, [licence]);
  return review;
}
