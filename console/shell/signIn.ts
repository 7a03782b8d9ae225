import type { View } from '../core/html.ts';
import { html, useRef, useState } from '../core/html.ts';
import type { Problem } from '../core/problem.ts';
import { problemOf } from '../core/problem.ts';
import { BASE, setQuery, useRoute } from '../core/router.ts';
import type { Ways } from '../core/session.ts';
import { signIn } from '../core/session.ts';
import { ProblemText } from '../parts/await.ts';
import { Button } from '../parts/button.ts';
import { Field } from '../parts/field.ts';
import { Notice } from '../parts/panel.ts';

/** The ways in that this installation has. */
export function SignIn({ ways, ended }: { readonly ways: Ways; readonly ended: boolean }): View {
  const { path, query } = useRoute();
  const { refused: _, ...kept } = query;
  const search = new URLSearchParams(kept).toString();
  const back = new URLSearchParams({ return: search === '' ? path : `${path}?${search}` }).toString();
  return html`<main class="alone sign-in">
    <header><span class="mark" aria-hidden="true"></span><h1>Sign in</h1><p class="muted">Earnings, prices and settings of your sites.</p></header>
    ${ended ? html`<${Notice} tone="warn">Your session has ended. Sign in again to go on.<//>` : null}
    ${query['refused'] === undefined ? null : html`<${Notice} tone="bad" title="You were not signed in">${refusalText(query['refused'])}<//>`}
    ${ways.oidc ? html`<${Button} kind="primary" href=${`${BASE}/oidc/start?${back}`}>Continue with ${ways.oidc.name}<//>` : null}
    ${ways.demo ? html`<${Button} kind=${ways.oidc ? 'plain' : 'primary'} href=${`${BASE}/demo?${back}`}>Open the demo site<//>` : null}
    ${ways.token ? html`<${TokenForm} isMain=${!(ways.oidc || ways.demo)} />` : null}
  </main>`;
}

const REFUSALS: Readonly<Record<string, string>> = {
  identity_unavailable: 'The identity provider cannot be reached right now. Try again in half a minute.',
  unknown_credential: 'The identity provider did not confirm who you are, or it took too long. Try again.',
};

/** Why the identity provider led back without a session. The code comes with the address, so only known ones are shown. */
function refusalText(code: string): string {
  return REFUSALS[code] ?? 'The identity provider did not sign you in. Try again, or ask the operator of this service.';
}

function TokenForm({ isMain }: { readonly isMain: boolean }): View {
  const [token, show] = useState('');
  const typed = useRef(''); // what is in the field now, drawn or not: Enter may come right after the last letter
  const setToken = (text: string): void => {
    typed.current = text;
    show(text);
  };
  const [problem, setProblem] = useState<Problem | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem(null);
    try {
      await signIn(typed.current.trim());
      setQuery({ refused: null });
    } catch (error) {
      setProblem(problemOf(error));
    }
    setToken('');
  };
  return html`<form onSubmit=${submit} class=${isMain ? '' : 'second'}>
    <${Field} label="Owner token" type="password" value=${token} onInput=${setToken} required placeholder="svc_owner_…"
      hint="It is sent once and not kept in this page." error=${problem ? html`<${ProblemText} problem=${problem} />` : null} />
    <${Button} type="submit" kind=${isMain ? 'primary' : 'plain'}>Sign in with the token<//>
  </form>`;
}
