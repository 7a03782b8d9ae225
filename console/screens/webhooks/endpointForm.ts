import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { changedIn, entriesOf } from '../../core/lists.ts';
import { mutate } from '../../core/mutate.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Check, Field } from '../../parts/field.ts';
import { Effect, useReview } from '../../parts/review.ts';
import { ChatLine } from './chatLine.ts';
import type { Endpoint, NewestEvent } from './documents.ts';
import { CREATE_ENDPOINT_DOCUMENT, UPDATE_ENDPOINT_DOCUMENT } from './documents.ts';
import type { Secret } from './secret.ts';
import { CHANNELS, EVENT_WORDS, PROFILES } from './words.ts';

/** Makes an endpoint, or changes one: what it hears of, then what that comes to. */
export function EndpointForm({
  endpoint,
  newest,
  onClose,
  done,
  told,
}: {
  readonly endpoint: Endpoint | null;
  readonly newest: NewestEvent | null;
  readonly onClose: () => void;
  readonly done: () => void;
  readonly told: (secret: Secret) => void;
}): View {
  const [url, setUrl] = useState('');
  const [channel, setChannel] = useState<string>(endpoint?.channel ?? 'RAW');
  const [profile, setProfile] = useState(endpoint?.profile ?? 'DETAILED');
  const [types, setTypes] = useState<readonly string[]>(endpoint?.eventTypes ?? Object.keys(EVENT_WORDS));
  const [hosts, setHosts] = useState((endpoint?.hostFilter ?? []).join('\n'));
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const hostFilter = entriesOf(hosts).length === 0 ? null : entriesOf(hosts);
  const said = { profile, eventTypes: types, hostFilter, description };
  const title = endpoint === null ? 'Add an endpoint' : `Change ${endpoint.origin}`;
  const review = useReview({
    title,
    look: async () => said,
    show: () => html`<${Effect} lines=${effectLines(endpoint === null ? url : endpoint.origin, channel, said, endpoint === null)} />
      ${channel === 'RAW' ? null : html`<${ChatLine} newest=${newest} channel=${channel} />`}`,
    make: async () => {
      if (endpoint !== null)
        return await mutate(UPDATE_ENDPOINT_DOCUMENT, { endpointId: endpoint.endpointId, ...changedIn(said, endpoint) });
      const made = await mutate<{ createEndpoint: { secret: string } }>(CREATE_ENDPOINT_DOCUMENT, {
        url: url.trim(),
        channel,
        ...said,
      });
      if (channel === 'RAW')
        told({ text: made.createEndpoint.secret, about: 'Each delivery is signed with it; docs/webhooks.md says how to check.' });
      return made;
    },
    confirm: endpoint === null ? 'Add it' : 'Save',
    done: () => {
      done();
      onClose();
    },
  });
  const tick = (type: string, on: boolean): void => setTypes(on ? [...types, type] : types.filter((one) => one !== type));
  return html`<${Dialog} title=${title} open=${true} onClose=${onClose} confirm=${{ label: 'Review change', stays: true, run: review.start }}>
      ${
        endpoint === null
          ? html`<${Field} label="Where to" value=${channel} options=${CHANNELS} onInput=${setChannel} error=${review.errorAt('channel')} />
              <${Field} label="URL" type="url" value=${url} onInput=${setUrl} placeholder="https://hooks.example.com/sales"
                hint=${channel === 'RAW' ? 'https, with a public host name.' : 'The URL that the chat gave out for incoming messages.'} error=${review.errorAt('url')} />`
          : null
      }
      <fieldset class="group"><legend>Events</legend>
        ${Object.entries(EVENT_WORDS).map(([type, label]) => html`<${Check} key=${type} label=${label} checked=${types.includes(type)} onChange=${(on: boolean) => tick(type, on)} />`)}
        ${review.errorAt('eventTypes') ? html`<p class="error">${review.errorAt('eventTypes')}</p>` : null}
      </fieldset>
      <${Field} label="How much it is told" value=${profile} options=${PROFILES} onInput=${setProfile} error=${review.errorAt('profile')} />
      <${Field} label="Only of these hosts" rows=${2} value=${hosts} onInput=${setHosts} hint="One a line. None: all hosts of the site." error=${review.errorAt('hostFilter')} />
      <${Field} label="Note for yourself" value=${description} onInput=${setDescription} error=${review.errorAt('description')} />
      ${channel === 'RAW' ? null : html`<${ChatLine} newest=${newest} channel=${channel} />`}
      ${review.outcome('channel', 'url', 'eventTypes', 'profile', 'hostFilter', 'description')}
    <//>
    ${review.dialog}`;
}

function effectLines(
  where: string,
  channel: string,
  {
    profile,
    eventTypes,
    hostFilter,
  }: { readonly profile: string; readonly eventTypes: readonly string[]; readonly hostFilter: readonly string[] | null },
  isNew: boolean,
): readonly View[] {
  const what = eventTypes.map((type) => EVENT_WORDS[type] ?? type).join(' and ');
  return [
    html`${where} receives: ${what || 'nothing'}${hostFilter === null ? ', on every host' : ` on ${hostFilter.join(', ')}`}.`,
    channel === 'RAW'
      ? `Each message is signed JSON with ${profile === 'DETAILED' ? 'every share of every sale' : 'counts alone'}.`
      : 'Each message is one line.',
    isNew ? 'Only events from now on are sent.' : 'Future events use this; those already on their way do not change.',
    ...(isNew && channel === 'RAW' ? ['The signing secret is shown once, right after.'] : []),
  ];
}
