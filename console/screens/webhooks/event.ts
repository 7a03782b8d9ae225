import { useQuery } from '../../core/data.ts';
import { span, words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Short, Time } from '../../parts/figure.ts';
import { Badge, Facts, Notice } from '../../parts/panel.ts';
import { Effect, useReview } from '../../parts/review.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import { EVENT_DOCUMENT, REDELIVER_DOCUMENT } from './documents.ts';
import { deliveryState, EVENT_WORDS, prettyJson } from './words.ts';

interface Attempt {
  readonly attempt: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly status: number | null;
  readonly reason: string | null;
  readonly responseStart: string;
}

interface SentEvent {
  readonly eventId: string;
  readonly type: string;
  readonly host: string | null;
  readonly createdAt: number;
  readonly detailed: string;
  readonly summary: string;
  readonly chatLine: string;
}

interface Sent {
  readonly deliveryId: string;
  readonly state: string;
  readonly reason: string | null;
  readonly redelivery: number;
  readonly dueAt: number;
  readonly createdAt: number;
  readonly endpoint: {
    readonly endpointId: string;
    readonly origin: string;
    readonly profile: string;
    readonly channel: string;
  } | null;
  readonly attempts: readonly Attempt[];
  readonly event: SentEvent | null;
}

interface Answer {
  readonly tenant: { readonly deliveries: { readonly nodes: readonly Sent[] } } | null;
}

/** One event: what it says, every delivery of it with each try, and sending it again. */
export function EventDialog({
  eventId,
  onClose,
  done,
}: {
  readonly eventId: string;
  readonly onClose: () => void;
  readonly done: () => void;
}): View {
  const query = useQuery<Answer>(EVENT_DOCUMENT, { eventId });
  return html`<${Dialog} title="Event" open=${true} onClose=${onClose}>
    <${Await} of=${query} empty=${({ tenant }: Answer) => (tenant?.deliveries.nodes.length ?? 0) === 0}>
      ${({ tenant }: Answer) => {
        const sent = tenant?.deliveries.nodes ?? [];
        const event = sent[0]?.event ?? null;
        return html`${event ? html`<${What} event=${event} />` : null}
          ${sent.map(
            (one) =>
              html`<${One} key=${one.deliveryId} sent=${one} done=${() => {
                query.reload();
                done();
              }} />`,
          )}`;
      }}
    <//>
  <//>`;
}

function What({ event }: { readonly event: SentEvent }): View {
  const [profile, setProfile] = useState<'detailed' | 'summary'>('detailed');
  return html`<${Facts} of=${[
    ['What', EVENT_WORDS[event.type] ?? event.type],
    ['Where', event.host ?? 'the site'],
    ['When', html`<${Time} at=${event.createdAt} />`],
    ['Event', html`<code>${event.eventId}</code>`],
    ['In a chat', event.chatLine],
  ]} />
    <details>
      <summary>What is sent</summary>
      <div class="actions">
        <${Button} kind="quiet" onClick=${() => setProfile(profile === 'detailed' ? 'summary' : 'detailed')}>${profile === 'detailed' ? 'Show counts alone' : 'Show every share'}<//>
      </div>
      <pre tabindex="0">${prettyJson(event[profile])}</pre>
    </details>`;
}

const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { head: 'Try', isName: true, cell: ({ attempt }) => attempt },
  { head: 'When', cell: ({ startedAt }) => html`<${Time} at=${startedAt} />` },
  { head: 'Took', align: 'end', width: 'late', cell: ({ durationMs }) => span(durationMs) },
  { head: 'Status', align: 'end', cell: ({ status }) => status ?? '–' },
  {
    head: 'Answer',
    width: 'wide',
    cell: ({ reason, responseStart }) =>
      html`${reason === null ? html`<${Badge} tone="good">taken<//>` : html`<${Badge} tone="bad">${words(reason)}<//>`} <small class="muted">${responseStart.slice(0, 160)}</small>`,
  },
];

function One({ sent, done }: { readonly sent: Sent; readonly done: () => void }): View {
  const { tone, text } = deliveryState({ state: sent.state, attemptCount: sent.attempts.length });
  const review = useReview({
    title: 'Send it again',
    look: async () => sent,
    show: ({ endpoint }) =>
      html`<${Effect} lines=${[
        html`The same event goes to ${endpoint?.origin ?? 'its endpoint'} once more, right away.`,
        'It has the same event id and the same content, under a new delivery id: a receiver that remembers event ids does nothing twice.',
        'What was delivered before stays as it is.',
      ]} />`,
    make: ({ deliveryId }) => mutate(REDELIVER_DOCUMENT, { deliveryId }),
    confirm: 'Send it again',
    said: 'It is on its way.',
    done,
  });
  return html`<section class="sent">
    <header>
      <h3>${sent.endpoint?.origin ?? 'An endpoint that is gone'} <${Badge} tone=${tone}>${text}<//></h3>
      <${Button} label=${`Send again, delivery ${sent.deliveryId}`} onClick=${review.start}>Send again<//>
    </header>
    <p class="about">Delivery <${Short} of=${sent.deliveryId} />${sent.redelivery > 0 ? `, asked for (${sent.redelivery})` : ''}, made <${Time} at=${sent.createdAt} />${sent.state === 'PENDING' ? html`, due <${Time} at=${sent.dueAt} relative />` : null}.</p>
    ${review.outcome()}
    ${
      sent.attempts.length === 0
        ? html`<${Notice}>No attempt yet.<//>`
        : html`<${Table} label=${`Attempts of delivery ${sent.deliveryId}`} columns=${ATTEMPT_COLUMNS} rows=${sent.attempts} keyOf=${({ attempt }: Attempt) => String(attempt)} />`
    }
    ${review.dialog}
  </section>`;
}
