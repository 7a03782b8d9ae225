import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { Copy } from '../../parts/button.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Notice } from '../../parts/panel.ts';

/** A secret that is shown once. It lives in the memory of the page until its dialog closes. */
export interface Secret {
  readonly text: string;
  readonly about: string;
}

/** Shows a secret this once. */
export function SecretOnce({ secret, onClose }: { readonly secret: Secret | null; readonly onClose: () => void }): View {
  return html`<${Dialog} title="The signing secret" open=${secret !== null} onClose=${onClose}>
    <${Notice} tone="warn" title="Shown this once">It cannot be read again. Put it where your server checks signatures.<//>
    <p class="secret"><code>${secret?.text}</code> <${Copy} text=${secret?.text ?? ''} label="Copy the secret" /></p>
    <p class="about">${secret?.about}</p>
  <//>`;
}
