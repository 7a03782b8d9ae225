import { ask } from '../../core/data.ts';
import { exactMoment } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { mutate } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Panel } from '../../parts/panel.ts';
import { Effect, useReview } from '../../parts/review.ts';
import type { Endpoint } from './documents.ts';
import { RECOVER_DOCUMENT, REPLAY_DOCUMENT } from './documents.ts';

/** How much there is to send again: of an endpoint, since or within a time. */
export const AGAIN_DOCUMENT = `query again($tenantId: ID, $lost: DeliveryFilter, $window: WindowInput) {
  tenant(tenantId: $tenantId) {
    deliveries(filter: $lost, first: 1) { totalCount }
    webhookEvents(filter: { window: $window }, first: 1) { totalCount }
  }
}`;

interface Answer {
  readonly tenant: {
    readonly deliveries: { readonly totalCount: number | null };
    readonly webhookEvents: { readonly totalCount: number | null };
  } | null;
}

const KINDS = [
  { value: 'recover', label: 'Deliveries given up' },
  { value: 'replay', label: 'Every event' },
];

/** Sends again what was given up, or every event, since a moment. */
export function SendAgain({
  endpoint: { endpointId, origin },
  done,
}: {
  readonly endpoint: Endpoint;
  readonly done: () => void;
}): View {
  const [kind, setKind] = useState('recover');
  const [day, setDay] = useState(new Date(Date.now() - 86_400_000).toISOString().slice(0, 10));
  const [said, say] = useState('');
  const review = useReview({
    title: 'Send again',
    look: async () => {
      const from = Date.parse(`${day}T00:00:00`);
      if (Number.isNaN(from)) throw new Problem('invalid', 'Write a day.', { parameter: 'since' });
      const to = Date.now();
      const window = { from, to };
      const { tenant } = await ask<Answer>(AGAIN_DOCUMENT, { lost: { endpointId, states: ['EXHAUSTED'], window }, window });
      return { from, to, lost: tenant?.deliveries.totalCount ?? null, events: tenant?.webhookEvents.totalCount ?? null };
    },
    show: ({ from, lost, events }) =>
      html`<${Effect} lines=${
        kind === 'recover'
          ? [
              `${lost === null ? 'All deliveries' : many(lost, 'delivery', 'deliveries')} made since ${exactMoment(from)} that were given up ${lost === 1 ? 'is' : 'are'} tried again.`,
              'Same ids, same bytes. At most 1,000 at once; the oldest first.',
            ]
          : [
              html`${events === null ? 'Every event' : `Of ${many(events, 'event')} of the site`} since ${exactMoment(from)}, those that ${origin} hears of are sent once more.`,
              'Each is a further delivery of the same event. At most 1,000 at once; the oldest first.',
            ]
      } />`,
    make: async ({ from, to }) => {
      if (kind === 'recover') {
        const { recoverDeliveries: made } = await mutate<{ recoverDeliveries: { deliveries: number; isMore: boolean } }>(
          RECOVER_DOCUMENT,
          { endpointId, since: from },
        );
        return say(
          `${many(made.deliveries, 'delivery', 'deliveries')} on the way.${made.isMore ? ' There are more: send again.' : ''}`,
        );
      }
      const { replayEvents: made } = await mutate<{ replayEvents: { deliveries: number; next: string | null } }>(
        REPLAY_DOCUMENT,
        { endpointId, from, to },
      );
      say(
        `${many(made.deliveries, 'delivery', 'deliveries')} on the way.${made.next === null ? '' : ' There are more: send again from a later day.'}`,
      );
    },
    confirm: 'Send again',
    isIdle: ({ lost, events }) => (kind === 'recover' ? lost === 0 : events === 0),
    said,
    done,
  });
  return html`<${Panel} title="Send again" about="After an outage of yours.">
    <div class="form">
      <div class="pair">
        <${Field} label="What" value=${kind} options=${KINDS} onInput=${setKind} />
        <${Field} label="Since" type="date" value=${day} onInput=${setDay} error=${review.errorAt('since', 'from', 'to')} />
      </div>
      ${review.outcome('since', 'from', 'to')}
      <div class="actions"><${Button} onClick=${review.start}>Review<//></div>
    </div>
    ${review.dialog}
  <//>`;
}
