import { Access } from './access/access.ts';
import { Agents } from './agents/index.ts';
import { AuditLog } from './auditLog/index.ts';
import { Connect } from './connect/connect.ts';
import { Earnings } from './earnings/index.ts';
import { Hosts } from './hosts/hosts.ts';
import { Licences } from './licences/index.ts';
import { Overview } from './overview/index.ts';
import { Pages } from './pages/index.ts';
import { Payment } from './payments/payment.ts';
import type { Screen } from './screen.ts';
import { Settings } from './settings/index.ts';
import { Setup } from './setup/setup.ts';
import { Statements } from './statements/index.ts';
import { EndpointScreen } from './webhooks/endpoint.ts';
import { Webhooks } from './webhooks/index.ts';

/** All screens, in the order of the menu. One line a screen. */
export const SCREENS: readonly Screen[] = [
  { path: '/', title: 'Overview', group: 'Money', icon: 'overview', component: Overview },
  { path: '/earnings', title: 'Earnings', group: 'Money', icon: 'earnings', component: Earnings },
  { path: '/earnings/payments/:paymentId', title: 'Payment', group: null, component: Payment },
  { path: '/statements', title: 'Statements', group: 'Money', icon: 'statements', component: Statements },
  { path: '/agents', title: 'Agents', group: 'Money', icon: 'agents', component: Agents },
  { path: '/licences', title: 'Licences', group: 'Money', icon: 'licences', component: Licences },
  { path: '/pages', title: 'Pages and prices', group: 'Site', icon: 'pages', component: Pages },
  { path: '/hosts', title: 'Hosts', group: 'Site', icon: 'hosts', component: Hosts },
  { path: '/webhooks', title: 'Webhooks', group: 'Site', icon: 'webhooks', component: Webhooks },
  { path: '/webhooks/:endpointId', title: 'Webhook endpoint', group: null, component: EndpointScreen },
  { path: '/settings', title: 'Settings', group: 'Site', icon: 'settings', component: Settings },
  { path: '/setup', title: 'Set up', group: 'Site', icon: 'setup', component: Setup },
  { path: '/connect', title: 'Connect WordPress', group: null, component: Connect },
  { path: '/access', title: 'Keys and members', group: 'People', icon: 'access', component: Access },
  { path: '/audit-log', title: 'Audit log', group: 'People', icon: 'log', component: AuditLog },
];
