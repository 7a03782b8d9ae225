import { useQuery } from '../../core/data.ts';
import { words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { go, href, useRoute } from '../../core/router.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Time } from '../../parts/figure.ts';
import { Badge, Facts, Head, Panel } from '../../parts/panel.ts';
import { Effect, useReview } from '../../parts/review.ts';
import { ChatLine } from './chatLine.ts';
import { Deliveries } from './deliveries.ts';
import type { Endpoint, NewestEvent } from './documents.ts';
import {
  DELETE_ENDPOINT_DOCUMENT,
  DISABLE_ENDPOINT_DOCUMENT,
  ENABLE_ENDPOINT_DOCUMENT,
  ENDPOINT_DOCUMENT,
  PAUSE_ENDPOINT_DOCUMENT,
  PING_ENDPOINT_DOCUMENT,
  RESUME_ENDPOINT_DOCUMENT,
  SKIP_WAIT_DOCUMENT,
} from './documents.ts';
import { EndpointForm } from './endpointForm.ts';
import { Rotate } from './rotate.ts';
import { SendAgain } from './sendAgain.ts';
import { CHANNELS, EVENT_WORDS, isPaused, PROFILES, standingOf } from './words.ts';

interface Answer {
  readonly tenant: {
    readonly webhookEndpoint: Endpoint | null;
    readonly webhookEvents: { readonly nodes: readonly NewestEvent[] } | null;
  } | null;
}

/** One endpoint: how it stands, what can be done with it, and what was sent to it. */
export function EndpointScreen(): View {
  const { params } = useRoute();
  const endpointId = params['endpointId'] ?? '';
  const query = useQuery<Answer>(ENDPOINT_DOCUMENT, { endpointId });
  return html`<${Await} of=${query} rows=${8} empty=${({ tenant }: Answer) => !tenant?.webhookEndpoint}
    nothing=${html`<${Head} title="No such endpoint" /><${Panel}><${Empty} action=${html`<${Button} href=${href('/webhooks')}>All endpoints<//>`}>It may have been deleted.<//><//>`}>
    ${({ tenant }: Answer) =>
      tenant?.webhookEndpoint
        ? html`<${One} endpoint=${tenant.webhookEndpoint} newest=${tenant.webhookEvents?.nodes[0] ?? null} reload=${query.reload} />`
        : null}
  <//>`;
}

interface Props {
  readonly endpoint: Endpoint;
  readonly newest: NewestEvent | null;
  readonly reload: () => void;
}

function One({ endpoint, newest, reload }: Props): View {
  const [isEditing, setEditing] = useState(false);
  const ping = usePing(endpoint, reload);
  const pause = usePause(endpoint, reload);
  const skip = useSkip(endpoint, reload);
  const toggle = useToggle(endpoint, reload);
  const removal = useRemoval(endpoint);
  const { tone, text, more } = standingOf(endpoint);
  return html`<div class="stack">
    <${Head} title=${endpoint.origin} about=${html`<a href=${href('/webhooks')}>Webhooks</a>${endpoint.description ? ` · ${endpoint.description}` : ''}`}>
      <${Button} onClick=${ping.start}>Send a test<//>
      <${Button} onClick=${() => setEditing(true)}>Change<//>
      ${endpoint.enabled ? html`<${Button} onClick=${pause.start}>${isPaused(endpoint) ? 'Resume' : 'Pause'}<//>` : null}
      ${endpoint.enabled && endpoint.failuresInRow > 0 && !isPaused(endpoint) ? html`<${Button} onClick=${skip.start}>Try now<//>` : null}
      <${Button} onClick=${toggle.start}>${endpoint.enabled ? 'Disable' : 'Enable'}<//>
      <${Button} kind="danger" onClick=${removal.start}>Delete<//>
    <//>
    ${ping.outcome()} ${pause.outcome()} ${skip.outcome()} ${toggle.outcome()} ${removal.outcome()}
    <div class="columns">
      <${Panel} title="Endpoint">
        <${Facts} of=${factsOf(endpoint, html`<${Badge} tone=${tone}>${text}<//> <span class="muted">${more}</span>`)} />
        ${endpoint.channel === 'RAW' ? null : html`<${ChatLine} newest=${newest} channel=${endpoint.channel} />`}
      <//>
      <div class="stack">
        ${endpoint.channel === 'RAW' ? html`<${Rotate} endpoint=${endpoint} />` : null}
        <${SendAgain} endpoint=${endpoint} done=${reload} />
      </div>
    </div>
    <${Deliveries} endpointId=${endpoint.endpointId} />
    ${ping.dialog} ${pause.dialog} ${skip.dialog} ${toggle.dialog} ${removal.dialog}
    ${isEditing ? html`<${EndpointForm} endpoint=${endpoint} newest=${newest} onClose=${() => setEditing(false)} done=${reload} told=${() => undefined} />` : null}
  </div>`;
}

function factsOf(endpoint: Endpoint, standing: View): readonly (readonly [View, View])[] {
  return [
    ['State', standing],
    ['URL', endpoint.url === null ? endpoint.origin : html`<code>${endpoint.url}</code>`],
    ['Sent as', CHANNELS.find(({ value }) => value === endpoint.channel)?.label ?? words(endpoint.channel)],
    ['Events', endpoint.eventTypes.map((type) => EVENT_WORDS[type] ?? type).join(', ')],
    ['Hosts', endpoint.hostFilter?.join(', ') ?? 'every host'],
    ['Content', PROFILES.find(({ value }) => value === endpoint.profile)?.label ?? words(endpoint.profile)],
    ...(endpoint.cooledUntil === null ? [] : [['Left alone until', html`<${Time} at=${endpoint.cooledUntil} />`] as const]),
    ...(isPaused(endpoint) ? [['Paused until', html`<${Time} at=${endpoint.pausedUntil} />`] as const] : []),
    ['Created', html`<${Time} at=${endpoint.createdAt} />`],
  ];
}

function usePing({ endpointId, origin, eventTypes }: Endpoint, done: () => void) {
  return useReview({
    title: 'Send a test',
    look: async () => EVENT_WORDS[eventTypes[0] ?? ''] ?? 'an event',
    show: (what) =>
      html`<${Effect} lines=${[html`One test event, ${what}, goes to ${origin} alone, right away.`, 'It says of itself that it is a test, and counts nowhere.']} />`,
    make: () => mutate(PING_ENDPOINT_DOCUMENT, { endpointId }),
    confirm: 'Send it',
    said: 'It is on its way: it stands first among the deliveries.',
    done,
  });
}

function usePause(endpoint: Endpoint, done: () => void) {
  const { endpointId, origin } = endpoint;
  const isOn = isPaused(endpoint);
  return useReview({
    title: isOn ? 'Resume the endpoint' : 'Pause the endpoint',
    look: async () => isOn,
    show: (was) =>
      html`<${Effect} lines=${
        was
          ? [html`What waits is sent to ${origin} when it is due, or now where that is past.`]
          : [
              html`Nothing is sent to ${origin} for 24 hours, or until you resume it.`,
              'Events go on being made. They wait and use no attempt.',
            ]
      } />`,
    make: (was) => mutate(was ? RESUME_ENDPOINT_DOCUMENT : PAUSE_ENDPOINT_DOCUMENT, { endpointId }),
    confirm: isOn ? 'Resume it' : 'Pause it',
    done,
  });
}

function useSkip({ endpointId, origin }: Endpoint, done: () => void) {
  return useReview({
    title: 'Try now',
    look: async () => origin,
    show: (where) =>
      html`<${Effect} lines=${[html`Every delivery that failed and waits is sent to ${where} now, two at a time.`, 'Each uses one of its eight attempts.']} />`,
    make: () => mutate(SKIP_WAIT_DOCUMENT, { endpointId }),
    confirm: 'Try now',
    said: 'The attempts are being made: see the deliveries.',
    done,
  });
}

function useToggle({ endpointId, origin, enabled }: Endpoint, done: () => void) {
  return useReview({
    title: enabled ? 'Disable the endpoint' : 'Enable the endpoint',
    look: async () => enabled,
    show: (was) =>
      html`<${Effect} lines=${
        was
          ? [
              html`Nothing more is sent to ${origin}.`,
              'What is on its way there fails now.',
              'Events made while it is disabled are not for it; they can be replayed.',
            ]
          : [
              html`Events from now on are sent to ${origin}.`,
              'Its failures so far are forgotten.',
              'Earlier events can be replayed.',
            ]
      } />`,
    make: (was) => mutate(was ? DISABLE_ENDPOINT_DOCUMENT : ENABLE_ENDPOINT_DOCUMENT, { endpointId }),
    confirm: enabled ? 'Disable it' : 'Enable it',
    danger: enabled,
    done,
  });
}

function useRemoval({ endpointId, origin }: Endpoint) {
  return useReview({
    title: 'Delete the endpoint',
    look: async () => origin,
    show: (where) =>
      html`<${Effect} lines=${[html`${where} hears of nothing any more, for good.`, 'What is on its way there fails now.', 'The log of what was sent stays.']} />`,
    make: () => mutate(DELETE_ENDPOINT_DOCUMENT, { endpointId }),
    confirm: 'Delete it',
    danger: true,
    done: () => go('/webhooks'),
  });
}
