import * as format from '../core/format.ts';
import type { View } from '../core/html.ts';
import { html } from '../core/html.ts';

/** A text for people with the exact value on hover; screen readers hear the exact one. */
export function Exact({
  text,
  exact,
  kind = '',
}: {
  readonly text: string;
  readonly exact: string;
  readonly kind?: string;
}): View {
  if (text === exact) return html`<span class=${`exact ${kind}`}>${text}</span>`;
  return html`<span class=${`exact ${kind}`} title=${exact}><span aria-hidden="true">${text}</span><span class="sr">${exact}</span></span>`;
}

/** An amount of micro-USDC, with `places` where it stands in a column. */
export function Money({
  micro,
  places,
}: {
  readonly micro: format.MicroText | null | undefined;
  readonly places?: number;
}): View {
  return html`<${Exact} text=${format.usd(micro, places)} exact=${format.exactUsd(micro)} kind="money" />`;
}

/** A whole number. */
export function Count({ of }: { readonly of: number | null | undefined }): View {
  return html`<${Exact} text=${format.count(of)} exact=${format.exactCount(of)} kind="count" />`;
}

/** A moment; `relative` says how long ago it was. */
export function Time({
  at,
  relative = false,
}: {
  readonly at: format.Moment | null | undefined;
  readonly relative?: boolean;
}): View {
  if (at === null || at === undefined) return html`<span class="muted">–</span>`;
  const exact = format.exactMoment(at);
  return html`<time datetime=${exact} title=${exact}>${relative ? format.ago(at) : format.moment(at)}</time>`;
}

/** An address, hash or id, shortened; all of it on hover. */
export function Short({ of }: { readonly of: string | null | undefined }): View {
  return html`<code class="short" title=${of ?? undefined}>${format.short(of)}</code>`;
}

/** One figure of a row of them. `change` compares it with before; `good` says which direction is welcome. */
export function Figure({
  label,
  value,
  exact,
  change,
  good = 'up',
  note,
  isHero = false,
}: {
  readonly label: View;
  readonly value: string;
  readonly exact?: string;
  readonly change?: { readonly text: string; readonly direction: 'up' | 'down' | 'same'; readonly exact?: string } | null;
  readonly good?: 'up' | 'down' | 'neither';
  readonly note?: View;
  /** The one figure that a screen is about. */
  readonly isHero?: boolean;
}): View {
  const tone = !change || change.direction === 'same' || good === 'neither' ? '' : change.direction === good ? 'good' : 'bad';
  return html`<div class=${isHero ? 'figure hero' : 'figure'}>
    <dt>${label}</dt>
    <dd class="value"><${Exact} text=${value} exact=${exact ?? value} /></dd>
    <dd class="note">
      ${change ? html`<span class=${`change ${tone}`} title=${change.exact}>${change.text}</span>` : null} ${note}
    </dd>
  </div>`;
}

/** Figures side by side. */
export function Figures({ children }: { readonly children?: View }): View {
  return html`<dl class="figures">${children}</dl>`;
}
