import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Button } from '../../parts/button.ts';
import { Check, Field } from '../../parts/field.ts';
import { Panel } from '../../parts/panel.ts';
import { Effect, ReviewForm, useReview, useTyped } from '../../parts/review.ts';
import { lookAt } from '../pages/documents.ts';
import { showPriceEffect } from '../pages/showEffect.ts';
import type { SiteSettings } from './documents.ts';
import { SET_CREDITS_TOKEN_DOCUMENT, SET_PAYEE_DOCUMENT } from './documents.ts';

interface Props {
  readonly site: SiteSettings;
  readonly done: () => void;
}

/** Who is paid for the pages that name nobody. */
export function DefaultPayee({ site, done }: Props): View {
  const [isSet, setSet, resetSet, isOtherSet] = useTyped(site.defaultPayee !== null);
  const [authorId, setAuthor, resetAuthor, isOtherAuthor] = useTyped(site.defaultPayee?.authorId ?? '');
  const [wallet, setWallet, resetWallet, isOtherWallet] = useTyped(site.defaultPayee?.wallet ?? '');
  const discard = (): void => {
    for (const reset of [resetSet, resetAuthor, resetWallet]) reset();
  };
  const payee = isSet ? { authorId: authorId.trim(), wallet: wallet.trim() } : null;
  const review = useReview({
    title: 'Change who is paid for pages without authors',
    look: () => lookAt({ defaultPayee: payee }),
    show: showPriceEffect,
    make: ({ version }) => mutate(SET_PAYEE_DOCUMENT, { defaultPayee: payee, ifVersion: version }),
    confirm: 'Save',
    said: 'Saved. Quotes show it within two seconds.',
    done: () => {
      discard();
      done();
    },
  });
  const fields = (member: string): readonly string[] => [`defaultPayee.${member}`, `default_payee.contributors.0.${member}`];
  const whole = ['defaultPayee', 'default_payee'] as const;
  return html`<${Panel} title="Pages without authors" about="A page that names nobody is free, unless somebody here is paid for it.">
    <${ReviewForm} review=${review} isChanged=${isOtherSet || isOtherAuthor || isOtherWallet} discard=${discard}>
      <${Check} label="Sell them" hint="Pages on the free list stay free." checked=${isSet} onChange=${setSet} />
      ${
        isSet
          ? html`<${Field} label="Who is paid" value=${authorId} onInput=${setAuthor} error=${review.errorAt(...fields('authorId'))} />
              <${Field} label="Wallet" value=${wallet} placeholder="0x…" onInput=${setWallet} error=${review.errorAt(...fields('wallet'), 'default_payee')} />`
          : null
      }
      ${review.outcome(...(isSet ? whole : []))}
    <//>
    ${review.dialog}
  <//>`;
}

/** Where authors of pages are asked for, and with which token. */
export function CreditsApi({ site, done }: Props): View {
  const [url, setUrl, resetUrl, isChanged] = useTyped(site.creditsApiUrl ?? '');
  const creditsApiUrl = url.trim() === '' ? null : url.trim();
  const review = useReview({
    title: 'Change the credits API',
    look: () => lookAt({ creditsApiUrl }),
    show: (effect) => html`${showPriceEffect(effect)}
      ${site.creditsApiUrl === creditsApiUrl ? null : html`<p class="about">A token goes to the origin it was set for, and to no other: set it again where the origin changes.</p>`}`,
    make: ({ version }) => mutate(SET_PAYEE_DOCUMENT, { creditsApiUrl, ifVersion: version }),
    confirm: 'Save',
    said: 'Saved. Quotes show it within two seconds.',
    done: () => {
      resetUrl();
      done();
    },
  });
  const fields = ['creditsApiUrl', 'credits_api_url'] as const;
  return html`<${Panel} title="Credits API" about="A database of yours that says who wrote a page, where nobody is named here.">
    <${ReviewForm} review=${review} isChanged=${isChanged} discard=${resetUrl}>
      <${Field} label="URL" type="url" value=${url} onInput=${setUrl} placeholder="https://example.com/credits" hint="Leave empty to ask none." error=${review.errorAt(...fields)} />
      ${review.outcome(...fields)}
    <//>
    ${site.creditsApiUrl === null ? null : html`<div class="form"><${Token} url=${site.creditsApiUrl} /></div>`}
    ${review.dialog}
  <//>`;
}

function Token({ url }: { readonly url: string }): View {
  const [token, setToken] = useState('');
  const said = token.trim() === '' ? null : token.trim();
  const review = useReview({
    title: 'Set the token of the credits API',
    look: async () => said,
    show: (text) =>
      html`<${Effect} lines=${[
        text === null
          ? 'The credits API is asked without a token.'
          : html`The credits API at ${originOf(url)} is asked with this token, and no other place ever gets it.`,
        'It is kept encrypted, and shown to nobody again.',
      ]} />`,
    make: (text) => mutate(SET_CREDITS_TOKEN_DOCUMENT, { token: text }),
    confirm: 'Set it',
    done: () => setToken(''),
  });
  return html`<${Field} label="Token" type="password" value=${token} onInput=${setToken} hint="Sent as Authorization: Bearer. Leave empty for none." error=${review.errorAt('token')} />
    ${review.outcome('token')}
    <div class="actions"><${Button} onClick=${review.start}>Set the token<//></div>
    ${review.dialog}`;
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}
