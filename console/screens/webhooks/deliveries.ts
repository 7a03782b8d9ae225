import { useList } from '../../core/data.ts';
import { words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { setQuery, useRoute } from '../../core/router.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Time } from '../../parts/figure.ts';
import { Badge, Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import type { Delivery } from './documents.ts';
import { DELIVERIES_DOCUMENT } from './documents.ts';
import { EventDialog } from './event.ts';
import { deliveryState, EVENT_WORDS } from './words.ts';

interface Answer {
  readonly tenant: {
    readonly deliveries: {
      readonly totalCount: number | null;
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      readonly nodes: readonly Delivery[];
    };
  } | null;
}

const SHOWN = [
  { value: '', label: 'All', filter: {} },
  { value: 'failing', label: 'Failing now', filter: { failing: true } },
  { value: 'lost', label: 'Given up or failed', filter: { states: ['EXHAUSTED', 'FAILED'] } },
  { value: 'waiting', label: 'Waiting', filter: { states: ['PENDING'] } },
  { value: 'delivered', label: 'Delivered', filter: { states: ['DELIVERED'] } },
] as const;

/** What was sent or is to be sent, of the whole site or to one endpoint. */
export function Deliveries({ endpointId }: { readonly endpointId?: string }): View {
  const { query } = useRoute();
  const shown = SHOWN.find(({ value }) => value === query['state']) ?? SHOWN[0];
  const filter = { ...shown.filter, ...(endpointId === undefined ? {} : { endpointId }) };
  const list = useList<Answer, Delivery>(DELIVERIES_DOCUMENT, { filter }, ({ tenant }) => tenant?.deliveries ?? null);
  const [opened, open] = useState<string | null>(null);
  const actions = html`<span class="filters">
    <${Field} label=${html`<span class="sr">Show</span>`} value=${shown.value} options=${SHOWN} onInput=${(state: string) => setQuery({ state })} />
    <${Button} onClick=${list.reload}>Refresh<//>
  </span>`;
  const nothing = html`<${Empty}>${shown.value === '' ? 'Nothing was sent yet.' : 'None stands like this.'}<//>`;
  return html`<${Panel} flush title=${list.total === null ? 'Deliveries' : many(list.total, 'delivery', 'deliveries')} actions=${actions}>
      <${Await} of=${list} empty=${() => list.rows.length === 0} nothing=${nothing}>
        ${() => html`<${Table} label="Deliveries" rows=${list.rows} more=${list.more} keyOf=${({ deliveryId }: Delivery) => deliveryId}
          columns=${columnsOf(open, endpointId === undefined)} />`}
      <//>
    <//>
    ${opened === null ? null : html`<${EventDialog} key=${opened} eventId=${opened} onClose=${() => open(null)} done=${list.reload} />`}`;
}

function columnsOf(open: (eventId: string) => void, withEndpoint: boolean): readonly Column<Delivery>[] {
  const endpoint: Column<Delivery> = { head: 'To', width: 'late', cell: (row) => row.endpoint?.origin ?? '–' };
  return [
    {
      head: 'Event',
      isName: true,
      cell: ({ event, redelivery }) =>
        html`${EVENT_WORDS[event?.type ?? ''] ?? 'Event'}${redelivery > 0 ? html` <span class="muted">sent again (${redelivery})</span>` : null}${event?.host ? html` <span class="muted">${event.host}</span>` : null}`,
    },
    ...(withEndpoint ? [endpoint] : []),
    { head: 'Made', width: 'late', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
    {
      head: 'State',
      cell: (row) => {
        const { tone, text } = deliveryState(row);
        return html`<${Badge} tone=${tone} title=${row.reason ? words(row.reason) : undefined}>${text}<//>`;
      },
    },
    { head: 'Attempts', align: 'end', width: 'late', cell: ({ attemptCount }) => attemptCount },
    {
      head: html`<span class="sr">Actions</span>`,
      align: 'end',
      cell: ({ event, deliveryId }) =>
        event
          ? html`<${Button} kind="quiet" label=${`Details of delivery ${deliveryId}`} onClick=${() => open(event.eventId)}>Details<//>`
          : null,
    },
  ];
}
