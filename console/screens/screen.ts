import type { View } from '../core/html.ts';
import type { IconName } from '../parts/icon.ts';

/** A screen of the console. */
export interface Screen {
  /** Its address below the console's, with `:name` for what it takes. */
  readonly path: string;
  readonly title: string;
  /** Where it stands in the menu; null: it is reached from another screen, under whose `path` its own begins. */
  readonly group: 'Money' | 'Site' | 'People' | null;
  /** What stands before its title in the menu. */
  readonly icon?: IconName;
  readonly component: () => View;
}
