/** Earnings of a window under filters: sums, series, groups, or payments. */
export const EARNINGS_DOCUMENT = `query earnings($tenantId: ID, $window: WindowInput, $every: SeriesEvery, $timeZone: String, $groupBy: EarningsGroupBy,
  $host: String, $kind: CrossingKind, $purpose: CrossingPurpose, $slug: String, $author: String, $authorId: String, $agent: String, $payer: String,
  $before: WindowInput, $hasBefore: Boolean!, $orderBy: EarningsOrder, $after: String) {
  tenant(tenantId: $tenantId) {
    former: earnings(window: $before, host: $host, kind: $kind, purpose: $purpose, slug: $slug, author: $author, authorId: $authorId,
      agent: $agent, payer: $payer) @include(if: $hasBefore) {
      window { retentionClampedTo }
      series(every: $every, timeZone: $timeZone) { grossMicro }
    }
    earnings(window: $window, compare: true, groupBy: $groupBy, host: $host, kind: $kind, purpose: $purpose, slug: $slug, author: $author,
      authorId: $authorId, agent: $agent, payer: $payer) {
      window { from to retentionClampedTo }
      truncated
      totals { grossMicro events reads citations authors }
      previous { grossMicro events }
      series(every: $every, timeZone: $timeZone) { from grossMicro events }
      prices { smallest median p95 largest }
      breakdown(first: 20, after: $after, orderBy: $orderBy) {
        pageInfo { hasNextPage endCursor }
        nodes { key title authorId grossMicro events reads citations previous { grossMicro } }
      }
    }
  }
}`;

/** Payments of a window under filters. */
export const PAYMENTS_DOCUMENT = `query payments($tenantId: ID, $filter: PaymentFilter, $orderBy: AmountOrder, $after: String) {
  tenant(tenantId: $tenantId) {
    payments(filter: $filter, orderBy: $orderBy, first: 25, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { paymentId mode slug title host state micro acceptedAt reason payer crossings { sequence recordedAt } }
    }
  }
}`;

/** Sums of a stretch of time. */
export interface Sums {
  readonly grossMicro: string;
  readonly events: number;
}

/** A group of the breakdown. */
export interface Group extends Sums {
  readonly key: string;
  /** Of a page. */
  readonly title: string | null;
  readonly authorId: string | null;
  readonly reads: number;
  readonly citations: number;
  readonly previous: { readonly grossMicro: string } | null;
}

/** The days before, by the same buckets. */
export interface Former {
  readonly window: { readonly retentionClampedTo: number | null };
  readonly series: readonly { readonly grossMicro: string }[];
}

/** The answer of `EARNINGS_DOCUMENT`. */
export interface Earnings {
  readonly window: { readonly from: number; readonly to: number | null; readonly retentionClampedTo: number | null };
  readonly truncated: boolean;
  readonly totals: Sums & { readonly reads: number; readonly citations: number; readonly authors: number };
  readonly previous: Sums | null;
  readonly series: readonly (Sums & { readonly from: number })[];
  readonly prices: { readonly smallest: string; readonly median: string; readonly p95: string; readonly largest: string } | null;
  readonly breakdown: {
    readonly nodes: readonly Group[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  } | null;
}
