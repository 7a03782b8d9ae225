import type { View } from '../core/html.ts';
import { html, useRef, useState } from '../core/html.ts';
import { safeHref } from '../core/router.ts';

/** What a button looks like: the one main thing of a view, any other, what takes away, and one that is hardly there. */
export type ButtonKind = 'primary' | 'plain' | 'danger' | 'quiet';

/** A button, or with `href` a link that looks like one. A second click while `onClick` is under way does nothing. */
export function Button({
  kind = 'plain',
  type = 'button',
  disabled = false,
  busy: isBusy = false,
  href,
  download,
  label,
  onClick,
  children,
}: {
  readonly kind?: ButtonKind;
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  /** What its form does is under way. */
  readonly busy?: boolean;
  readonly href?: string;
  /** The link is a file to keep. */
  readonly download?: boolean;
  /** For screen readers, where what is shown does not say enough. */
  readonly label?: string;
  readonly onClick?: (event: Event) => unknown;
  readonly children?: View;
}): View {
  const [busy, setBusy] = useState(false);
  const under = useRef(false);
  const press = async (event: Event): Promise<void> => {
    if (under.current) return;
    under.current = true;
    setBusy(true);
    try {
      await onClick?.(event);
    } finally {
      under.current = false;
      setBusy(false);
    }
  };
  const named = label === undefined ? {} : { 'aria-label': label };
  if (href !== undefined) {
    return html`<a class=${`button ${kind}`} href=${safeHref(href)} download=${download === true ? '' : undefined} ...${named}>${children}</a>`;
  }
  return html`<button class=${`button ${kind}`} type=${type} disabled=${disabled} aria-busy=${busy || isBusy} onClick=${press} ...${named}>
    ${children}
  </button>`;
}

/** Copies a text, and says so. */
export function Copy({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }): View {
  const [said, say] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied');
    } catch {
      say('Not copied: select it and copy by hand');
    }
    setTimeout(() => say(''), 2_000);
  };
  return html`<button class="button quiet copy" type="button" aria-label=${label} onClick=${copy}>
    ${said === '' ? 'Copy' : said}<span class="sr" role="status">${said}</span>
  </button>`;
}
