import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Check } from '../../parts/field.ts';
import { Panel } from '../../parts/panel.ts';
import { Effect, ReviewForm, useReview, useTyped } from '../../parts/review.ts';
import type { SiteSettings } from './documents.ts';
import { SET_RECEIPTS_DOCUMENT } from './documents.ts';
import { settingsNow } from './now.ts';

/** Whether everybody who knows a payment may read its record. */
export function Receipts({ site, done }: { readonly site: SiteSettings; readonly done: () => void }): View {
  const [isPublic, setPublic, reset, isChanged] = useTyped(site.receiptsPublic === true);
  const review = useReview({
    title: 'Change who sees records of payments',
    look: async () => {
      const { version, receiptsPublic } = await settingsNow();
      return { version, shown: isPublic, isAsNow: receiptsPublic === isPublic };
    },
    show: ({ shown }) =>
      html`<${Effect} lines=${[
        shown
          ? 'Anyone who has the address of a record can read it: what was paid, to whom, and how to check it on chain.'
          : 'Addresses of records answer “not found” within a minute. Receipts that buyers hold stay good.',
      ]} />`,
    make: ({ shown, version }) => mutate(SET_RECEIPTS_DOCUMENT, { isPublic: shown, ifVersion: version }),
    confirm: 'Save',
    isIdle: ({ isAsNow }) => isAsNow,
    done: () => {
      reset();
      done();
    },
  });
  return html`<${Panel} title="Receipts" about="Each payment has a page that shows who got what, and how anybody can check it.">
    <${ReviewForm} review=${review} isChanged=${isChanged} discard=${reset}>
      <${Check} label="Show records of payments" hint="To anyone who has the address of one; it cannot be guessed." checked=${isPublic} onChange=${setPublic} />
      ${review.outcome()}
    <//>
    ${review.dialog}
  <//>`;
}
