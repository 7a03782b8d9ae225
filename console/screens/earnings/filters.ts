import { short, words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { setQuery, useRoute } from '../../core/router.ts';
import { Button } from '../../parts/button.ts';
import { pageName } from '../payments/table.ts';

/** What earnings can be looked at by, and which filter a group of it is. */
export const VIEWS = [
  { key: 'page', label: 'Pages', one: 'Page', groupBy: 'SLUG', filter: 'slug' },
  { key: 'author', label: 'Authors', one: 'Author', groupBy: 'AUTHOR_ID', filter: 'authorId' },
  { key: 'agent', label: 'Agents', one: 'Agent', groupBy: 'AGENT', filter: 'agent' },
  { key: 'host', label: 'Hosts', one: 'Host', groupBy: 'HOST', filter: 'host' },
  { key: 'purpose', label: 'Purpose', one: 'Purpose', groupBy: 'PURPOSE', filter: 'purpose' },
  { key: 'kind', label: 'Kind', one: 'Kind', groupBy: 'KIND', filter: 'kind' },
  { key: 'buyer', label: 'Buyers', one: 'Buyer', groupBy: 'PAYER', filter: 'payer' },
] as const;

/** Orders of the groups, the most first, by the heads they stand under. */
export const GROUP_ORDERS = { Sales: 'EVENTS', Reads: 'READS', Citations: 'CITATIONS', Earned: 'EARNED' } as const;

/** The order that the address says; the most money first unless it does. */
export function groupOrderOf(query: Readonly<Record<string, string>>): string {
  return Object.values(GROUP_ORDERS).find((one) => one === query['sort']) ?? 'EARNED';
}

/** Names of filters in the address, and what people call them. */
const FILTERS = {
  slug: 'Page',
  authorId: 'Author',
  author: 'Wallet',
  agent: 'Agent',
  host: 'Host',
  purpose: 'Purpose',
  kind: 'Kind',
  payer: 'Buyer',
} as const;
type FilterName = keyof typeof FILTERS;

/** Those that payments have too. */
const OF_PAYMENTS: readonly FilterName[] = ['slug', 'authorId', 'author', 'host', 'purpose', 'kind', 'payer'];

/** The filters of the address. */
export function filtersOf(query: Readonly<Record<string, string>>): Partial<Record<FilterName, string>> {
  const found: Partial<Record<FilterName, string>> = {};
  for (const name of Object.keys(FILTERS) as FilterName[]) {
    const value = query[name];
    if (value) found[name] = value;
  }
  return found;
}

/** The filters that payments know; what they do not is told. */
export function paymentFilters(filters: Partial<Record<FilterName, string>>): {
  readonly known: Record<string, string>;
  readonly unknown: readonly { readonly name: string; readonly label: string }[];
} {
  const entries = Object.entries(filters) as [FilterName, string][];
  const known = Object.fromEntries(entries.filter(([name]) => OF_PAYMENTS.includes(name)));
  return {
    known,
    unknown: entries
      .filter(([name]) => !OF_PAYMENTS.includes(name))
      .map(([name]) => ({ name, label: FILTERS[name].toLowerCase() })),
  };
}

/** What a value of a filter is called. */
export function valueName(name: string, value: string): string {
  if (value === '') return 'none';
  if (name === 'slug') return pageName(value);
  if (name === 'purpose' || name === 'kind') return words(value);
  return name === 'payer' || name === 'author' || isWallet(value) ? short(value) : value;
}

/** The filter that a group is: an author without an id is a wallet. */
export function filterOfGroup(filter: string, key: string): Record<string, string> {
  if (filter === 'authorId' && isWallet(key)) return { author: key };
  return { [filter]: filter === 'purpose' || filter === 'kind' ? key.toUpperCase() : key };
}

/** What is filtered by, each with a way to leave it. */
export function Chips(): View {
  const { query } = useRoute();
  const filters = Object.entries(filtersOf(query)) as [FilterName, string][];
  if (filters.length === 0) return null;
  return html`<ul class="chips" aria-label="Filters">
    ${filters.map(
      ([name, value]) => html`<li key=${name}>
      <span class="muted">${FILTERS[name]}</span> <span title=${value}>${valueName(name, value)}</span>
      <${Button} kind="quiet" label=${`Leave out the filter ${FILTERS[name]}`} onClick=${() => setQuery({ [name]: null })}>✕<//>
    </li>`,
    )}
  </ul>`;
}

/** Whether a group of authors is a wallet of nobody known. */
export function isWallet(text: string): boolean {
  return /^0x[0-9a-f]{40}$/i.test(text);
}
