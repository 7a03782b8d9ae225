import { Overview } from './overview.ts';
import type { Screen } from './screen.ts';

/** All screens, in the order of the menu. One line a screen. */
export const SCREENS: readonly Screen[] = [{ path: '/', title: 'Overview', group: 'Money', component: Overview }];
