import type { Binder } from '../../../../db/binder.ts';
import type { RowOf } from '../../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../../db/shown.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { Span } from '../../../kernel/time/window.ts';
import type { Source } from '../../../paging/store/source.ts';
import { equals, isBetween, isWithin } from '../../../paging/store/source.ts';
import type { SiteWindow } from '../earnings/crossings.ts';
import { crossingSource } from '../earnings/crossings.ts';

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

const SOLD = both(
  columnsOf('licence s', [
    'jti',
    'paymentId',
    'accountId',
    'host',
    'patterns',
    'terms',
    'kind',
    'periodFrom',
    'periodUntil',
    'priceMicro',
    'holder',
    'boughtAt',
    'revokedAt',
    'revokedReason',
  ]),
  workedOut<{ readonly pages: number }>(
    '(select count(*)::int from licence_page g where g.tenant_id = s.tenant_id and g.jti = s.jti) as pages',
  ),
);
/** A licence a site sold. */
export type SoldLicenceRow = RowOf<typeof SOLD>;

/** Licences a site sold. */
export const SOLD_LICENCES: Source<SoldLicenceRow, SoldLicenceFilter> = {
  columns: SOLD,
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
};

function inForce(at: string): string[] {
  return ['s.revoked_at is null', `s.period_from <= ${at}::timestamptz`, `s.period_until > ${at}::timestamptz`];
}

const LICENCE_PAGE = columnsOf('licence_page g', ['slug', 'path', 'micro']);
/** A page that a licence grants; its path is percent-encoded. */
export type LicencePageRow = RowOf<typeof LICENCE_PAGE>;

/** Pages of licences. */
export const LICENCE_PAGES: Source<LicencePageRow, Record<never, never>> = {
  columns: LICENCE_PAGE,
  from: 'licence_page g',
  tenant: 'g.tenant_id',
  id: { column: 'g.path', type: 'text' },
  orderings: { PATH: { column: 'g.path', type: 'text', direction: 'asc' } },
  keys: { licence: { column: 'g.jti', type: 'uuid' } },
  where: () => [],
};

/** Which pages. */
export interface ImportedPageFilter {
  readonly slug?: string | null | undefined;
  /** How the path begins. */
  readonly under?: string | null | undefined;
  /** Those of this site that no read or citation was sold of in its window. */
  readonly unsold?: SiteWindow | undefined;
}

const IMPORTED_PAGE = both(
  columnsOf('imported_page i', ['slug', 'path', 'title', 'importedAt']),
  workedOut<{ readonly credits: string | null }>('i.credits::text as credits'),
);
/** A page of the catalogue that the owner imported. `credits` is JSON text; null: nobody can be paid for it. */
export type ImportedPageShown = RowOf<typeof IMPORTED_PAGE>;

/** Imported pages of a site. */
export const IMPORTED_PAGES: Source<ImportedPageShown, ImportedPageFilter> = {
  columns: IMPORTED_PAGE,
  from: 'imported_page i',
  tenant: 'i.tenant_id',
  id: { column: 'i.slug', type: 'text' },
  orderings: { PATH: { column: 'i.path', type: 'text', direction: 'asc' } },
  keys: {},
  where: (binder, filter) => [
    ...equals(binder, 'i.slug', filter.slug),
    ...(filter.under === undefined || filter.under === null ? [] : [`starts_with(i.path, ${binder.bind(filter.under)})`]),
    ...(filter.unsold === undefined ? [] : [`slug_key(i.slug) not in (${soldSlugs(binder, filter.unsold)})`]),
  ],
};

/** Pages that were sold in a window, corrections taken off: added up once a statement, whatever pages are compared with it. */
function soldSlugs(binder: Binder, { tenantId, window }: SiteWindow): string {
  const source = crossingSource(binder, { tenantId, host: null, kind: null }, [window], 'slug');
  return `select key from (${source}) part group by key having sum(events) > 0`;
}
