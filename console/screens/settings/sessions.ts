import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { useSession } from '../../core/session.ts';
import { Button } from '../../parts/button.ts';
import { Facts, Panel } from '../../parts/panel.ts';
import { Effect, useReview } from '../../parts/review.ts';

const VIA: Readonly<Record<string, string>> = { oidc: 'your identity provider', token: 'an owner’s token' };

/** Who is signed in here, and signing out everywhere. */
export function Sessions(): View {
  const { user, signOut } = useSession();
  const review = useReview({
    title: 'Sign out everywhere',
    look: async () => user,
    show: ({ id, via }) =>
      html`<${Effect} lines=${[
        html`Every browser in which ${id} is signed in is signed out, this one too.`,
        via === 'token'
          ? 'The token itself stays valid: anyone who has it can sign in again. The operator revokes tokens.'
          : 'Who can sign in at the provider can sign in again.',
      ]} />`,
    make: () => signOut({ everywhere: true }),
    confirm: 'Sign out everywhere',
    danger: true,
    done: () => undefined,
  });
  return html`<${Panel} title="Session">
    <${Facts} of=${[['Signed in', user.id], ['By', VIA[user.via] ?? user.via]]} />
    <div class="actions"><${Button} kind="danger" onClick=${review.start}>Sign out everywhere<//></div>
    ${review.outcome()} ${review.dialog}
  <//>`;
}
