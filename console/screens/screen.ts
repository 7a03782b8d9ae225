import type { View } from '../core/html.ts';

/** A screen of the console. */
export interface Screen {
  /** Its address below the console's, with `:name` for what it takes. */
  readonly path: string;
  readonly title: string;
  /** Where it stands in the menu; null: it is reached from another screen, under whose `path` its own begins. */
  readonly group: 'Money' | 'Site' | 'People' | null;
  /** What draws it: at hand, or fetched when it is gone to, so that the first screen waits for none of the others. */
  readonly component: Component | { readonly load: () => Promise<Component> };
}

/** What draws a screen. */
export type Component = () => View;
