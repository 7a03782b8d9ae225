import type { View } from '../../core/html.ts';
import { html } from '../../core/html.ts';
import { Time } from '../../parts/figure.ts';
import type { NewestEvent } from './documents.ts';
import { CHANNELS } from './words.ts';

/** The line a chat shows: of the newest event of the site, as the API writes it. */
export function ChatLine({ newest, channel }: { readonly newest: NewestEvent | null; readonly channel: string }): View {
  const name = CHANNELS.find(({ value }) => value === channel)?.label ?? channel;
  if (newest === null) return html`<p class="about">${name} shows one line an event. There was no event yet to show one of.</p>`;
  return html`<figure class="chat-line">
    <figcaption>In ${name}, of the newest event (<${Time} at=${newest.createdAt} />)</figcaption>
    <p>${newest.chatLine}</p>
  </figure>`;
}
