import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href, useRoute } from '../../core/router.ts';
import { Head, Tabs } from '../../parts/panel.ts';
import { Rules } from '../rules/index.ts';
import { Catalogue } from './catalogue.ts';
import { Crawlers } from './crawlers.ts';
import { PriceForms } from './prices.ts';

const VIEWS = [
  { key: '', label: 'Pages', component: Catalogue },
  { key: 'prices', label: 'Prices', component: PriceForms },
  { key: 'rules', label: 'Price rules', component: Rules },
  { key: 'crawlers', label: 'Crawlers and gate', component: Crawlers },
] as const;

/** The pages of the site, what they cost, and who reads free. */
export function Pages(): View {
  const { query } = useRoute();
  const view = VIEWS.find(({ key }) => key === query['view']) ?? VIEWS[0];
  const items = VIEWS.map(({ key, label }) => ({ key, label, href: href('/pages', { view: key }) }));
  return html`<${Head} title="Pages and prices" />
    <${Tabs} label="Pages and prices" items=${items} current=${view.key} />
    <${view.component} />`;
}
