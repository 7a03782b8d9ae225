import type { View } from '../core/html.ts';
import { html } from '../core/html.ts';

/** Lines of each, on a square of 20. */
const ICONS = {
  overview: 'M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z',
  earnings: 'M3 17h14M5 14v-4M10 14V4M15 14V8',
  statements: 'M5 3h10v14l-2.5-1.5L10 17l-2.5-1.5L5 17zM8 7h4M8 10h4',
  agents: 'M5 8h10v8H5zM10 8V4M8 4h4M8 11v2M12 11v2M3 11v3M17 11v3',
  licences: 'M5 3h7l3 3v11H5zM12 3v3h3M7.5 12l2 2 3.5-3.5',
  pages: 'M5 3h10v14H5zM8 7h4M8 10h4M8 13h2',
  hosts: 'M10 3a7 7 0 1 0 0 14 7 7 0 1 0 0-14zM3 10h14M10 3c3 3 3 11 0 14M10 3c-3 3-3 11 0 14',
  webhooks: 'M3 10h10M9 6l4 4-4 4M17 4v12',
  settings: 'M3 6h7M14 6h3M3 14h3M10 14h7M14 4v4M10 12v4',
  setup: 'M3 6l1.5 1.5L7 5M3 13l1.5 1.5L7 12M10 6h7M10 13h7',
  access: 'M7 7a3 3 0 1 0 0 6 3 3 0 1 0 0-6zM10 10h7v3M14 10v2',
  log: 'M10 3a7 7 0 1 0 0 14 7 7 0 1 0 0-14zM10 6v4l3 2',
  download: 'M10 3v9M6.5 8.5L10 12l3.5-3.5M4 16h12',
} as const;

/** The name of an icon. */
export type IconName = keyof typeof ICONS;

/** A small picture beside words that say the same. */
export function Icon({ name }: { readonly name: IconName }): View {
  return html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d=${ICONS[name]} /></svg>`;
}
