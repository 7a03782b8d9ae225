import { Agents } from './agents/index.ts';
import { Earnings } from './earnings/index.ts';
import { Overview } from './overview/index.ts';
import { Payment } from './payments/payment.ts';
import type { Screen } from './screen.ts';

/** All screens, in the order of the menu. One line a screen. */
export const SCREENS: readonly Screen[] = [
  { path: '/', title: 'Overview', group: 'Money', component: Overview },
  { path: '/earnings', title: 'Earnings', group: 'Money', component: Earnings },
  { path: '/earnings/payments/:paymentId', title: 'Payment', group: null, component: Payment },
  { path: '/agents', title: 'Agents', group: 'Money', component: Agents },
];
