import type { Binder } from '../../../../db/binder.ts';
import type { RowOf } from '../../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../../db/shown.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { Span } from '../../../kernel/time/window.ts';
import type { Source } from '../../../paging/store/source.ts';
import { equals, isBetween, isWithin } from '../../../paging/store/source.ts';
import type { CrossingPurpose } from '../earnings/crossings.ts';
import { isBought, purposeOf } from '../earnings/crossings.ts';
import { tallyCrossings, tallyLegs } from './tally.ts';

/** Which crossings. */
export interface CrossingFilter {
  readonly id?: string;
  readonly host?: string | null | undefined;
  readonly slug?: string | null | undefined;
  readonly kind?: CrossingKind | null | undefined;
  readonly payer?: string | null | undefined;
  readonly agent?: string | null | undefined;
  /** A wallet that one of the legs pays. */
  readonly author?: string | null | undefined;
  /** The author's id, as one of the legs names it. */
  readonly authorId?: string | null | undefined;
  readonly purpose?: CrossingPurpose | null | undefined;
  /** Rows that take one back, or all others. */
  readonly isCorrection?: boolean | null | undefined;
  readonly minMicro?: bigint | null | undefined;
  readonly maxMicro?: bigint | null | undefined;
  readonly window?: Span;
}

const UUID = 'uuid' as const;

const CROSSING = both(
  columnsOf('ledger.crossing c', [
    'crossingId',
    'paymentId',
    'sequence',
    'host',
    'slug',
    'kind',
    'micro',
    'payer',
    'agent',
    'at',
    'recordedAt',
  ]),
  workedOut<{ readonly purpose: CrossingPurpose }>(`${purposeOf('c.slug')} as purpose`),
);
/** A crossing as analysts see it. */
export type CrossingRow = RowOf<typeof CROSSING>;

/** Crossings of a site. */
export const CROSSINGS: Source<CrossingRow, CrossingFilter> = {
  columns: CROSSING,
  from: 'ledger.crossing c',
  tenant: 'c.tenant_id',
  id: { column: 'c.crossing_id', type: UUID },
  orderings: {
    NEWEST: { column: 'c.at', type: 'timestamptz', direction: 'desc' },
    OLDEST: { column: 'c.at', type: 'timestamptz', direction: 'asc' },
    LARGEST: { column: 'c.micro', type: 'bigint', direction: 'desc' },
    SMALLEST: { column: 'c.micro', type: 'bigint', direction: 'asc' },
  },
  keys: { id: { column: 'c.crossing_id', type: UUID }, payment: { column: 'c.payment_id', type: UUID } },
  where: (binder, filter) => [
    ...equals(binder, 'c.crossing_id', filter.id),
    ...equals(binder, 'c.host', filter.host),
    ...equals(binder, 'c.slug', filter.slug),
    ...equals(binder, 'c.kind', filter.kind),
    ...equals(binder, 'c.payer', filter.payer),
    ...equals(binder, 'c.agent', filter.agent),
    ...isBetween(binder, 'c.micro', filter.minMicro, filter.maxMicro),
    ...isWithin(binder, 'c.at', filter.window),
    ...(filter.purpose ? [isBought('c.slug', filter.purpose)] : []),
    ...(filter.isCorrection == null ? [] : [filter.isCorrection ? IS_CORRECTION : `not (${IS_CORRECTION})`]),
    ...hasLeg(binder, 'to_address', filter.author),
    ...hasLeg(binder, 'author_id', filter.authorId),
  ],
  tally: tallyCrossings,
};

/** A crossing `c` that takes one back, in the words of the index of these. */
const IS_CORRECTION = 'c.sequence % 2 = 1';

/** True of a crossing `c` with a leg of this value, where one is given. */
function hasLeg(binder: Binder, column: 'to_address' | 'author_id', value: string | null | undefined): string[] {
  if (value === null || value === undefined) return [];
  return [
    `exists (select 1 from ledger.leg l where l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id and l.${column} = ${binder.bind(value)})`,
  ];
}

/** Which legs. */
export interface LegFilter {
  /** `legId` of the row. */
  readonly id?: string;
  readonly host?: string | null | undefined;
  readonly slug?: string | null | undefined;
  readonly kind?: CrossingKind | null | undefined;
  /** The wallet that is paid. */
  readonly author?: string | null | undefined;
  readonly authorId?: string | null | undefined;
  readonly purpose?: CrossingPurpose | null | undefined;
  /** False: without platform legs, which are nobody's earnings. */
  readonly includePlatform?: boolean;
  readonly minMicro?: bigint | null | undefined;
  readonly maxMicro?: bigint | null | undefined;
  readonly window?: Span;
}

const LEG_ID = "(l.crossing_id || ':' || lpad(l.ordinal::text, 5, '0'))";
const LEG = both(
  columnsOf('ledger.leg l', [
    'crossingId',
    'paymentId',
    'toAddress',
    'amountMicro',
    'role',
    'authorId',
    'share',
    'host',
    'slug',
    'kind',
    'at',
  ]),
  workedOut<{ readonly legId: string; readonly purpose: CrossingPurpose }>(
    `${LEG_ID} as "legId", ${purposeOf('l.slug')} as purpose`,
  ),
);
/** One leg as analysts see it. */
export type LegRow = RowOf<typeof LEG>;

/**
 * Legs of a site's crossings. A leg's time is its crossing's: one author's legs are found by the index of theirs, all legs by that of
 * the crossings.
 */
function legsBy(at: 'l.at' | 'c.at'): Source<LegRow, LegFilter> {
  return {
    columns: LEG,
    from: 'ledger.leg l join ledger.crossing c on c.tenant_id = l.tenant_id and c.crossing_id = l.crossing_id',
    tenant: 'l.tenant_id',
    id: { column: LEG_ID, type: 'text' },
    orderings: {
      NEWEST: { column: at, type: 'timestamptz', direction: 'desc' },
      OLDEST: { column: at, type: 'timestamptz', direction: 'asc' },
      LARGEST: { column: 'l.amount_micro', type: 'bigint', direction: 'desc' },
      SMALLEST: { column: 'l.amount_micro', type: 'bigint', direction: 'asc' },
    },
    keys: { crossing: { column: 'l.crossing_id', type: UUID }, author: { column: 'l.to_address', type: 'text' } },
    where: (binder, filter) => [
      ...isLeg(binder, filter.id),
      ...equals(binder, 'l.host', filter.host),
      ...equals(binder, 'l.slug', filter.slug),
      ...equals(binder, 'l.kind', filter.kind),
      ...equals(binder, 'l.to_address', filter.author),
      ...equals(binder, 'l.author_id', filter.authorId),
      ...isBetween(binder, 'l.amount_micro', filter.minMicro, filter.maxMicro),
      ...isWithin(binder, at, filter.window),
      ...(filter.purpose ? [isBought('l.slug', filter.purpose)] : []),
      ...(filter.includePlatform === false ? ["l.role <> 'platform'"] : []),
    ],
    tally: tallyLegs,
  };
}

/** True of the leg `l` of an id, where one is given: its crossing and its place there. */
function isLeg(binder: Binder, id: string | undefined): string[] {
  if (id === undefined) return [];
  const [crossingId, ordinal] = id.split(':');
  return [`l.crossing_id = ${binder.bind(crossingId)}::uuid`, `l.ordinal = ${binder.bind(Number(ordinal))}::smallint`];
}

/** Legs of all authors. */
export const LEGS = legsBy('c.at');
/** Legs of one author, or of each of several; pages and cursors are those of `LEGS`. */
export const LEGS_OF_AUTHOR = legsBy('l.at');
