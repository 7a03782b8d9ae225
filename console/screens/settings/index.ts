import { useQuery } from '../../core/data.ts';
import { words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { Await } from '../../parts/await.ts';
import { Time } from '../../parts/figure.ts';
import { Badge, Facts, Head, Panel } from '../../parts/panel.ts';
import { Alerts } from './alerts.ts';
import { Rules } from './anomalyRules.ts';
import { Discovery } from './discovery.ts';
import type { SiteSettings } from './documents.ts';
import { SETTINGS_DOCUMENT } from './documents.ts';
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
    <${Await} of=${query} rows=${10}>
      ${({ tenant }: Answer) =>
        tenant === null
          ? null
          : html`<div class="stack">
              <div class="columns two-wide">
                <${Site} site=${tenant} />
                <${Networks} site=${tenant} done=${query.reload} />
                <${DefaultPayee} site=${tenant} done=${query.reload} />
                <${CreditsApi} site=${tenant} done=${query.reload} />
                <${Discovery} site=${tenant} done=${query.reload} />
                <${Receipts} site=${tenant} done=${query.reload} />
                <${ReadAgain} site=${tenant} done=${query.reload} />
              </div>
              <${Alerts} site=${tenant} done=${query.reload} />
              <${Rules} site=${tenant} done=${query.reload} />
            </div>`}
    <//>
    <${Sessions} />`;
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
