import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { Money, Short } from '../../parts/figure.ts';
import { Effect, Names } from '../../parts/review.ts';
import { Table } from '../../parts/table.ts';
import type { PagePrice, Payee, PriceEffect } from './effect.ts';
import { effectText, priceText, shareText } from './effect.ts';

/** Draws what a change of prices would do. */
export function showPriceEffect(effect: PriceEffect): View {
  const { changes, stays, notes } = effectText(effect);
  const lines = changes.map(
    ({ text, paths, pages }) => html`${text}${paths.length > 0 ? html`<br /><${Paths} of=${paths} pages=${pages} />` : null}`,
  );
  const first = lines.length > 0 ? lines : ['No page that the site names changes its price.'];
  return html`<${Effect} lines=${first} />
    ${stays.length + notes.length > 0 ? html`<p class="about">${[...stays.map((line) => `${line}.`), ...notes].join(' ')}</p>` : null}`;
}

function Paths({ of, pages }: { readonly of: readonly string[]; readonly pages: number }): View {
  const more = pages - of.length;
  return html`<${Names} of=${of} />${more > 0 ? html` <span class="muted">and ${more.toLocaleString('en-US')} more</span>` : null}`;
}

/** Draws who is paid for a read of one page, before and after. */
export function showPayees(effect: PriceEffect): View {
  const { pageAfter: page, pageBefore } = effect;
  const after = page?.payees ?? [];
  const changes = effectText(effect).changes.length > 0;
  const cost = page?.price.readMicro ?? null;
  const stays = html`<${Effect} lines=${[cost === null ? `The page stays ${priceText(page?.price ?? FREE)}.` : html`A read costs <${Money} micro=${cost} />, as now.`]} />`;
  return html`${changes ? showPriceEffect(effect) : stays}
    ${after.length === 0 ? html`<p class="about">Nobody is paid for this page then.</p>` : html`<${Payees} after=${after} before=${pageBefore?.payees ?? []} />`}`;
}

const FREE: PagePrice = { state: 'FREE', readMicro: null, citationMicro: null, freeBecause: null };

function Payees({ after, before }: { readonly after: readonly Payee[]; readonly before: readonly Payee[] }): View {
  const gone = before.filter(({ wallet }) => !after.some((one) => one.wallet === wallet));
  const rows = [...after.map((one) => ({ ...one, isGone: false })), ...gone.map((one) => ({ ...one, isGone: true }))];
  const was = (row: Payee): View => {
    const found = before.find(({ wallet }) => wallet === row.wallet);
    return found ? html`<${Money} micro=${found.micro} />` : html`<span class="muted">nothing</span>`;
  };
  const columns = [
    { head: 'Author', isName: true, cell: (row: Payee) => html`${row.authorId ?? 'several'} <${Short} of=${row.wallet} />` },
    { head: 'Of a read now', align: 'end', cell: was },
    {
      head: 'Then',
      align: 'end',
      cell: (row: Payee & { isGone: boolean }) =>
        row.isGone ? html`<span class="muted">nothing</span>` : html`<${Money} micro=${row.micro} />`,
    },
    { head: 'Share', align: 'end', cell: (row: Payee & { isGone: boolean }) => (row.isGone ? '–' : shareText(row.micro, after)) },
  ] as const;
  return html`<${Table} label="Who is paid for a read" columns=${columns} rows=${rows} keyOf=${(row: Payee) => row.wallet} />`;
}
