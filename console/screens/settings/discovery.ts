import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Check, Field } from '../../parts/field.ts';
import { Badge, Panel } from '../../parts/panel.ts';
import { Effect, ReviewForm, useReview, useTyped } from '../../parts/review.ts';
import type { SiteSettings } from './documents.ts';
import { SET_DISCOVERY_DOCUMENT } from './documents.ts';
import { settingsNow } from './now.ts';

/** Whether the site is in the public list of what agents can buy. */
export function Discovery({ site, done }: { readonly site: SiteSettings; readonly done: () => void }): View {
  const { discovery } = site;
  const [summary, setSummary, resetSummary, isOtherSummary] = useTyped(discovery.summary ?? '');
  const [tags, setTags, resetTags, areOtherTags] = useTyped(discovery.tags.join(', '));
  const [relay, setRelay, resetRelay, isOtherRelay] = useTyped(discovery.relay);
  const discard = (): void => {
    resetSummary();
    resetTags();
    resetRelay();
  };
  const review = useReview({
    title: 'Change the public list',
    look: async () => {
      const typed = summary.trim() === '' ? null : summary.trim();
      const words = tags.split(',').map((tag) => tag.trim());
      return {
        version: (await settingsNow()).version,
        summary: typed,
        tags: typed === null ? [] : words.filter((tag) => tag !== ''),
        relay: typed !== null && relay,
      };
    },
    show: ({ summary: said, tags: words, relay: relays }) =>
      html`<${Effect} lines=${
        said === null
          ? [
              'The site leaves the public list within a minute, and its pages the search. Pages, prices and its documents at its own address stay.',
            ]
          : [
              'Anybody sees the site in the public list: its hosts, article prefixes and prices, and this text. Agents find its pages by title.',
              html`It says of itself: ${said}`,
              relays
                ? 'Who bought a page gets its text from us, too.'
                : 'Who bought a page reads it at the site; no text is handed on.',
              ...(words.length === 0 ? [] : [html`Its words: ${words.join(', ')}`]),
            ]
      } />`,
    make: ({ version, summary: said, tags: words, relay: relays }) =>
      mutate(SET_DISCOVERY_DOCUMENT, { summary: said, tags: words, relay: relays, ifVersion: version }),
    confirm: 'Save',
    done: () => {
      discard();
      done();
    },
  });
  const state = html`<${Badge} tone=${discovery.summary === null ? 'plain' : 'good'}>${discovery.summary === null ? 'Not listed' : 'Listed'}<//>`;
  return html`<${Panel} title="Public list" about="Where agents look for pages to buy." actions=${state}>
    <${ReviewForm} review=${review} isChanged=${isOtherSummary || areOtherTags || isOtherRelay} discard=${discard}>
      <${Field} label="What the site writes of" value=${summary} onInput=${setSummary} hint="At most 300 characters. Leave empty to be in no list." error=${review.errorAt('summary')} />
      <${Field} label="Words" value=${tags} onInput=${setTags} hint="At most five, with commas between." error=${review.errorAt('tags')} />
      <${Check} label="Hand the text of bought pages on to their buyers" checked=${relay} onChange=${setRelay} />
      ${review.outcome('summary', 'tags')}
    <//>
    ${review.dialog}
  <//>`;
}
