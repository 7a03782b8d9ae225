import { ago, count, day, words } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { href } from '../../core/router.ts';
import type { Tone } from '../../parts/panel.ts';
import { Badge } from '../../parts/panel.ts';
import type { Overview } from './document.ts';

/** Something that somebody should look at. */
export interface Matter {
  readonly tone: Tone;
  readonly kind: string;
  readonly text: string;
  readonly href: string;
}

/** What needs a look, the worst first. */
export function mattersOf(site: Overview): readonly Matter[] {
  const all = [...ofWebhooks(site), ...ofHosts(site), ...ofRules(site), ...ofAudit(site), ...ofLicences(site)];
  return all.sort((one, other) => Number(other.tone === 'bad') - Number(one.tone === 'bad'));
}

/** The list, or a word that all is well. */
export function Attention({ site }: { readonly site: Overview }): View {
  const matters = mattersOf(site);
  if (matters.length === 0) return html`<p class="calm">Nothing needs a look.</p>`;
  return html`<ul class="matters">
    ${matters.map((matter) => html`<li key=${matter.text}><a href=${matter.href}><${Badge} tone=${matter.tone}>${matter.kind}<//><span>${matter.text}</span></a></li>`)}
  </ul>`;
}

function ofWebhooks({ webhookEndpoints }: Overview): readonly Matter[] {
  return (webhookEndpoints?.nodes ?? []).flatMap(({ origin, enabled, failuresInRow, failingSince, disabledReason }): Matter[] => {
    const at = { kind: 'Webhook', href: href('/webhooks') };
    if (!enabled && disabledReason)
      return [{ ...at, tone: 'bad', text: `${origin} is switched off: ${words(disabledReason).toLowerCase()}` }];
    if (!enabled || failuresInRow === 0) return [];
    const since = failingSince === null ? '' : `, since ${ago(failingSince)}`;
    return [{ ...at, tone: 'bad', text: `${origin} fails: ${count(failuresInRow)} in a row${since}` }];
  });
}

function ofHosts({ hosts }: Overview): readonly Matter[] {
  return (hosts?.nodes ?? []).flatMap(({ host, verifiedAt, failingSince, lastReason, enforcement }): Matter[] => {
    const at = { kind: 'Host', href: href('/hosts') };
    if (verifiedAt === null) return [{ ...at, tone: 'warn', text: `${host} is not proven yet` }];
    if (failingSince !== null)
      return [{ ...at, tone: 'bad', text: `${host} fails its check${lastReason ? `: ${words(lastReason).toLowerCase()}` : ''}` }];
    return enforcement?.attention
      ? [{ ...at, tone: 'warn', text: `${host}: ${words(enforcement.nextAction).toLowerCase()}` }]
      : [];
  });
}

function ofRules({ anomalyRules }: Overview): readonly Matter[] {
  return (anomalyRules?.nodes ?? [])
    .filter(({ enabled, phase }) => enabled && phase.toLowerCase() !== 'armed')
    .map(({ metric, host, threshold, range }) => ({
      ...{ tone: 'bad', kind: 'Rule', href: href('/settings') },
      text: `${words(metric)} reached ${threshold.toLocaleString('en-US')} (${words(range).toLowerCase()})${host === null ? '' : ` on ${host}`}`,
    }));
}

function ofAudit({ audit }: Overview): readonly Matter[] {
  const { masqueradeAttempts = 0, freeForWantOfAuthors = 0 } = audit?.totals ?? {};
  const pretending: Matter = {
    ...{ tone: 'warn', kind: 'Agents', href: href('/agents', { sort: 'MASQUERADES' }) },
    text: `${count(masqueradeAttempts)} ${masqueradeAttempts === 1 ? 'request' : 'requests'} pretended to be somebody else`,
  };
  const free: Matter = {
    ...{ tone: 'warn', kind: 'Pages', href: href('/pages') },
    text: `${count(freeForWantOfAuthors)} ${freeForWantOfAuthors === 1 ? 'request was' : 'requests were'} free because nobody is named who could be paid`,
  };
  return [...(masqueradeAttempts > 0 ? [pretending] : []), ...(freeForWantOfAuthors > 0 ? [free] : [])];
}

function ofLicences({ licencesSold }: Overview): readonly Matter[] {
  const [first] = licencesSold?.nodes ?? [];
  if (!first) return [];
  const number = licencesSold?.totalCount ?? 1;
  const text = `${count(number)} ${number === 1 ? 'licence ends' : 'licences end'} within 14 days, the first on ${day(first.until)}`;
  return [{ tone: 'plain', kind: 'Licences', href: href('/licences'), text }];
}
