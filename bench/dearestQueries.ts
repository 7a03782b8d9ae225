/**
 * The dearest queries that the limits of GraphQL let through, as `test/property/graphql-cost.test.ts` finds them; it fails when a dearer
 * one becomes legal. Asked of a site whose pages have fifty authors.
 */
export const DEAREST = {
  /** The most values: every leg of as many crossings as may be, with all that stands on a leg. */
  values: `{ tenant { crossings(first: 39) { nodes { legs { at authorId host kind micro role share slug toAddress } } } } }`,
  /** The most rows that are read for other rows. */
  rows: `{ tenant { payments(first: 100) { nodes {
    batch { state } licence { jti } successor { slug batch { state } licence { jti } }
    crossings { slug payer agent micro at recordedAt host kind } } }
    legs(first: 100) { nodes { crossing { slug payment { slug batch { state } licence { jti } successor { slug } } } } }
    crossings(first: 100) { nodes { slug payment { slug batch { state } licence { jti } successor { slug } } } } } }`,
  /** The most titles and URLs of pages, list by list. */
  titles: `{ tenant { crossings(first: 90) { nodes { title url } } ${Array.from(
    { length: 15 },
    (_, n) => `a${n}: crossings(first: 90, orderBy: ${n % 2 ? 'LARGEST' : 'NEWEST'}) { nodes { title url } }`,
  ).join(' ')} } }`,
  /** The most reports, each over all that may be read. */
  reports: `{ tenant { ${Array.from(
    { length: 15 },
    (_, n) =>
      `a${n}: audit(groupBy: SLUG, compare: true, window: { lastDays: ${365 - n} }) { totals { denied } previous { denied } }`,
  ).join(' ')}
    earnings(groupBy: SLUG, compare: true) { totals { events } previous { events } breakdown(first: 1) { totalCount } }
    statements { totalMicro } reconciliation { outstanding { micro } } agents(first: 1) { totalCount } } }`,
} as const;
