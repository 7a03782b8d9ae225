import { change } from '../../core/data.ts';
import { usd } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { href, setQuery } from '../../core/router.ts';
import { loadSession, onSignOut } from '../../core/session.ts';
import { Button, Copy } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Notice } from '../../parts/panel.ts';
import type { Minted } from '../access/documents.ts';
import { MINT_KEY_DOCUMENT } from '../access/documents.ts';
import { ShownOnce } from '../access/shownOnce.ts';
import { Proof } from '../hosts/proof.ts';
import { Saved, useForm } from './authors.ts';
import type { Played, SetupSite } from './documents.ts';
import { CREATE_SITE_DOCUMENT, SET_PRICE_DOCUMENT, TEST_PURCHASE_DOCUMENT } from './documents.ts';
import { creditedSlugs, microOf, sellingKeys } from './progress.ts';
import { snippetsOf } from './snippets.ts';

/** What a step of an existing site is drawn with. */
export interface StepProps {
  readonly site: SetupSite;
  readonly tenantId: string;
  readonly onChange: () => void;
}

/** Keys minted in this page, by site: shown once means until it is left. */
const minted = new Map<string, string>();
onSignOut(() => minted.clear());

/** Adds a site; the page goes on with it. */
export function BeginSite({ onBegun }: { readonly onBegun: (tenantId: string) => void }): View {
  const [host, setHost] = useState('');
  const { problem, submit } = useForm(async () => {
    type Answer = { readonly createSite: { readonly tenantId: string } };
    const { createSite } = await change<Answer>(CREATE_SITE_DOCUMENT, { host: host.trim(), method: 'WELL_KNOWN' });
    await loadSession();
    onBegun(createSite.tenantId);
  });
  return html`<form class="form" onSubmit=${submit}>
    <p>Name the host that your pages are on. Nothing is sold before you have proven that it is yours, and nothing costs anything before you set a price.</p>
    <${Field} label="Host name" value=${host} onInput=${setHost} placeholder="blog.example.com" required />
    <${Saved} problem=${problem} />
    <div><${Button} type="submit" kind="primary" disabled=${host.trim() === ''}>Begin<//></div>
  </form>`;
}

/** Proves the site's host. */
export function ProveHost({ site, onChange }: StepProps): View {
  const proven = site.hosts.nodes.find(({ verifiedAt }) => verifiedAt !== null);
  const open = site.hosts.nodes.find(({ verifiedAt }) => verifiedAt === null);
  if (proven)
    return html`<p>${proven.host} is yours here. Leave the proof where it is: we look again every day. <a href=${href('/hosts')}>All hosts</a></p>`;
  if (open) return html`<${Proof} host=${open} onChange=${onChange} />`;
  return html`<p>The site has no host. <a href=${href('/hosts')}>Add one</a>.</p>`;
}

