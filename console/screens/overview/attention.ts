import { ago, day } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { many } from '../../core/lists.ts';
import { href } from '../../core/router.ts';
import type { Tone } from '../../parts/panel.ts';
import { Badge } from '../../parts/panel.ts';
import { failureText, nextActionText } from '../hosts/words.ts';
import { ruleText } from '../settings/words.ts';
import { standingOf } from '../webhooks/words.ts';
import type { Overview } from './document.ts';

/** Something that somebody should look at. */
export interface Matter {
  readonly tone: Tone;
  readonly kind: string;
  readonly text: string;
  readonly href: string;
}

/** What needs a look, the worst first; `attention` of the API decides what does, and each is told in the words of its own screen. */
export function mattersOf(site: Overview): readonly Matter[] {
  const all = [...ofWebhooks(site), ...ofHosts(site), ...ofRules(site), ...ofPrice(site), ...ofAudit(site), ...ofLicences(site)];
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

function ofWebhooks({ attention }: Overview): readonly Matter[] {
  return (attention.failingEndpoints ?? []).map((endpoint) => ({
    tone: 'bad',
    kind: 'Webhook',
    href: href('/webhooks'),
    text: `${endpoint.origin}: ${standingOf(endpoint).more}`,
  }));
}

function ofHosts({ attention: { hosts, hostCount, since } }: Overview): readonly Matter[] {
  const at = { tone: 'warn', kind: 'Host', href: href('/hosts') } as const;
  const named = (hosts ?? []).flatMap(({ host, verifiedAt, failingSince, lastReason, failedOpenAt, enforcement }): Matter[] => {
    if (verifiedAt === null) return [{ ...at, text: `${host} is not proven yet` }];
    if (failingSince !== null)
      return [{ ...at, tone: 'bad', text: `${host} fails its check since ${day(failingSince)}: ${failureText(lastReason)}` }];
    const toDo = nextActionText({ enforcement });
    return [
      ...(toDo === null ? [] : [{ ...at, text: `${host}: ${toDo}` }]),
      ...(failedOpenAt === null || failedOpenAt < since
        ? []
        : [{ ...at, text: `${host} served pages free while the service was away, ${ago(failedOpenAt)}` }]),
    ];
  });
  const more = (hostCount ?? 0) - (hosts?.length ?? 0);
  return more > 0 ? [...named, { ...at, text: `${many(more, 'more host needs', 'more hosts need')} a look` }] : named;
}

function ofRules({ attention }: Overview): readonly Matter[] {
  return (attention.rules ?? []).map((rule) => ({ tone: 'bad', kind: 'Rule', href: href('/settings'), text: ruleText(rule) }));
}

function ofPrice({ attention: { raisedPrice } }: Overview): readonly Matter[] {
  if (raisedPrice === null) return [];
  const { stored, charged } = raisedPrice;
  const text = `The price of $${stored.priceUsdc} is below the lowest that the service takes: $${charged.priceUsdc} is charged`;
  return [{ tone: 'warn', kind: 'Price', href: href('/pages', { view: 'prices' }), text }];
}

function ofAudit({ audit }: Overview): readonly Matter[] {
  const { masqueradeAttempts = 0, freeForWantOfAuthors = 0 } = audit?.totals ?? {};
  const pretending: Matter = {
    tone: 'warn',
    kind: 'Agents',
    href: href('/agents', { sort: 'MASQUERADES' }),
    text: `${many(masqueradeAttempts, 'request')} under a false identity`,
  };
  const free: Matter = {
    tone: 'warn',
    kind: 'Pages',
    href: href('/pages'),
    text: `${many(freeForWantOfAuthors, 'request was', 'requests were')} free because the page names no author`,
  };
  return [...(masqueradeAttempts > 0 ? [pretending] : []), ...(freeForWantOfAuthors > 0 ? [free] : [])];
}

function ofLicences({ attention: { licencesEnding, licencesEndingCount } }: Overview): readonly Matter[] {
  const [first] = licencesEnding ?? [];
  if (!first) return [];
  const ending = many(licencesEndingCount ?? 1, 'licence ends', 'licences end');
  const text = `${ending} within 14 days, the first on ${day(first.until)}`;
  return [{ tone: 'plain', kind: 'Licences', href: href('/licences'), text }];
}
