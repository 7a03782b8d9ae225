import type { CrossingKind } from '../../../kernel/terms.ts';
import type { Span } from '../../../kernel/time/window.ts';
import type { Source } from '../../../paging/store/source.ts';
import { equals, isBetween, isWithin, timeOf, timeOrNull } from '../../../paging/store/source.ts';

/** A licence a site sold. */
export interface SoldLicenceRow {
  readonly jti: string;
  readonly paymentId: string;
  readonly accountId: string;
  readonly host: string;
  readonly patterns: readonly string[];
  readonly terms: readonly string[];
  readonly kind: CrossingKind;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly micro: bigint;
  readonly holder: string | null;
  readonly pages: number;
  readonly boughtAtMs: number;
  readonly revokedAtMs: number | null;
  readonly revokedReason: 'revoked' | 'payment_reverted' | null;
}

/** Which licences. */
export interface SoldLicenceFilter {
  readonly id?: string;
  readonly host?: string | null | undefined;
  readonly kind?: CrossingKind | null | undefined;
  readonly accountId?: string | null | undefined;
  readonly minMicro?: bigint | null | undefined;
  readonly maxMicro?: bigint | null | undefined;
  readonly window?: Span;
  /** Those that end before this moment. */
  readonly untilMs?: number;
  /** Those in force at this moment and not revoked. */
  readonly inForceAtMs?: number;
}

/** Licences a site sold. */
export const SOLD_LICENCES: Source<SoldLicenceRow, SoldLicenceFilter> = {
  columns: `s.jti, s.payment_id, s.account_id, s.host, s.patterns, s.terms, s.kind, s.period_from, s.period_until, s.price_micro,
    s.holder, s.bought_at, s.revoked_at, s.revoked_reason,
    (select count(*) from licence_page g where g.tenant_id = s.tenant_id and g.jti = s.jti) as pages`,
  from: 'licence s',
  tenant: 's.tenant_id',
  id: { column: 's.jti', type: 'uuid' },
  orderings: {
    NEWEST: { column: 's.bought_at', type: 'timestamptz', direction: 'desc' },
    OLDEST: { column: 's.bought_at', type: 'timestamptz', direction: 'asc' },
    LARGEST: { column: 's.price_micro', type: 'bigint', direction: 'desc' },
    SMALLEST: { column: 's.price_micro', type: 'bigint', direction: 'asc' },
    ENDING: { column: 's.period_until', type: 'timestamptz', direction: 'asc' },
  },
  keys: { payment: { column: 's.payment_id', type: 'uuid' } },
  where: (binder, filter) => [
    ...equals(binder, 's.jti', filter.id),
    ...equals(binder, 's.host', filter.host),
    ...equals(binder, 's.kind', filter.kind),
    ...equals(binder, 's.account_id', filter.accountId),
    ...isBetween(binder, 's.price_micro', filter.minMicro, filter.maxMicro),
    ...isWithin(binder, 's.bought_at', filter.window),
    ...(filter.untilMs === undefined ? [] : [`s.period_until < ${binder.bind(new Date(filter.untilMs))}::timestamptz`]),
    ...(filter.inForceAtMs === undefined ? [] : inForce(binder.bind(new Date(filter.inForceAtMs)))),
  ],
  read: (row) => ({
    jti: row['jti'],
    paymentId: row['payment_id'],
    accountId: row['account_id'],
    host: row['host'],
    patterns: row['patterns'],
    terms: row['terms'],
    kind: row['kind'],
    holder: row['holder'],
    pages: Number(row['pages']),
    revokedReason: row['revoked_reason'],
    micro: BigInt(row['price_micro']),
    fromMs: timeOf(row['period_from']),
    untilMs: timeOf(row['period_until']),
    boughtAtMs: timeOf(row['bought_at']),
    revokedAtMs: timeOrNull(row['revoked_at']),
  }),
};

function inForce(at: string): string[] {
  return ['s.revoked_at is null', `s.period_from <= ${at}::timestamptz`, `s.period_until > ${at}::timestamptz`];
}

/** A page that a licence grants. */
export interface LicencePageRow {
  readonly slug: string;
  /** Percent-encoded. */
  readonly path: string;
  readonly micro: bigint;
}

/** Pages of licences. */
export const LICENCE_PAGES: Source<LicencePageRow, Record<never, never>> = {
  columns: 'g.slug, g.path, g.micro',
  from: 'licence_page g',
  tenant: 'g.tenant_id',
  id: { column: 'g.path', type: 'text' },
  orderings: { PATH: { column: 'g.path', type: 'text', direction: 'asc' } },
  keys: { licence: { column: 'g.jti', type: 'uuid' } },
  where: () => [],
  read: (row) => ({ slug: row['slug'], path: row['path'], micro: BigInt(row['micro']) }),
};

/** A page of the catalogue that the owner imported. */
export interface ImportedPageShown {
  readonly slug: string;
  readonly path: string;
  readonly title: string | null;
  /** JSON text; null: nobody can be paid for it. */
  readonly credits: string | null;
  readonly importedAtMs: number;
}

/** Which pages. */
export interface ImportedPageFilter {
  readonly slug?: string | null | undefined;
  /** How the path begins. */
  readonly under?: string | null | undefined;
}

/** Imported pages of a site. */
export const IMPORTED_PAGES: Source<ImportedPageShown, ImportedPageFilter> = {
  columns: 'i.slug, i.path, i.title, i.credits::text as credits, i.imported_at',
  from: 'imported_page i',
  tenant: 'i.tenant_id',
  id: { column: 'i.slug', type: 'text' },
  orderings: { PATH: { column: 'i.path', type: 'text', direction: 'asc' } },
  keys: {},
  where: (binder, filter) => [
    ...equals(binder, 'i.slug', filter.slug),
    ...(filter.under === undefined || filter.under === null ? [] : [`starts_with(i.path, ${binder.bind(filter.under)})`]),
  ],
  read: (row) => ({
    slug: row['slug'],
    path: row['path'],
    title: row['title'],
    credits: row['credits'],
    importedAtMs: timeOf(row['imported_at']),
  }),
};