/** Sets what a read costs and which paths are sold. */
export function Price({ site, onChange }: StepProps): View {
  const now = microOf(site.priceUsdc);
  const [price, setPrice] = useState(now > 0n ? site.priceUsdc.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') : '0.005');
  const [prefix, setPrefix] = useState(site.articlePrefixes?.join(' ') ?? '/');
  const { problem, submit } = useForm(async () => {
    const prefixes = prefix.split(/\s+/).filter(Boolean);
    await change(SET_PRICE_DOCUMENT, { priceUsdc: price.trim(), prefixes: prefixes.includes('/') ? null : prefixes });
    onChange();
  });
  const micro = microOf(price.trim());
  const isRight = /^\d{1,9}(\.\d{1,6})?$/.test(price.trim());
  const times = BigInt(Math.round(Number(site.citationMultiplier ?? '5') * 10_000));
  return html`<form class="form" onSubmit=${submit}>
    <${Field} label="USD for one read" value=${price} onInput=${setPrice} inputMode="decimal" error=${isRight ? null : 'A decimal with at most six places.'} required />
    <${Field} label="Where your articles are" value=${prefix} onInput=${setPrefix} placeholder="/articles/" hint="Paths that articles begin with, apart by spaces; / for the whole site. All other pages are free." required />
    ${
      isRight
        ? html`<${Notice}>An agent pays ${usd(micro)} to read a page below ${prefix.trim()}, and ${usd((micro * times) / 10_000n)} to cite it. People and search engines go on reading free.<//>`
        : null
    }
    <${Saved} problem=${problem} />
    <div><${Button} type="submit" kind="primary" disabled=${!isRight || prefix.trim() === ''}>Set the price<//></div>
  </form>`;
}

/** Mints the key of the web server. */
export function ServerKey({ site, tenantId, onChange }: StepProps): View {
  const token = minted.get(tenantId);
  const has = sellingKeys(site).length > 0;
  const { problem, submit } = useForm(async () => {
    const { mintKey } = await change<{ readonly mintKey: Minted }>(MINT_KEY_DOCUMENT, {
      name: 'Web server',
      scopes: ['TENANT_READ'],
    });
    minted.set(tenantId, mintKey.token);
    setQuery({ step: 'key' });
    onChange();
  });
  return html`<form class="form" onSubmit=${submit}>
    ${token ? html`<${ShownOnce} title="Your key, shown until you leave this page" secret=${token} about="Copy it to your server, or take the lines of the next step, which have it filled in." />` : null}
    ${!token && has ? html`<p>There is a key. It was shown once and is not kept here: if it is lost, mint another and revoke the old one under <a href=${href('/access')}>Keys and members</a>.</p>` : null}
    ${!token && !has ? html`<p>Your server asks this service with a key. It may ask for prices and settle payments, and nothing else.</p>` : null}
    <${Saved} problem=${problem} />
    ${token ? null : html`<div><${Button} type="submit" kind=${has ? 'plain' : 'primary'}>${has ? 'Mint another key' : 'Mint the key'}<//></div>`}
  </form>`;
}

/** Lines to copy, for each kind of server. */
export function Package({ site, tenantId }: StepProps): View {
  const [kind, setKind] = useState('express');
  const token = minted.get(tenantId) ?? null;
  const snippets = snippetsOf({ serviceUrl: location.origin, token, prefixes: site.articlePrefixes });
  const shown = snippets.find(({ key }) => key === kind) ?? snippets[0];
  return html`<div class="stack">
    <div class="choice" role="group" aria-label="Kind of server">
      ${snippets.map(({ key, label }) => html`<button key=${key} type="button" aria-pressed=${key === kind} onClick=${() => setKind(key)}>${label}</button>`)}
    </div>
    ${shown?.parts.map(
      ({ where, text }) => html`<figure class="snippet" key=${where}>
        <figcaption>${where}<${Copy} text=${text} label=${`Copy: ${where}`} /></figcaption>
        <pre tabindex="0"><code>${text}</code></pre>
      </figure>`,
    )}
    ${token ? null : html`<p class="hint">The key is not shown again: put in your own, or mint another in the step before.</p>`}
    <p class="muted">This step completes automatically when the first agent, or the test purchase below, has asked for a page.</p>
  </div>`;
}

const STEP_NAMES: Readonly<Record<string, string>> = {
  ACCESS: 'Test keys are let in',
  PRICE: 'The page has a price',
  SIGN: 'A wallet signs',
  SETTLE: 'The payment settles',
  LICENCE: 'The licence reads again',
  SITE: 'Your server asks agents to pay',
};

/** Buys a page without money, and shows each step. */
export function TestPurchase({ site, onChange }: StepProps): View {
  const [slug, setSlug] = useState(creditedSlugs(site)[0] ?? '');
  const [played, setPlayed] = useState<Played | null>(null);
  const { problem, submit } = useForm(async () => {
    setPlayed(null);
    const answer = await change<{ readonly testPurchase: Played }>(TEST_PURCHASE_DOCUMENT, { slug: slug.trim() });
    setPlayed(answer.testPurchase);
    onChange();
  });
  return html`<form class="form" onSubmit=${submit}>
    <p>We buy a page as an agent does, with a wallet that has no money, and then ask your own server for it. No money moves and nothing is counted as a sale.</p>
    <${Field} label="Page" value=${slug} onInput=${setSlug} placeholder="first-article" hint="Its slug: what follows the article prefix in the address." required />
    <${Saved} problem=${problem} />
    <div><${Button} type="submit" kind="primary" disabled=${slug.trim() === ''}>Buy it in test mode<//></div>
    ${played ? html`<${PlayedSteps} of=${played} />` : null}
  </form>`;
}

function PlayedSteps({ of: { steps, passed, resource } }: { readonly of: Played }): View {
  return html`<div class="stack" aria-live="polite">
    <ol class="played">
      ${steps.map(
        ({ step, passed: went, says }) => html`<li key=${step} class=${went === null ? 'untried' : went ? 'went' : 'failed'}>
          <span class="place" aria-hidden="true">${went === null ? '·' : went ? '✓' : '✕'}</span>
          <span><strong>${STEP_NAMES[step] ?? step}</strong> <span class="sr">${went === null ? 'not tried' : went ? 'passed' : 'failed'}</span>
          <span class="says">${says}</span></span>
        </li>`,
      )}
    </ol>
    ${passed ? html`<${Notice} tone="good" title="This page sells">${resource}<//>` : html`<${Notice} tone="warn" title="This page does not sell yet">Put right what the first cross says, then play it again.<//>`}
  </div>`;
}

/** What happens from here on. */
export function FirstSale({ site }: StepProps): View {
  const { events } = site.earnings.totals;
  if (events > 0) return html`<p>Your site sells. <a href=${href('/earnings')}>See what it earned</a></p>`;
  return html`<p>Everything is in place. The first agent that pays shows up here and on the <a href=${href('/')}>overview</a>. Before that you may want to hear of each sale: <a href=${href('/webhooks')}>webhooks</a>.</p>`;
}
