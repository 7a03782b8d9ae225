import { useQuery } from '../../core/data.ts';
import { words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Time } from '../../parts/figure.ts';
import { Badge, Facts, Head, Panel } from '../../parts/panel.ts';
import { Alerts } from './alerts.ts';
import { Rules } from './anomalyRules.ts';
import { Discovery } from './discovery.ts';
import type { SiteSettings } from './documents.ts';
import { SETTINGS_DOCUMENT } from './documents.ts';
import { Legal } from './legal.ts';
import { Networks } from './networks.ts';
import { CreditsApi, DefaultPayee } from './payees.ts';
import { ReadAgain } from './readAgain.ts';
import { Receipts } from './receipts.ts';
import { Sessions } from './sessions.ts';

interface Answer {
  readonly tenant: SiteSettings | null;
}

/** Everything else an owner sets. */
export function Settings(): View {
  const query = useQuery<Answer>(SETTINGS_DOCUMENT);
  return html`<${Head} title="Settings" />
    <div class="with-index">
      <${Jump} />
      <div class="sections">
        <${Await} of=${query} rows=${10}>${({ tenant }: Answer) => (tenant === null ? null : html`<${Forms} site=${tenant} done=${query.reload} />`)}<//>
        <${Section} id="session" title="You"><${Sessions} /><//>
      </div>
    </div>`;
}

function Forms({ site, done }: { readonly site: SiteSettings; readonly done: () => void }): View {
  const of = { site, done };
  return html`<div class="sections">
    <${Section} id="site" title="Site">
      <div class="columns two-wide"><${Site} site=${site} /><${Legal} ...${of} /></div>
    <//>
    <${Section} id="selling" title="Selling">
      <div class="columns two-wide"><${Networks} ...${of} /><${ReadAgain} ...${of} /><${DefaultPayee} ...${of} /><${CreditsApi} ...${of} /></div>
    <//>
    <${Section} id="public" title="What everybody sees">
      <div class="columns two-wide"><${Discovery} ...${of} /><${Receipts} ...${of} /></div>
    <//>
    <${Section} id="alerts" title="Alerts"><${Alerts} ...${of} /><${Rules} ...${of} /><//>
  </div>`;
}

const SECTIONS = [
  { id: 'site', title: 'Site' },
  { id: 'selling', title: 'Selling' },
  { id: 'public', title: 'What everybody sees' },
  { id: 'alerts', title: 'Alerts' },
  { id: 'session', title: 'You' },
] as const;

/** Leads to a section of the screen. */
function Jump(): View {
  const to = (id: string): void => {
    const section = document.getElementById(id);
    section?.scrollIntoView({ block: 'start' });
    section?.focus({ preventScroll: true });
  };
  return html`<nav class="jump" aria-label="Sections">
    ${SECTIONS.map(({ id, title }) => html`<${Button} key=${id} kind="quiet" onClick=${() => to(id)}>${title}<//>`)}
  </nav>`;
}

function Section({ id, title, children }: { readonly id: string; readonly title: string; readonly children?: View }): View {
  return html`<section class="section" id=${id} tabindex="-1" aria-label=${title}><h2>${title}</h2>${children}</section>`;
}

function Site({ site }: { readonly site: SiteSettings }): View {
  const tone = site.status === 'active' ? 'good' : site.status === 'pending' ? 'warn' : 'bad';
  return html`<${Panel} title="Site" about="The operator sets these.">
    <${Facts} of=${[
      ['State', html`<${Badge} tone=${tone}>${words(site.status)}<//>`],
      ['Plan', words(site.plan ?? 'free')],
      ['First host', site.defaultHost ?? 'none is proven yet'],
      ['Server behind it', site.originUrl],
      ['Licence issuer', site.licenseIssuer ?? 'this service'],
      ['Site ID', html`<code>${site.tenantId}</code>`],
      ['Created', html`<${Time} at=${site.createdAt} />`],
    ]} />
  <//>`;
}
