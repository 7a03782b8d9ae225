import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { Field } from '../../parts/field.ts';
import { Panel } from '../../parts/panel.ts';
import { Effect, ReviewForm, useReview, useTyped } from '../../parts/review.ts';
import type { SiteSettings } from './documents.ts';
import { SET_READ_AGAIN_DOCUMENT } from './documents.ts';
import { settingsNow } from './now.ts';

/** Hours as they are sent. Throws a problem of the field for what is no number; whether it is one that may be, the API says. */
function typedHours(text: string): number | null {
  if (text.trim() === '') return null;
  if (Number.isInteger(Number(text))) return Number(text);
  throw new Problem('invalid_parameter', 'This is a whole number of hours, or nothing.', { parameter: 'hours' });
}

/** For how long a page opens again to the wallet that paid for it. */
export function ReadAgain({ site, done }: { readonly site: SiteSettings; readonly done: () => void }): View {
  const [hours, setHours, reset, isChanged] = useTyped(site.readAgainHours === null ? '' : String(site.readAgainHours));
  const review = useReview({
    title: 'Change how long a page opens again',
    look: async () => ({ version: (await settingsNow()).version, hours: typedHours(hours) }),
    show: ({ hours: told }) =>
      html`<${Effect} lines=${[
        told === null
          ? 'A page opens again for as long as the licence that came with its payment, and no longer.'
          : `A page opens again for ${told} hours from its payment to the wallet that paid, pages bought before included.`,
      ]} />`,
    make: ({ version, hours: told }) => mutate(SET_READ_AGAIN_DOCUMENT, { hours: told, ifVersion: version }),
    confirm: 'Save',
    done: () => {
      reset();
      done();
    },
  });
  return html`<${Panel} title="Pay once, read again" about="A wallet that bought a page may show it and read the page again without paying.">
    <${ReviewForm} review=${review} isChanged=${isChanged} discard=${reset}>
      <${Field} label="Hours from the payment" value=${hours} onInput=${setHours} hint="1 to 8,784. Leave empty for as long as the licence of the page." error=${review.errorAt('hours')} />
      ${review.outcome('hours')}
    <//>
    ${review.dialog}
  <//>`;
}
