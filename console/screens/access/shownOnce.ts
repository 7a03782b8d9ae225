import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { Button, Copy } from '../../parts/button.ts';
import { Notice } from '../../parts/panel.ts';

/** A secret that this page holds until it is left: it cannot be read again. */
export function ShownOnce({
  title,
  secret,
  about,
  onDone,
}: {
  readonly title: View;
  readonly secret: string;
  readonly about: View;
  readonly onDone?: () => void;
}): View {
  const action = onDone ? html`<${Button} onClick=${onDone}>I have kept it<//>` : null;
  return html`<${Notice} tone="accent" title=${title} action=${action}>
    <p>${about}</p>
    <p class="secret"><code>${secret}</code> <${Copy} text=${secret} label="Copy the key" /></p>
  <//>`;
}
