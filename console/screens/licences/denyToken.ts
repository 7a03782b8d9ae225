import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import { Button } from '../../parts/button.ts';
import { Field } from '../../parts/field.ts';
import { Panel } from '../../parts/panel.ts';
import { Effect, useReview } from '../../parts/review.ts';
import { DENY_TOKEN_DOCUMENT } from './documents.ts';

/** Denies one token, for instance the licence that came with the sale of one page. */
export function DenyToken(): View {
  const [jti, setJti] = useState('');
  const review = useReview({
    title: 'Deny a token',
    look: async () => {
      const said = jti.trim();
      if (said === '') throw new Problem('invalid', 'Write the jti of a token.', { parameter: 'jti' });
      return said;
    },
    show: (said) =>
      html`<${Effect} lines=${[
        html`The token <code>${said}</code> is refused from the next check on, on your site alone.`,
        'Others of the same buyer go on. No money moves.',
        'An id that no token has is noted, too: it is not checked whether there is one.',
      ]} />`,
    make: (said) => mutate(DENY_TOKEN_DOCUMENT, { jti: said }),
    confirm: 'Deny it',
    danger: true,
    said: 'Denied.',
    done: () => setJti(''),
  });
  return html`<${Panel} title="Deny one token" about="A licence that came with a single sale, or an access token, by its jti.">
    <form class="filters" onSubmit=${(event: Event) => event.preventDefault()}>
      <${Field} label="jti" value=${jti} onInput=${setJti} error=${review.errorAt('jti')} />
      <${Button} onClick=${review.start}>Review change<//>
    </form>
    ${review.outcome('jti')} ${review.dialog}
  <//>`;
}
