import { moment } from '../core/format.ts';
import type { View } from '../core/html.ts';
import { html } from '../core/html.ts';
import { href } from '../core/router.ts';
import type { SignedIn } from '../core/session.ts';
import { useSession } from '../core/session.ts';
import { Button } from '../parts/button.ts';

/** Which site is looked at, who looks, and the way out. */
export function Account({ session }: { readonly session: SignedIn }): View {
  const { sites, tenantId, setTenant, signOut, user } = useSession();
  const pick = (event: Event): void => setTenant((event.currentTarget as HTMLSelectElement).value);
  const nameOf = ({ host, tenantId: id, status }: SignedIn['sites'][number]): string =>
    `${host ?? id}${status === 'active' ? '' : ` (${status})`}`;
  return html`<div class="account">
    ${
      sites.length > 1
        ? html`<select aria-label="Site" value=${tenantId} onChange=${pick}>${sites.map((one) => html`<option key=${one.tenantId} value=${one.tenantId}>${nameOf(one)}</option>`)}</select>`
        : html`<strong class="site">${sites[0] ? nameOf(sites[0]) : 'No site'}</strong>`
    }
    <details>
      <summary title=${user.id}>${user.id}</summary>
      <p class="muted">Signed in by ${WAY[user.via] ?? user.via}, until ${moment(session.expiresAt)} at the latest.</p>
      ${session.canCreateSite ? html`<${Button} href=${href('/setup')}>Set up another site<//>` : null}
      <${Button} onClick=${() => signOut()}>Sign out<//>
      <${Button} kind="quiet" onClick=${() => signOut({ everywhere: true })}>Sign out everywhere<//>
    </details>
  </div>`;
}

const WAY: Readonly<Record<string, string>> = { token: 'owner token', oidc: 'identity provider', demo: 'the demo link' };
