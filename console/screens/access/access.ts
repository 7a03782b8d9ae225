import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href, useRoute } from '../../core/router.ts';
import { Head, Tabs } from '../../parts/panel.ts';
import { Keys } from './keys.ts';
import { Members } from './members.ts';

/** Who and what may act for the site: keys of servers, and authors on the roster. */
export function Access(): View {
  const { query } = useRoute();
  const current = query['view'] === 'members' ? 'members' : 'keys';
  const items = [
    { key: 'keys', label: 'Keys', href: href('/access') },
    { key: 'members', label: 'Members', href: href('/access', { view: 'members' }) },
  ];
  return html`<${Head} title="Keys and members" />
    <${Tabs} label="Keys or members" items=${items} current=${current} />
    ${current === 'keys' ? html`<${Keys} />` : html`<${Members} />`}`;
}
