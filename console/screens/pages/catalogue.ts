import { useList } from '../../core/data.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { safeHref, setQuery, useRoute } from '../../core/router.ts';
import { Await, Empty } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Money } from '../../parts/figure.ts';
import { Badge, Panel } from '../../parts/panel.ts';
import type { Column } from '../../parts/table.ts';
import { Table } from '../../parts/table.ts';
import { AllAuthors } from './allAuthors.ts';
import { Authors } from './authors.ts';
import type { PricedPage } from './documents.ts';
import { PAGES_DOCUMENT } from './documents.ts';
import { becauseOf, shareText } from './effect.ts';
import { useFreeChange, usePageRemoval } from './freePage.ts';
import { Import } from './import.ts';

interface Answer {
  readonly tenant: {
    readonly pricedPages: {
      readonly totalCount: number | null;
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      readonly nodes: readonly PricedPage[];
    };
    readonly articlePrefixes: readonly string[] | null;
    readonly defaultHost: string | null;
  } | null;
}

const SHOWN = [
  { value: '', label: 'All pages' },
  { value: 'PRICED', label: 'Sold' },
  { value: 'FREE', label: 'Free' },
  { value: 'ASKED', label: 'Credits API is asked' },
];

/** The catalogue: each page with its price and who is paid. */
export function Catalogue(): View {
  const { query } = useRoute();
  const [typed, type] = useState(query['q'] ?? '');
  const filter = { ...(query['q'] ? { contains: query['q'] } : {}), ...(query['state'] ? { states: [query['state']] } : {}) };
  const list = useList<Answer, PricedPage>(PAGES_DOCUMENT, { filter }, ({ tenant }) => tenant?.pricedPages ?? null);
  const [edited, edit] = useState<PricedPage | null>(null);
  const [isImporting, setImporting] = useState(false);
  const [isReplacing, setReplacing] = useState(false);
  const free = useFreeChange(list.reload);
  const removal = usePageRemoval(list.reload);
  const tenant = list.data?.tenant ?? null;
  const search = (event: Event): void => {
    event.preventDefault();
    setQuery({ q: typed.trim() });
  };
  const isFiltered = Object.keys(filter).length > 0;
  const nothing = isFiltered
    ? html`<${Empty}>No page matches.<//>`
    : html`<${Empty} title="No page yet" action=${html`<${Button} kind="primary" onClick=${() => setImporting(true)}>Import pages<//>`}>
        Pages that are imported, or that have authors here, stand in this list. Others are sold by your credits API, if there is one.
      <//>`;
  return html`<${Panel} flush title=${list.total === null ? 'Pages' : many(list.total, 'page')}
      actions=${html`<${Button} onClick=${() => setReplacing(true)}>Replace all authors<//>
        <${Button} kind="primary" onClick=${() => setImporting(true)}>Import pages<//>`}>
      <form class="filters inset" role="search" onSubmit=${search}>
        <${Field} label="Path or title" type="search" value=${typed} onInput=${type} />
        <${Field} label="Show" value=${query['state'] ?? ''} options=${SHOWN} onInput=${(state: string) => setQuery({ state })} />
        <${Button} type="submit">Search<//>
      </form>
      ${free.outcome()} ${removal.outcome()}
      <${Await} of=${list} empty=${() => list.rows.length === 0} nothing=${nothing}>
        ${() => html`<${Table} label="Pages" rows=${list.rows} more=${list.more} keyOf=${({ path }: PricedPage) => path}
          columns=${columnsOf(tenant?.defaultHost ?? null, { edit, free: free.of, remove: removal.of })} />`}
      <//>
    <//>
    ${free.dialog} ${removal.dialog}
    ${edited ? html`<${Authors} key=${edited.path} page=${edited} onClose=${() => edit(null)} done=${list.reload} />` : null}
    ${isReplacing ? html`<${AllAuthors} onClose=${() => setReplacing(false)} done=${list.reload} />` : null}
    ${isImporting ? html`<${Import} prefixes=${tenant?.articlePrefixes ?? null} onClose=${() => setImporting(false)} done=${list.reload} />` : null}`;
}

interface Actions {
  readonly edit: (page: PricedPage) => void;
  readonly free: (page: PricedPage) => void;
  readonly remove: (page: PricedPage) => void;
}

function columnsOf(host: string | null, actions: Actions): readonly Column<PricedPage>[] {
  return [
    { head: 'Page', isName: true, width: 'wide', cell: (page) => html`<${Name} page=${page} host=${host} />` },
    {
      head: 'Read',
      align: 'end',
      cell: ({ price }) =>
        price.readMicro === null
          ? html`<${Badge} title=${becauseOf(price)}>${price.state === 'FREE' ? 'free' : 'refused'}<//>`
          : html`<${Money} micro=${price.readMicro} />`,
    },
    { head: 'Citation', align: 'end', width: 'late', cell: ({ price }) => html`<${Money} micro=${price.citationMicro} />` },
    { head: 'Authors', width: 'late', cell: (page) => html`<${Who} page=${page} />` },
    {
      head: html`<span class="sr">Actions</span>`,
      align: 'end',
      cell: (page) => html`<${RowActions} page=${page} ...${actions} />`,
    },
  ];
}

function Name({ page, host }: { readonly page: PricedPage; readonly host: string | null }): View {
  const address = host === null ? null : safeHref(`https://${host}${page.path}`);
  const path = address === null ? page.path : html`<a href=${address} target="_blank" rel="noreferrer">${page.path}</a>`;
  return page.title === null ? path : html`<span class="two"><span>${page.title}</span><small>${path}</small></span>`;
}

function Who({ page }: { readonly page: PricedPage }): View {
  const { payees, price } = page;
  if (price.state === 'ASKED') return html`<span class="muted">credits API</span>`;
  if (payees.length === 0) return html`<span class="muted">${becauseOf(price)}</span>`;
  const shown = payees.slice(0, 3);
  return html`${shown.map(
    (one, at) =>
      html`${at > 0 ? ', ' : ''}<span key=${one.wallet} title=${one.wallet}><bdi>${one.authorId ?? 'several'}</bdi>${payees.length > 1 ? html` <span class="muted exact">${shareText(one.micro, payees)}</span>` : null}</span>`,
  )}${payees.length > shown.length ? html` <span class="muted">and ${payees.length - shown.length} more</span>` : null}`;
}

function RowActions({ page, edit, free, remove }: Actions & { readonly page: PricedPage }): View {
  const name = page.title ?? page.path;
  if (page.slug === null) {
    return page.importedSlug !== null
      ? html`<${Button} kind="quiet" label=${`Remove ${name}`} onClick=${() => remove(page)}>Remove<//>`
      : null;
  }
  const isFree = page.price.freeBecause === 'FREE_SLUG';
  return html`<span class="row-actions">
    <${Button} kind="quiet" label=${`Authors of ${name}`} onClick=${() => edit(page)}>Authors<//>
    <${Button} kind="quiet" label=${isFree ? `Sell ${name}` : `Make free: ${name}`} onClick=${() => free(page)}>${isFree ? 'Sell' : 'Make free'}<//>
    ${page.importedSlug !== null ? html`<${Button} kind="quiet" label=${`Remove ${name}`} onClick=${() => remove(page)}>Remove<//>` : null}
  </span>`;
}
