import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { compareLists } from '../../core/lists.ts';
import { mutate } from '../../core/mutate.ts';
import { Check } from '../../parts/field.ts';
import { Panel } from '../../parts/panel.ts';
import { Effect, ReviewForm, useReview, useTyped } from '../../parts/review.ts';
import type { SiteSettings } from './documents.ts';
import { SET_NETWORKS_DOCUMENT } from './documents.ts';
import { settingsNow } from './now.ts';
import { networkName } from './words.ts';

/** On which chains payments are taken. */
export function Networks({ site, done }: { readonly site: SiteSettings; readonly done: () => void }): View {
  const { taken, configured } = site.networks;
  const [chosen, choose, reset, isChanged] = useTyped(taken);
  const review = useReview({
    title: 'Change the networks',
    look: async () => {
      const now = await settingsNow();
      return { version: now.version, ...compareLists(now.networks.taken, chosen) };
    },
    show: ({ added, removed }) =>
      html`<${Effect} lines=${
        added.length + removed.length === 0
          ? ['Payments are taken where they are taken now.']
          : [
              ...added.map(
                (id) =>
                  `Payments on ${networkName(id)} are taken. Every author is paid there at the same address: be sure that all can use money there.`,
              ),
              ...removed.map(
                (id) =>
                  `Payments on ${networkName(id)} are refused at once, those for prices shown before too. What was taken there settles.`,
              ),
            ]
      } />`,
    make: ({ version }) => mutate(SET_NETWORKS_DOCUMENT, { networks: chosen, ifVersion: version }),
    confirm: 'Save',
    isIdle: ({ added, removed }) => added.length + removed.length === 0,
    done: () => {
      reset();
      done();
    },
  });
  const tick = (id: string, on: boolean): void => choose(configured.filter((one) => (one === id ? on : chosen.includes(one))));
  return html`<${Panel} title="Networks" about="Where buyers may pay.">
    <${ReviewForm} review=${review} isChanged=${isChanged} discard=${reset}>
      ${configured.map(
        (id) =>
          html`<${Check} key=${id} label=${networkName(id)} hint=${id} checked=${chosen.includes(id)} onChange=${(on: boolean) => tick(id, on)} />`,
      )}
      ${review.errorAt('networks') ? html`<p class="error">${review.errorAt('networks')}</p>` : null} ${review.outcome('networks')}
    <//>
    ${review.dialog}
  <//>`;
}
