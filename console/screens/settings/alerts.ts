import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { problemOf } from '../../core/problem.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Badge, Notice, Panel } from '../../parts/panel.ts';
import { Effect, ReviewForm, useReview, useTyped } from '../../parts/review.ts';
import type { SiteSettings } from './documents.ts';
import { CONFIRM_ALERT_ADDRESS_DOCUMENT, SET_ALERT_ADDRESS_DOCUMENT } from './documents.ts';
import { settingsNow } from './now.ts';

/** Where alerts go by e-mail, and whether that address agreed. */
export function Alerts({ site, done }: { readonly site: SiteSettings; readonly done: () => void }): View {
  const [email, setEmail, reset, isChanged] = useTyped(site.alertEmail ?? '');
  const address = email.trim() === '' ? null : email.trim();
  const review = useReview({
    title: 'Change where alerts go',
    look: async () => {
      const { version, alertEmail } = await settingsNow();
      return { version, to: address, before: alertEmail };
    },
    show: ({ to, before }) =>
      html`<${Effect} lines=${
        to === null
          ? ['No alert is sent by e-mail any more.']
          : [
              html`${to} gets a code, good for 24 hours.`,
              'No alert goes there before the code is entered here. Three codes a day are sent at most.',
              ...(before !== null && before !== to ? [html`${before} gets no alert any more, from now on.`] : []),
            ]
      } />`,
    make: ({ to, version }) => mutate(SET_ALERT_ADDRESS_DOCUMENT, { email: to, ifVersion: version }),
    confirm: address === null ? 'Stop e-mails' : 'Send the code',
    said: address === null ? 'Saved.' : 'The code is on its way.',
    done: () => {
      reset();
      done();
    },
  });
  const state =
    site.alertEmail === null
      ? null
      : html`<${Badge} tone=${site.isAlertEmailConfirmed ? 'good' : 'warn'}>${site.isAlertEmailConfirmed ? 'Confirmed' : 'Waits for its code'}<//>`;
  return html`<${Panel} title="Alerts by e-mail" about="What the rules below find goes there, and to webhooks." actions=${state}>
    <${ReviewForm} review=${review} isChanged=${isChanged} discard=${reset}>
      <${Field} label="E-mail" type="email" value=${email} onInput=${setEmail} hint="Leave empty for no e-mail." error=${review.errorAt('email')} />
      ${review.outcome('email')}
    <//>
    ${site.alertEmail !== null && site.isAlertEmailConfirmed === false ? html`<div class="form"><${Confirm} done=${done} /></div>` : null}
    ${review.dialog}
  <//>`;
}

function Confirm({ done }: { readonly done: () => void }): View {
  const [code, setCode] = useState('');
  const [wrong, setWrong] = useState('');
  const confirm = async (): Promise<void> => {
    setWrong('');
    try {
      await mutate(CONFIRM_ALERT_ADDRESS_DOCUMENT, { code: code.trim() });
      done();
    } catch (error) {
      setWrong(problemOf(error).message);
    }
  };
  return html`<${Notice} tone="warn" title="The address has not agreed yet">Enter the code that was sent there.<//>
    <${Field} label="Code" value=${code} onInput=${setCode} error=${wrong || undefined} autocomplete="one-time-code" />
    <div class="actions"><${Button} kind="primary" onClick=${confirm}>Confirm the address<//></div>`;
}
