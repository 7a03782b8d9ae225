import { useQuery } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { href, useRoute } from '../../core/router.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Time } from '../../parts/figure.ts';
import { Badge, Head, Panel, Tabs } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import { Deliveries } from './deliveries.ts';
import type { Endpoint, NewestEvent } from './documents.ts';
import { ENDPOINTS_DOCUMENT } from './documents.ts';
import { EndpointForm } from './endpointForm.ts';
import type { Secret } from './secret.ts';
import { SecretOnce } from './secret.ts';
import { Times } from './times.ts';
import { CHANNELS, EVENT_WORDS, standingOf } from './words.ts';

interface Answer {
  readonly tenant: {
    readonly webhookEndpoints: { readonly nodes: readonly Endpoint[] };
    readonly webhookEvents: { readonly nodes: readonly NewestEvent[] } | null;
  } | null;
}

/** Who is told of sales and alerts, and what was sent. */
export function Webhooks(): View {
  const { query } = useRoute();
  const view = query['view'] === 'deliveries' ? 'deliveries' : '';
  const items = [
    { key: '', label: 'Endpoints', href: href('/webhooks', { view: '' }) },
    { key: 'deliveries', label: 'Deliveries', href: href('/webhooks', { view: 'deliveries' }) },
  ];
  return html`<${Head} title="Webhooks" about="Your servers and chats hear of every sale and every alert." />
    <${Tabs} label="Webhooks" items=${items} current=${view} />
    ${view === 'deliveries' ? html`<${Times} /><${Deliveries} />` : html`<${Endpoints} />`}`;
}

function Endpoints(): View {
  const query = useQuery<Answer>(ENDPOINTS_DOCUMENT);
  const [isMaking, setMaking] = useState(false);
  const [secret, setSecret] = useState<Secret | null>(null);
  const endpoints = query.data?.tenant?.webhookEndpoints.nodes ?? [];
  const newest = query.data?.tenant?.webhookEvents?.nodes[0] ?? null;
  const add = html`<${Button} kind="primary" onClick=${() => setMaking(true)}>Add an endpoint<//>`;
  return html`<${Panel} flush title="Endpoints" actions=${add}>
      <${Await} of=${query} empty=${() => endpoints.length === 0}
        nothing=${html`<${Empty} title="Nobody is told yet">An endpoint is a URL of yours, or a chat, that hears of each sale within seconds.<//>`}>
        ${() => html`<${Table} label="Endpoints" columns=${COLUMNS} rows=${endpoints} keyOf=${({ endpointId }: Endpoint) => endpointId} />`}
      <//>
    <//>
    ${isMaking ? html`<${EndpointForm} endpoint=${null} newest=${newest} onClose=${() => setMaking(false)} done=${query.reload} told=${setSecret} />` : null}
    <${SecretOnce} secret=${secret} onClose=${() => setSecret(null)} />`;
}

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    head: 'Endpoint',
    isName: true,
    width: 'wide',
    cell: ({ endpointId, origin, description }) =>
      html`<span class="two"><a href=${href(`/webhooks/${endpointId}`)}>${origin}</a>${description ? html`<small>${description}</small>` : null}</span>`,
  },
  {
    head: 'To',
    width: 'late',
    cell: ({ channel }) => (channel === 'RAW' ? 'Server' : (CHANNELS.find(({ value }) => value === channel)?.label ?? channel)),
  },
  { head: 'Events', width: 'late', cell: ({ eventTypes }) => eventTypes.map((type) => EVENT_WORDS[type] ?? type).join(', ') },
  {
    head: 'State',
    cell: (endpoint) => {
      const { tone, text, more } = standingOf(endpoint);
      return html`<${Badge} tone=${tone} title=${more}>${text}<//>`;
    },
  },
  { head: 'Since', width: 'late', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
];
