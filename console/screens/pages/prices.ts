import { useQuery } from '../../core/data.ts';
import { plain } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { compareLists, entriesOf, many } from '../../core/lists.ts';
import { mutate } from '../../core/mutate.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Money } from '../../parts/figure.ts';
import { Facts, Panel } from '../../parts/panel.ts';
import { Names, useReview, useTyped } from '../../parts/review.ts';
import type { Prices, WhatIf } from './documents.ts';
import {
  lookAt,
  PRICES_DOCUMENT,
  pricesNow,
  SET_FREE_DOCUMENT,
  SET_PREFIXES_DOCUMENT,
  SET_PRICES_DOCUMENT,
  whatIf,
} from './documents.ts';
import { History } from './history.ts';
import { showPriceEffect } from './showEffect.ts';

interface Answer {
  readonly tenant: Prices | null;
}

const IN_FORCE = 'Saved. Quotes show it within two seconds.';

/** What a read and a citation cost, which pages are free, and where articles stand. */
export function PriceForms(): View {
  const query = useQuery<Answer>(PRICES_DOCUMENT);
  return html`<${Await} of=${query} rows=${8}>
    ${({ tenant }: Answer) =>
      tenant === null
        ? null
        : html`<div class="stack">
            <${PriceForm} prices=${tenant} done=${query.reload} />
            <${History} key=${tenant.version} />
            <${ListForm} of=${FREE} list=${tenant.freeSlugs} done=${query.reload} />
            <${ListForm} of=${PREFIXES} list=${tenant.articlePrefixes} done=${query.reload} />
          </div>`}
  <//>`;
}

function PriceForm({ prices, done }: { readonly prices: Prices; readonly done: () => void }): View {
  const [price, setPrice, resetPrice] = useTyped(plain(prices.priceUsdc));
  const [multiplier, setMultiplier, resetMultiplier] = useTyped(plain(prices.citationMultiplier ?? '5'));
  const input = { priceUsdc: price.trim().replace(',', '.'), citationMultiplier: multiplier.trim().replace(',', '.') };
  const review = useReview({
    title: 'Change the price',
    look: async () => {
      const effect = await lookAt(input);
      return { ...effect, before: await whatIf(input.priceUsdc, input.citationMultiplier) };
    },
    show: (effect) => html`${showPriceEffect(effect)} ${effect.before ? html`<${Before} of=${effect.before} />` : null}`,
    make: ({ version }) => mutate(SET_PRICES_DOCUMENT, { ...input, ifVersion: version }),
    confirm: 'Change the price',
    said: IN_FORCE,
    done: () => {
      resetPrice();
      resetMultiplier();
      done();
    },
  });
  return html`<${Panel} title="Price" about="Of one read, in US dollars. A citation costs so many reads.">
    <div class="form">
      <div class="pair">
        <${Field} label="A read costs (USD)" inputMode="decimal" value=${price} onInput=${setPrice} error=${review.errorAt('priceUsdc', 'price_usdc')} />
        <${Field} label="A citation costs (reads)" inputMode="decimal" value=${multiplier} onInput=${setMultiplier}
          error=${review.errorAt('citationMultiplier', 'citation_multiplier')} />
      </div>
      ${review.outcome('priceUsdc', 'price_usdc', 'citationMultiplier', 'citation_multiplier')}
      <div class="actions"><${Button} kind="primary" onClick=${review.start}>Review change<//></div>
    </div>
    ${review.dialog}
  <//>`;
}

/** What the last 28 days would have brought at the price. */
function Before({ of }: { readonly of: WhatIf }): View {
  if (of.paid + of.unanswered === 0) return html`<p class="about">Nobody paid or was turned away in the last 28 days.</p>`;
  return html`<${Facts} of=${[
    [
      'Paid in the last 28 days',
      html`${many(of.paid, 'request')} brought <${Money} micro=${of.earnedMicro} />. At this price, had each been made all the same: <${Money} micro=${of.ifPaidMicro} />.`,
    ],
    [
      'Turned away meanwhile',
      of.unanswered === 0
        ? null
        : html`${many(of.unanswered, 'request')}, at most <${Money} micro=${of.ifDeniedMicro} /> more at this price.`,
    ],
  ]} />`;
}

interface ListKind {
  readonly title: string;
  readonly about: string;
  readonly label: string;
  readonly hint: string;
  /** Its name in what is looked at, in the input, and in what refuses it. */
  readonly effect: 'freeSlugs' | 'articlePrefixes';
  readonly input: 'slugs' | 'prefixes';
  readonly parameter: string;
  readonly document: string;
}

const FREE: ListKind = {
  title: 'Free pages',
  about: 'These are free, whatever the price and whichever author wrote them.',
  label: 'Slugs',
  hint: 'One a line: the path without its article prefix.',
  effect: 'freeSlugs',
  input: 'slugs',
  parameter: 'credits_free_slugs',
  document: SET_FREE_DOCUMENT,
};

const PREFIXES: ListKind = {
  title: 'Where articles stand',
  about: 'Pages under these paths are sold. Everything else is read free.',
  label: 'Path prefixes',
  hint: 'One a line, beginning with a slash. None: every path is an article.',
  effect: 'articlePrefixes',
  input: 'prefixes',
  parameter: 'article_prefixes',
  document: SET_PREFIXES_DOCUMENT,
};

function ListForm({
  of,
  list,
  done,
}: {
  readonly of: ListKind;
  readonly list: readonly string[] | null;
  readonly done: () => void;
}): View {
  const [text, setText, reset] = useTyped((list ?? []).join('\n'));
  const review = useReview({
    title: of.title,
    look: async () => {
      const now = await pricesNow();
      const entries = entriesOf(text);
      const after = entries.length === 0 ? null : entries;
      const effect = await lookAt({ [of.effect]: after });
      return { ...effect, version: now.version, after, lists: compareLists(now[of.effect] ?? [], entries) };
    },
    show: (effect) => html`${showPriceEffect(effect)} <${ListChange} ...${effect.lists} />`,
    make: ({ after, version }) => mutate(of.document, { [of.input]: after, ifVersion: version }),
    confirm: 'Save',
    said: IN_FORCE,
    done: () => {
      reset();
      done();
    },
  });
  const fields = [of.effect, of.input, of.parameter] as const;
  return html`<${Panel} title=${of.title} about=${of.about}>
    <div class="form">
      <${Field} label=${of.label} rows=${5} value=${text} onInput=${setText} hint=${of.hint} error=${review.errorAt(...fields)} />
      ${review.outcome(...fields)}
      <div class="actions"><${Button} onClick=${review.start}>Review change<//></div>
    </div>
    ${review.dialog}
  <//>`;
}

/** What a list gains and loses against its present state. */
export function ListChange({ added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] }): View {
  if (added.length + removed.length === 0) return html`<p class="about">The list stays as it is.</p>`;
  return html`<dl class="facts">
    ${added.length > 0 ? html`<div><dt>${many(added.length, 'entry', 'entries')} added</dt><dd><${Names} of=${added} /></dd></div>` : null}
    ${removed.length > 0 ? html`<div><dt>${many(removed.length, 'entry', 'entries')} removed</dt><dd><${Names} of=${removed} /></dd></div>` : null}
  </dl>`;
}
