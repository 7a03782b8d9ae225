import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Panel } from '../../parts/panel.ts';
import { Effect, useReview } from '../../parts/review.ts';
import type { Endpoint } from './documents.ts';
import { ROTATE_SECRET_DOCUMENT } from './documents.ts';
import type { Secret } from './secret.ts';
import { SecretOnce } from './secret.ts';

const HOUR_MS = 3_600_000;
const OVERLAPS = [
  { value: String(24 * HOUR_MS), label: 'for 24 hours' },
  { value: String(HOUR_MS), label: 'for one hour' },
  { value: '0', label: 'not at all: it leaked' },
];

/** A new signing secret for an endpoint, shown once. */
export function Rotate({ endpoint: { endpointId } }: { readonly endpoint: Endpoint }): View {
  const [overlap, setOverlap] = useState(OVERLAPS[0]?.value ?? '');
  const [secret, setSecret] = useState<Secret | null>(null);
  const review = useReview({
    title: 'A new signing secret',
    look: async () => Number(overlap),
    show: (ms) =>
      html`<${Effect} lines=${[
        'A new secret signs from now on, and is shown once.',
        ms === 0
          ? 'The one before signs nothing any more: until your server knows the new one, it refuses every delivery, and they are tried again.'
          : `The one before signs beside it for ${ms / HOUR_MS === 1 ? 'one hour' : `${ms / HOUR_MS} hours`}, so that nothing is refused meanwhile.`,
      ]} />`,
    make: async (overlapMs) => {
      const made = await mutate<{ rotateEndpointSecret: { secret: string } }>(ROTATE_SECRET_DOCUMENT, { endpointId, overlapMs });
      setSecret({ text: made.rotateEndpointSecret.secret, about: 'It signs from now on.' });
    },
    confirm: 'Make a new secret',
    danger: overlap === '0',
    said: 'The new secret signs from now on.',
    done: () => undefined,
  });
  return html`<${Panel} title="Signing secret" about="Deliveries are signed with it. It was shown once.">
    <div class="form">
      <${Field} label="The old secret stays valid" value=${overlap} options=${OVERLAPS} onInput=${setOverlap} />
      ${review.outcome()}
      <div class="actions"><${Button} onClick=${review.start}>Make a new secret<//></div>
    </div>
    ${review.dialog}
    <${SecretOnce} secret=${secret} onClose=${() => setSecret(null)} />
  <//>`;
}
