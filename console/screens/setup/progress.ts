import { usd } from '../../core/format.ts';
import { MODES } from '../hosts/words.ts';
import type { SetupSite } from './documents.ts';

/** The steps, in their order. */
export const STEPS = ['site', 'host', 'authors', 'price', 'key', 'package', 'test', 'sale'] as const;
/** One of them. */
export type StepKey = (typeof STEPS)[number];

/** How far a step is, by what the service knows now: done, or why not. */
export interface Progress {
  readonly key: StepKey;
  readonly title: string;
  readonly done: boolean;
  readonly says: string;
}

const TITLES: Readonly<Record<StepKey, string>> = {
  site: 'Your site',
  host: 'Prove your host',
  authors: 'Who is paid',
  price: 'The price',
  key: 'A key for your server',
  package: 'The package in front of your pages',
  test: 'A test purchase',
  sale: 'The first sale',
};

/** All steps of a site, from its state; null: there is no site yet. Nothing is remembered here, so a reload is where one was. */
export function progressOf(site: SetupSite | null): readonly Progress[] {
  return STEPS.map((key) => ({ key, title: TITLES[key], ...(site === null ? NOT_YET : READ[key](site)) }));
}

const NOT_YET = { done: false, says: '' };

type Read = (site: SetupSite) => { readonly done: boolean; readonly says: string };

const READ: Readonly<Record<StepKey, Read>> = {
  site: ({ hosts, status }) => {
    const name = hosts.nodes[0]?.host ?? 'a site without a host';
    return { done: true, says: status === 'active' ? name : `${name} is ${status}` };
  },
  host: ({ hosts }) => {
    const proven = hosts.nodes.find(({ verifiedAt }) => verifiedAt !== null);
    return proven ? { done: true, says: proven.host } : { done: false, says: 'No host is proven.' };
  },
  authors: (site) => {
    const pages = creditedSlugs(site).length;
    if (site.defaultPayee) return { done: true, says: `${site.defaultPayee.authorId} is paid for pages that name nobody` };
    if (site.creditsApiUrl) return { done: true, says: 'Your credits API is asked' };
    if (pages > 0) return { done: true, says: `${pages} ${pages === 1 ? 'page names its' : 'pages name their'} authors` };
    return { done: false, says: 'Nobody is named, so every page is free.' };
  },
  price: (site) => {
    const micro = microOf(site.priceUsdc);
    return micro > 0n
      ? { done: true, says: `${usd(micro)} a read` }
      : { done: false, says: 'The price is 0, so every page is free.' };
  },
  key: (site) => {
    const key = sellingKeys(site)[0];
    return key ? { done: true, says: `${key.name} (…${key.last4})` } : { done: false, says: 'No key may sell pages.' };
  },
  package: (site) => {
    const mode = site.hosts.nodes
      .map(({ enforcement }) => enforcement?.mode ?? '')
      .find((one) => one === 'in_app' || one === 'fleet');
    if (mode) return { done: true, says: MODES[mode]?.label ?? 'Heard' };
    return { done: false, says: 'No gate was heard of within a day.' };
  },
  test: ({ auditLog }) => {
    const newest = auditLog.nodes[0];
    if (!newest) return { done: false, says: 'Not played yet.' };
    return hasPassed(newest.after) ? { done: true, says: 'Passed' } : { done: false, says: 'The last one did not go through.' };
  },
  sale: ({ earnings: { totals } }) =>
    totals.events > 0
      ? { done: true, says: `${totals.events} ${totals.events === 1 ? 'sale' : 'sales'}, ${usd(totals.grossMicro)}` }
      : { done: false, says: 'Waiting for the first agent that pays.' },
};

/** Active keys that may sell pages, those of tests left out. */
export function sellingKeys({ keys }: SetupSite) {
  return keys.nodes.filter(({ scopes, prefix }) => scopes.includes('TENANT_READ') && prefix === 'svc_live_');
}

/** Pages whose authors the site itself names. */
export function creditedSlugs({ creditsInline }: SetupSite): readonly string[] {
  return Object.keys(objectOf(creditsInline));
}

function hasPassed(after: string | null): boolean {
  return objectOf(after)['passed'] === true;
}

function objectOf(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Micro-USDC of a decimal of USD. */
export function microOf(usdc: string): bigint {
  const [, whole = '0', part = ''] = /^(\d{1,12})(?:\.(\d{1,6})\d*)?$/.exec(usdc) ?? [];
  return BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0') || '0');
}
