import type { View } from '../core/html.ts';
import { html, useEffect, useRef } from '../core/html.ts';

/** The head of a screen: its title, a line about it, and what can be done with all of it. */
export function Head({
  title,
  about,
  children,
}: {
  readonly title: View;
  readonly about?: View;
  readonly children?: View;
}): View {
  return html`<header class="head">
    <div><h1>${title}</h1>${about ? html`<p class="about">${about}</p>` : null}</div>
    ${children ? html`<div class="actions">${children}</div>` : null}
  </header>`;
}

/** A framed part of a screen. `flush`: what is inside, a table, goes to the frame. */
export function Panel({
  title,
  about,
  actions,
  flush = false,
  children,
}: {
  readonly title?: View;
  readonly about?: View;
  readonly actions?: View;
  readonly flush?: boolean;
  readonly children?: View;
}): View {
  const head = html`<header>
    <div><h2>${title}</h2>${about ? html`<p class="about">${about}</p>` : null}</div>
    ${actions ? html`<div class="actions">${actions}</div>` : null}
  </header>`;
  return html`<section class=${flush ? 'panel flush' : 'panel'}>
    ${title ? head : null}
    <div class="body">${children}</div>
  </section>`;
}

/** How something stands, in one or two words. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent';

/** A small label; its words say what its colour says. */
export function Badge({
  tone = 'plain',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children?: View;
}): View {
  return html`<span class=${`badge ${tone}`} title=${title}>${children}</span>`;
}

/** A message that stays: what is wrong, or what to know, and perhaps what to do. */
export function Notice({
  tone = 'plain',
  title,
  action,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: View;
  readonly action?: View;
  readonly children?: View;
}): View {
  return html`<div class=${`notice ${tone}`} role=${tone === 'bad' ? 'alert' : 'status'}>
    <div>${title ? html`<strong>${title}</strong>` : null}${children ? html`<div>${children}</div>` : null}</div>
    ${action ? html`<div class="actions">${action}</div>` : null}
  </div>`;
}

/** Pairs of a name and what is behind it; what is null or undefined is left out. */
export function Facts({ of }: { readonly of: readonly (readonly [View, View])[] }): View {
  const said = of.filter(([, value]) => value !== null && value !== undefined);
  return html`<dl class="facts">${said.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Views of one screen as links: the address says which is looked at. */
export function Tabs({
  label,
  items,
  current,
}: {
  readonly label: string;
  readonly items: readonly { readonly key: string; readonly label: View; readonly href: string }[];
  readonly current: string;
}): View {
  const nav = useRef<HTMLElement>(null);
  // On a phone there are more than fit: the one that is looked at is in view.
  useEffect(() => {
    const here = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (here && nav.current) nav.current.scrollLeft = here.offsetLeft - (nav.current.clientWidth - here.offsetWidth) / 2;
  }, [current]);
  return html`<nav class="tabs" aria-label=${label} ref=${nav}>
    ${items.map((item) => html`<a key=${item.key} href=${item.href} aria-current=${item.key === current ? 'page' : undefined}>${item.label}</a>`)}
  </nav>`;
}
