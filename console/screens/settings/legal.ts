import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Field } from '../../parts/field.ts';
import { Panel } from '../../parts/panel.ts';
import { Effect, ReviewForm, useReview, useTyped } from '../../parts/review.ts';
import type { SiteSettings } from './documents.ts';
import { SET_LEGAL_DETAILS_DOCUMENT } from './documents.ts';
import { settingsNow } from './now.ts';

/** Who publishes the site, for statements. */
export function Legal({ site, done }: { readonly site: SiteSettings; readonly done: () => void }): View {
  const [name, setName, resetName, isNamed] = useTyped(site.legalName ?? '');
  const [address, setAddress, resetAddress, isMoved] = useTyped(site.legalAddress ?? '');
  const reset = (): void => {
    resetName();
    resetAddress();
  };
  const review = useReview({
    title: 'Change who publishes the site',
    look: async () => ({
      version: (await settingsNow()).version,
      legalName: name.trim() || null,
      legalAddress: address.trim() || null,
    }),
    show: ({ legalName, legalAddress }) =>
      html`<${Effect} lines=${[
        legalName === null && legalAddress === null
          ? 'Statements no longer say who publishes the site.'
          : `Every statement drawn from now on says: ${[legalName, legalAddress].filter(Boolean).join(', ')}.`,
      ]} />`,
    make: ({ version, legalName, legalAddress }) =>
      mutate(SET_LEGAL_DETAILS_DOCUMENT, { legalName, legalAddress, ifVersion: version }),
    confirm: 'Save',
    done: () => {
      reset();
      done();
    },
  });
  return html`<${Panel} title="Publisher" about="Stands in every statement, as accountants ask for it.">
    <${ReviewForm} review=${review} isChanged=${isNamed || isMoved} discard=${reset}>
      <${Field} label="Legal name" value=${name} onInput=${setName} hint="As it is registered." error=${review.errorAt('legalName')} />
      <${Field} label="Address" value=${address} onInput=${setAddress} hint="In one line." error=${review.errorAt('legalAddress')} />
      ${review.outcome('legalName', 'legalAddress')}
    <//>
    ${review.dialog}
  <//>`;
}
