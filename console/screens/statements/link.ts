import { exactMoment } from '../../core/format.ts';
import type { View } from '../../core/html.ts';
import { html, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { TIME_ZONE } from '../../core/windows.ts';
import { Button, Copy } from '../../parts/button.ts';
import { Dialog } from '../../parts/dialog.ts';
import { Field } from '../../parts/field.ts';
import { Notice } from '../../parts/panel.ts';
import { LINK_DOCUMENT } from './document.ts';
import type { Month } from './months.ts';

/** A link that was made. */
export interface MadeLink {
  readonly author: string;
  readonly month: string;
  readonly url: string;
  readonly expiresAt: number;
}

const DAYS = [
  { value: '7', label: 'A week' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
] as const;

/** Makes a link to one author's statement. `author` null: it is closed. */
export function LinkDialog({
  author,
  month,
  onClose,
  onMade,
}: {
  readonly author: string | null;
  readonly month: Month;
  readonly onClose: () => void;
  readonly onMade: (made: MadeLink) => void;
}): View {
  const [days, setDays] = useState<string>('30');
  const run = async (): Promise<void> => {
    const asked = { authorId: author, month: month.key, timeZone: TIME_ZONE, days: Number(days) };
    const { makeStatementLink } = await mutate<{
      readonly makeStatementLink: { readonly url: string; readonly expiresAt: number };
    }>(LINK_DOCUMENT, asked);
    onMade({ author: author ?? '', month: month.name, ...makeStatementLink });
  };
  return html`<${Dialog} title=${`Link to the statement of ${author ?? ''}`} open=${author !== null} onClose=${onClose} confirm=${{ label: 'Make the link', run }}>
    <p>Anyone who has the link may read what ${author} was paid in ${month.name}: the pages, the wallets and the transactions of this author, and nothing of anybody else. It needs no sign-in, and ends earlier only with the token or the ownership that you are signed in with.</p>
    <${Field} label="Valid for" value=${days} options=${DAYS} onInput=${setDays} />
  <//>`;
}

/** The link that was made, to be copied. */
export function Linked({ made, onDone }: { readonly made: MadeLink; readonly onDone: () => void }): View {
  return html`<${Notice} tone="accent" title=${`${made.author}, ${made.month}`} action=${html`<${Button} onClick=${onDone}>Close<//>`}>
    <p>Send this link to the author. It is valid until ${exactMoment(made.expiresAt).slice(0, 10)}.</p>
    <p class="secret"><code>${made.url}</code> <${Copy} text=${made.url} label="Copy the link" /></p>
  <//>`;
}
