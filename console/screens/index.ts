import { Agents } from './agents/index.ts';
import { Earnings } from './earnings/index.ts';
import { Overview } from './overview/index.ts';
import { Payment } from './payments/payment.ts';
import type { Component, Screen } from './screen.ts';

/** All screens, in the order of the menu. One line a screen; those about money come with the page, the others when they are gone to. */
export const SCREENS: readonly Screen[] = [
  { path: '/', title: 'Overview', group: 'Money', component: Overview },
  { path: '/earnings', title: 'Earnings', group: 'Money', component: Earnings },
  { path: '/earnings/payments/:paymentId', title: 'Payment', group: null, component: Payment },
  { path: '/agents', title: 'Agents', group: 'Money', component: Agents },
  { path: '/licences', title: 'Licences', group: 'Money', ...later(async () => (await import('./licences/index.ts')).Licences) },
  { path: '/pages', title: 'Pages and prices', group: 'Site', ...later(async () => (await import('./pages/index.ts')).Pages) },
  { path: '/hosts', title: 'Hosts', group: 'Site', ...later(async () => (await import('./hosts/hosts.ts')).Hosts) },
  { path: '/webhooks', title: 'Webhooks', group: 'Site', ...later(async () => (await import('./webhooks/index.ts')).Webhooks) },
  {
    path: '/webhooks/:endpointId',
    title: 'Webhook endpoint',
    group: null,
    ...later(async () => (await import('./webhooks/endpoint.ts')).EndpointScreen),
  },
  { path: '/settings', title: 'Settings', group: 'Site', ...later(async () => (await import('./settings/index.ts')).Settings) },
  { path: '/setup', title: 'Set up', group: 'Site', ...later(async () => (await import('./setup/setup.ts')).Setup) },
  {
    path: '/access',
    title: 'Keys and members',
    group: 'People',
    ...later(async () => (await import('./access/access.ts')).Access),
  },
  {
    path: '/audit-log',
    title: 'Audit log',
    group: 'People',
    ...later(async () => (await import('./auditLog/index.ts')).AuditLog),
  },
];

function later(load: () => Promise<Component>): Pick<Screen, 'component'> {
  return { component: { load } };
}
