import { change, useQuery } from '../../core/data.ts';
import { usd } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { call } from '../../core/http.ts';
import { Problem } from '../../core/problem.ts';
import { href, useRoute } from '../../core/router.ts';
import { csrfNow, refusalOf, useSession } from '../../core/session.ts';
import { Await } from '../../parts/await.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Facts, Head, Notice, Panel } from '../../parts/panel.ts';
import { Saved, useForm } from '../setup/authors.ts';
import { CREATE_SITE_DOCUMENT } from '../setup/documents.ts';
import { microOf } from '../setup/progress.ts';
import { choiceOf, NEW } from './choice.ts';
import type { ConnectAnswer } from './documents.ts';
import { CONNECT_DOCUMENT, CONNECT_PRICE_DOCUMENT } from './documents.ts';
import type { ConnectRequest } from './request.ts';
import { requestOf } from './request.ts';

/** A WordPress asks to be connected: its owner sees what it gets, chooses the site and says yes. */
export function Connect(): View {
  const { query } = useRoute();
  const request = requestOf(query);
  if (request === null) {
    return html`<${Head} title="Connect WordPress" />
      <${Panel}>
        <${Notice} tone="bad" title="This link is not a request of your WordPress">Nothing was granted. Begin in your WordPress: Settings → Content Settlement → Connect.<//>
      <//>`;
  }
  return html`<${Asked} request=${request} />`;
}

function Asked({ request }: { readonly request: ConnectRequest }): View {
  const { sites, canCreateSite, user } = useSession();
  const [named, setNamed] = useState<string | undefined>(undefined); // not of the address, which a stranger may have made
  const { host, place, elsewhere } = request;
  const chosen = choiceOf(named, sites, host, canCreateSite);
  const isNew = chosen === NEW;
  const site = useQuery<ConnectAnswer>(isNew || chosen === null ? null : CONNECT_DOCUMENT, { tenantId: chosen });
  const options = [
    ...(chosen === null ? [{ value: '', label: 'Choose a site' }] : []),
    ...sites.map(({ tenantId, host: name, status }) => ({
      value: tenantId,
      label: `${name ?? tenantId}${status === 'active' ? '' : ` (${status})`}`,
    })),
    ...(canCreateSite ? [{ value: NEW, label: `A new site for ${host}` }] : []),
  ];
  const about =
    elsewhere === null
      ? `The WordPress at ${place} asks for this.`
      : `A WordPress on this computer, at ${elsewhere}, asks for this.`;
  const inside = (): View => {
    if (sites.length === 0 && !canCreateSite)
      return html`<${Notice} title="You have no site here">Ask the operator of this service for one, then press Connect in your WordPress again.<//>`;
    const choose = html`<${Field} label="Site" value=${chosen ?? ''} options=${options} onInput=${setNamed} />`;
    if (chosen === null) return choose;
    if (isNew) return html`${choose}<${Grant} key=${chosen} request=${request} chosen=${chosen} site=${null} />`;
    return html`${choose}<${Await} of=${site} rows=${4}>
      ${({ tenant }: ConnectAnswer) => html`<${Grant} key=${chosen} request=${request} chosen=${chosen} site=${tenant} />`}
    <//>`;
  };
  return html`<${Head} title=${`Connect ${host}`} about=${about} />
    <${Panel} title="What you allow" about=${`You are signed in as ${user.id}. Say yes only if you have just pressed Connect in this WordPress.`}>
      <div class="stack">${inside()}</div>
    <//>`;
}

function Grant({
  request,
  chosen,
  site,
}: {
  readonly request: ConnectRequest;
  readonly chosen: string;
  /** The site as it is; null: it will be new. */
  readonly site: ConnectAnswer['tenant'] | null;
}): View {
  const { host, creditsUrl } = request;
  const [price, setPrice] = useState('0.005');
  const [isLeaving, setLeaving] = useState(false);
  const mustPrice = site === null || microOf(site.priceUsdc) === 0n;
  const isRight = !mustPrice || (/^\d{1,9}(\.\d{1,6})?$/.test(price.trim()) && microOf(price.trim()) > 0n);
  const isProven = site?.hosts.nodes.some((one) => one.host === host && one.verifiedAt !== null) ?? false;
  const others = (site?.hosts.nodes ?? []).filter((one) => one.host !== host).map((one) => one.host);
  const { problem, submit } = useForm(async () => {
    const tenantId = site === null ? await begin(host) : chosen;
    if (mustPrice) await change(CONNECT_PRICE_DOCUMENT, { tenantId, priceUsdc: price.trim() });
    const to = await authorize(request, tenantId);
    setLeaving(true);
    location.assign(to);
  });
  const former = site?.creditsApiUrl && site.creditsApiUrl !== creditsUrl ? site.creditsApiUrl : null;
  return html`<form class="form" onSubmit=${submit}>
    ${
      others.length > 0 && !isProven
        ? html`<${Notice} tone="warn" title=${`This site sells ${others.slice(0, 3).join(', ')} until now`}>${host} would be another host of it, and from then on ${host} alone would name who is paid, for all its hosts. Go on only if ${host} is yours.<//>`
        : null
    }
    ${
      mustPrice
        ? html`<${Field} label="USD for one read" value=${price} onInput=${setPrice} inputMode="decimal" hint="What an AI agent pays to read a post. People and search engines read free. You can change it later." error=${isRight ? null : 'A decimal above 0 with at most six places.'} required />`
        : null
    }
    <${Facts} of=${[
      ['A key for its server', 'It asks for prices and settles payments, until you revoke it.'],
      [
        `Proof of ${host}`,
        isProven
          ? 'It is proven already.'
          : 'A second key, for 30 days at most: the plugin shows the proof, and we look at once.',
      ],
      [
        'Who is paid',
        html`The authors and wallets that this WordPress names, asked for at <code>${creditsUrl}</code>${former ? html`. Until now: <code>${former}</code>` : null}`,
      ],
      mustPrice ? ['', null] : ['Price', `${usd(microOf(site?.priceUsdc ?? '0'))} a read, as it is.`],
    ]} />
    <${Saved} problem=${problem} />
    <div class="actions">
      <${Button} type="submit" kind="primary" disabled=${!isRight || isLeaving}>${isLeaving ? `Back to ${host} …` : `Connect ${host}`}<//>
      <${Button} kind="quiet" href=${href('/')}>Cancel<//>
    </div>
  </form>`;
}

/** Adds the site of this host; again: the same one. */
async function begin(host: string): Promise<string> {
  type Answer = { readonly createSite: { readonly tenantId: string } };
  const { createSite } = await change<Answer>(CREATE_SITE_DOCUMENT, { host, method: 'WELL_KNOWN' });
  return createSite.tenantId;
}

/** Says yes: the address that leads back to the WordPress. Throws `Problem`. */
async function authorize({ place: _, elsewhere: __, ...asked }: ConnectRequest, tenantId: string): Promise<string> {
  const { status, body, requestId } = await call('POST', '/connect/authorize', { body: { tenantId, ...asked }, csrf: csrfNow() });
  const to = typeof body === 'object' && body !== null && 'redirectTo' in body ? body.redirectTo : null;
  if (status !== 200) throw refusalOf(status, body, requestId);
  if (typeof to !== 'string') throw new Problem('bad_answer', 'The service did not say where to go on.', { requestId });
  return to;
}
