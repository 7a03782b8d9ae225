import { exactDay, moment } from '../core/format.ts';
import type { View } from '../core/html.ts';
import { html, render, useEffect, useLayoutEffect, useRef, useState } from '../core/html.ts';
import { href, useRoute } from '../core/router.ts';
import type { SignedIn } from '../core/session.ts';
import { loadSession, useSession, useSessionState } from '../core/session.ts';
import { TIME_ZONE } from '../core/windows.ts';
import { Empty, ProblemText, Skeleton } from '../parts/await.ts';
import { Button } from '../parts/button.ts';
import { Icon } from '../parts/icon.ts';
import { Head, Notice, Panel } from '../parts/panel.ts';
import type { Screen } from '../screens/screen.ts';
import { Account } from './account.ts';
import { SignIn } from './signIn.ts';

/** The frame of every screen, or the way in. */
export function Shell({ screens }: { readonly screens: readonly Screen[] }): View {
  const session = useSessionState();
  if (session.state === 'loading') return html`<main class="alone"><${Skeleton} rows=${3} /></main>`;
  if (session.state === 'error') {
    const action = html`<${Button} onClick=${() => loadSession()}>Try again<//>`;
    return html`<main class="alone">
      <h1 class="sr">Console</h1>
      <${Notice} tone="bad" title="The console cannot be opened" action=${action}><${ProblemText} problem=${session.problem} /><//>
    </main>`;
  }
  if (session.state === 'out') {
    if (!session.ended && page !== null) render(null, page);
    return html`<${SignIn} ways=${session.session.ways} ended=${session.ended} />`;
  }
  return html`<${Kept} screens=${screens} session=${session.session} />`;
}

/** All screens are drawn in here, and it is in the document while somebody is signed in. */
let page: HTMLElement | null = null;
let ownerOfPage: string | null = null;

/**
 * The frame, drawn apart: when a session ends it leaves the document with all that it shows, and when the same person signs in again it is back
 * as it was, with what was typed and the dialog that was open. Anybody else gets a new one.
 */
function Kept({ screens, session }: { readonly screens: readonly Screen[]; readonly session: SignedIn }): View {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    page ??= document.createElement('div');
    if (ownerOfPage !== session.user.id) render(null, page);
    ownerOfPage = session.user.id;
    place.current?.append(page);
    render(html`<${Frame} screens=${screens} session=${session} />`, page);
    for (const dialog of page.querySelectorAll('dialog')) {
      if (dialog.matches(':modal')) continue;
      dialog.close();
      dialog.showModal();
    }
  }, [session]);
  useLayoutEffect(() => () => page?.remove(), []);
  return html`<div ref=${place}></div>`;
}

function Frame({ screens, session }: { readonly screens: readonly Screen[]; readonly session: SignedIn }): View {
  const route = useRoute();
  const { tenantId, site } = useSession();
  const main = useRef<HTMLElement>(null);
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      menu.current?.focus();
    };
    addEventListener('keydown', leave);
    return () => removeEventListener('keydown', leave);
  }, [isOpen]);
  const first = useRef(true);
  const screen = screens.find(({ path }) => path === route.screen) ?? null;
  useEffect(() => {
    document.title = `${screen?.title ?? 'Not found'}${site?.host ? ` · ${site.host}` : ''} · Console`;
    setOpen(false);
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [route.path, site?.host]);
  const inside = screen ? html`<${screen.component} key=${`${tenantId} ${route.path}`} />` : html`<${Nowhere} />`;
  const hasSite = session.sites.length > 0 || route.screen === '/setup' || route.screen === '/connect';
  return html`<div class=${isOpen ? 'shell open' : 'shell'}>
    <a class="skip" href="#main">Skip to the screen</a>
    <header class="bar">
      <span class="mark" aria-hidden="true"></span><span>${site?.host ?? 'Console'}</span>
      <button type="button" class="button" ref=${menu} aria-expanded=${isOpen} aria-controls="menu" onClick=${() => setOpen(!isOpen)}>Menu</button>
    </header>
    <aside class="side" id="menu" aria-label="Menu">
      <p class="brand"><span class="mark" aria-hidden="true"></span>Console</p>
      <${Account} session=${session} />
      <${Menu} screens=${screens} here=${route.screen} />
    </aside>
    <main id="main" ref=${main} tabindex="-1"><${Printed} host=${site?.host ?? null} />${hasSite ? inside : html`<${NoSite} canCreate=${session.canCreateSite} />`}</main>
  </div>`;
}

/** The head of a sheet of paper: of what it is, and when it was printed, by whose clock. */
function Printed({ host }: { readonly host: string | null }): View {
  const line = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const tell = (): void => {
      if (line.current)
        line.current.textContent = `Printed ${exactDay(Date.now())}, ${moment(Date.now()).split(', ')[1]}, ${TIME_ZONE}`;
    };
    addEventListener('beforeprint', tell);
    return () => removeEventListener('beforeprint', tell);
  }, []);
  return html`<p class="printed" aria-hidden="true"><strong>${host ?? 'Console'}</strong><span ref=${line}></span></p>`;
}

const GROUPS = ['Money', 'Site', 'People'] as const;

function Menu({ screens, here }: { readonly screens: readonly Screen[]; readonly here: string | null }): View {
  const isHere = (path: string): boolean => here === path || (path !== '/' && here !== null && here.startsWith(`${path}/`));
  const link = ({ path, title, icon }: Screen): View =>
    html`<li key=${path}><a href=${href(path)} aria-current=${isHere(path) ? 'page' : undefined}>${icon ? html`<${Icon} name=${icon} />` : null}${title}</a></li>`;
  return html`<nav aria-label="Screens">
    ${GROUPS.map((group) => {
      const inside = screens.filter((one) => one.group === group);
      return inside.length === 0 ? null : html`<h2 key=${group}>${group}</h2><ul key=${`${group} list`}>${inside.map(link)}</ul>`;
    })}
  </nav>`;
}

function Nowhere(): View {
  return html`<${Head} title="Not found" />
    <${Panel}><${Empty} action=${html`<${Button} href=${href('/')}>Go to the overview<//>`}>No screen has this address.<//><//>`;
}

function NoSite({ canCreate }: { readonly canCreate: boolean }): View {
  const action = canCreate ? html`<${Button} kind="primary" href=${href('/setup')}>Set up a site<//>` : null;
  return html`<${Head} title="No site yet" />
    <${Panel}>
      <${Empty} action=${action}>${canCreate ? 'Your account has no site. Set one up: it takes a few minutes.' : 'Your account has no site. Ask the operator of this service for one.'}<//>
    <//>`;
}
