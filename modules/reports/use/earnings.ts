import type { Sql } from '../../../db/database.ts';
import type { Span } from '../../kernel/time/window.ts';
import { countAuthors, listWallets, listWalletsOf } from '../store/earnings/authors.ts';
import type { CrossingPurpose, CrossingScope, PayerHistory } from '../store/earnings/crossings.ts';
import type {
  Corrections,
  CrossingGroup,
  CrossingGrouping,
  CrossingPrices,
  CrossingSum,
  GroupInWindow,
  LedgerCrossing,
} from '../store/earnings/earnings.ts';
import {
  listCrossings,
  MAX_READ_GROUPS,
  readCorrections,
  readGroups,
  readOverview,
  readPrices,
  sumCrossings,
  sumEach,
  sumGroupsEach,
} from '../store/earnings/earnings.ts';
import type { Page } from '../store/earnings/pages.ts';
import type { AskedSeries } from './calendar.ts';
import { bucketsOf } from './calendar.ts';
import type { ReportDeps, ReportFrame, ReportQuery, ReportSite, Totals } from './request.ts';
import { comparedWindow, readReport, readShortReport, untilCursor } from './request.ts';

/** What REST breaks earnings down by. */
export const EARNINGS_GROUPS = ['host', 'slug', 'author', 'kind'] as const;
/** One of them. */
export type EarningsGroup = (typeof EARNINGS_GROUPS)[number];

/** Everything earnings can be broken down by. */
export const EARNINGS_BREAKDOWNS = [
  ...EARNINGS_GROUPS,
  ...(['author-id', 'purpose', 'agent', 'payer', 'payer-history'] as const),
] as const;
/** One of them. */
export type EarningsBreakdown = (typeof EARNINGS_BREAKDOWNS)[number];

/** Net sums of a window, with how many authors were paid. */
export interface EarningsTotals extends Totals {
  readonly authors: number;
}

/** One group; `key` is a host, a slug, a wallet in lower case, or another name of what it is of. */
export interface BreakdownRow extends Totals {
  readonly key: string;
  /** The author's id where one is known; null where the key says all. */
  readonly authorId: string | null;
  /** Whether a payer had paid the site before the window; null for other groups. */
  readonly history: PayerHistory | null;
  /** How many payers the group has; null where it is of something else. */
  readonly payers: number | null;
  /** The same group in the window that this one is compared with; null unless asked for. */
  readonly previous: Totals | null;
}

/** Net sums of one bucket of a series. */
export interface EarningsBucket extends Totals, Span {}

/** Earnings of a window. */
export interface Earnings extends ReportFrame {
  readonly totals: EarningsTotals;
  /** Totals of the window before; null unless asked for. */
  readonly previous: EarningsTotals | null;
  /** Largest first; null unless asked for. */
  readonly breakdown: readonly BreakdownRow[] | null;
  /** True when there are more payers or agents than the breakdown has. */
  readonly isCut: boolean;
  /** One of each asked for, in their order; its buckets add up to the totals. */
  readonly series: readonly (readonly EarningsBucket[])[];
  /** A group of the breakdown in each bucket of a series, as they were asked for; its buckets add up to the group. */
  readonly seriesOfGroup: (asked: AskedSeries, key: string) => readonly EarningsBucket[];
  /** What its crossings cost; null without any, and unless asked for. */
  readonly prices: CrossingPrices | null;
  /** What was taken back in the window; null unless asked for. */
  readonly corrections: Corrections | null;
  /** The newest crossing or correction of the window; null without one, and without a list. */
  readonly lastEventAtMs: number | null;
  readonly recent: Page<LedgerCrossing>;
}

/** Series of some groups of the breakdown. */
export interface GroupSeries {
  readonly series: readonly AskedSeries[];
  /** Which groups, of all in their order, by their keys. */
  readonly keysOf: (groups: readonly BreakdownRow[]) => readonly string[];
}

/** What earnings take besides the common parameters. */
export interface EarningsQuery extends Omit<ReportQuery, 'limit'> {
  readonly groupBy: EarningsBreakdown | null;
  /** Rows of the list; null: no list. */
  readonly limit: number | null;
  readonly slug?: string | null;
  readonly purpose?: CrossingPurpose | null;
  /** A wallet, in lower case: its legs alone. */
  readonly author?: string | null;
  /** The legs of all wallets of this author. */
  readonly authorId?: string | null;
  readonly agent?: string | null;
  /** Lower case. */
  readonly payer?: string | null;
  readonly payerHistory?: PayerHistory | null;
  readonly series?: readonly AskedSeries[];
  /** Each takes a statement for each of its series. */
  readonly groupSeries?: readonly GroupSeries[];
  readonly withPrices?: boolean;
  readonly withCorrections?: boolean;
  /** False: `authors` of the totals is 0; to count them takes every leg of the window where no rollup knows the filter. */
  readonly countsAuthors?: boolean;
  /** True: groups of pages hold no licences. */
  readonly pagesOnly?: boolean;
  /** True: with `compare`, each group has what it was before, and groups that were there before alone are listed. */
  readonly comparesGroups?: boolean;
}

const MAX_GROUPS = MAX_READ_GROUPS - 1;

/**
 * Earnings of a site in a window: sums from the rollups where they know what is asked, exact whatever the list's limit; mock payments
 * have no crossings and count nowhere. Throws database_unavailable, and invalid_parameter as `bucketsOf` does.
 */
export function readEarnings(deps: ReportDeps, site: ReportSite, query: EarningsQuery): Promise<Earnings> {
  const { groupBy, series = [], groupSeries = [], compare, limit, cursorMs, countsAuthors = true } = query;
  const mayBeOne =
    !compare &&
    cursorMs === null &&
    series.length + groupSeries.length === 0 &&
    !query.authorId &&
    !query.withPrices &&
    !query.withCorrections;
  const work = async (sql: Sql, frame: ReportFrame): Promise<Earnings> => {
    const { window, generatedAtMs } = frame;
    const cut = series.map((asked) => bucketsOf(window, asked, generatedAtMs));
    const scope = await scopeOf(sql, site, query, { window, namedBy: window });
    const grouping = groupingOf(scope, query);
    const parts = { listed: untilCursor(window, cursorMs), limit, countsAuthors, ...grouping };
    const { sums, authors, recent, groups } = await readOverview(sql, scope, window, parts);
    const rows = groupBy === null ? null : rowsOf(groupBy, sums, groups);
    const before = compare
      ? await readBefore(sql, site, query, { window: comparedWindow(query, frame, site), namedBy: window, rows })
      : null;
    const all = rows && before?.rows ? beside(rows, before.rows) : rows;
    const breakdown = isBounded(groupBy) ? (all?.slice(0, MAX_GROUPS) ?? null) : all;
    return {
      ...frame,
      totals: { ...add(sums), authors },
      previous: before?.totals ?? null,
      breakdown,
      isCut: (all?.length ?? 0) > (breakdown?.length ?? 0),
      series: await seriesOf(sql, scope, cut),
      seriesOfGroup: await seriesOfGroups(sql, query, { scope, frame, groups: breakdown ?? [] }),
      prices: query.withPrices ? await readPrices(sql, scope, window) : null,
      corrections: query.withCorrections ? await readCorrections(sql, scope, window) : null,
      lastEventAtMs: limit === null ? null : ((await newest(sql, scope, window, cursorMs === null ? recent : null)) ?? null),
      recent,
    };
  };
  return (mayBeOne ? readShortReport : readReport)(deps, site, query, work);
}

/** A window, and the one that names authors: who was renamed since the window before is compared with themselves. */
interface NamedWindow {
  readonly window: Span;
  readonly namedBy: Span;
}

/** Which crossings a query means in a window. */
async function scopeOf(
  sql: Sql,
  site: ReportSite,
  query: EarningsQuery,
  { window, namedBy }: NamedWindow,
): Promise<CrossingScope> {
  const { host, kind, slug = null, purpose = null, author, authorId, agent = null, payer = null, payerHistory } = query;
  const ofAuthor = authorId ? await listWallets(sql, site.tenantId, authorId, namedBy) : null;
  const wallets = author ? [author].filter((wallet) => ofAuthor?.includes(wallet) ?? true) : ofAuthor;
  const payers = payerHistory ? { history: payerHistory, beforeMs: window.fromMs } : null;
  return { tenantId: site.tenantId, host, kind, slug, purpose, wallets, agent, payer, payers };
}

/** How a query's groups are read; none where host and kind are told apart by the totals already, or nothing is asked for. */
function groupingOf(scope: CrossingScope, { groupBy, pagesOnly = false }: EarningsQuery) {
  if (groupBy === null || groupBy === 'host' || groupBy === 'kind') return { groupBy: null };
  const isOfPages = pagesOnly && groupBy === 'slug';
  if (isOfPages && scope.purpose === 'licence') return { groupBy: null };
  const grouping: CrossingGrouping = groupBy === 'author-id' ? 'author' : groupBy;
  return { groupBy: grouping, groupScope: isOfPages ? { ...scope, purpose: 'page' as const } : scope };
}

/** True of groups of which those with the most money alone are listed. */
function isBounded(groupBy: EarningsBreakdown | null): boolean {
  return groupBy === 'payer' || groupBy === 'agent';
}

/** Totals of the window before, and its groups where they are compared. */
async function readBefore(
  sql: Sql,
  site: ReportSite,
  query: EarningsQuery,
  { window, namedBy, rows }: NamedWindow & { readonly rows: readonly BreakdownRow[] | null },
): Promise<{ readonly totals: EarningsTotals; readonly rows: readonly BreakdownRow[] | null }> {
  const scope = await scopeOf(sql, site, query, { window, namedBy });
  const sums = await sumCrossings(sql, scope, window);
  const totals = { ...add(sums), authors: query.countsAuthors === false ? 0 : await countAuthors(sql, scope, window) };
  if (!query.comparesGroups || query.groupBy === null) return { totals, rows: null };
  const { groupBy, groupScope = scope } = groupingOf(scope, query);
  const groups = groupBy === null ? [] : await readGroups(sql, groupScope, window, { groupBy, namedBy });
  // Where only those with the most money are read, those that are listed now may be among the others.
  const isAll = groupBy === null || groups.length < MAX_READ_GROUPS || !isBounded(query.groupBy);
  const keys = (rows ?? []).map(({ key }) => key);
  const listed = isAll ? [] : await readGroups(sql, groupScope, window, { groupBy, keys, namedBy });
  const known = new Set(groups.map(({ key }) => key));
  return { totals, rows: rowsOf(query.groupBy, sums, [...groups, ...listed.filter(({ key }) => !known.has(key))]) };
}

/** What a payer who bought something in the window before is in this one. */
const RETURNING: PayerHistory = 'returning';

const NOTHING: Totals = { events: 0, reads: 0, citations: 0, grossMicro: 0n };

/**
 * Each group with what it was before. Groups that were there before alone belong here, too: who stopped paying is what a comparison is asked
 * for. They have nothing now and come last, so that no limit drops a group of now for one of them.
 */
function beside(rows: readonly BreakdownRow[], earlier: readonly BreakdownRow[]): BreakdownRow[] {
  const before = new Map(earlier.map((row) => [row.key, row]));
  const known = new Set(rows.map(({ key }) => key));
  const gone = earlier
    .filter(({ key }) => !known.has(key))
    .map((row) => ({ ...row, ...NOTHING, payers: row.payers === null ? null : 0, history: row.history && RETURNING }));
  return [...rows, ...gone].map((row) => ({ ...row, previous: before.get(row.key) ?? NOTHING }));
}

/** The sums of each bucket of each series. */
async function seriesOf(sql: Sql, scope: CrossingScope, series: readonly (readonly Span[])[]): Promise<EarningsBucket[][]> {
  const all: EarningsBucket[][] = [];
  for (const buckets of series) {
    const sums = Map.groupBy(await sumEach(sql, scope, buckets), ({ place }) => place);
    all.push(buckets.map((bucket, place) => ({ ...bucket, ...add(sums.get(place) ?? []) })));
  }
  return all;
}

/** The series of groups that were asked for: what each group came to in each bucket. */
async function seriesOfGroups(
  sql: Sql,
  query: EarningsQuery,
  {
    scope,
    frame,
    groups,
  }: { readonly scope: CrossingScope; readonly frame: ReportFrame; readonly groups: readonly BreakdownRow[] },
): Promise<Earnings['seriesOfGroup']> {
  const nameOf = ({ every, timeZone }: AskedSeries, key: string): string => `${every} ${timeZone} ${key}`;
  const known = new Map<string, readonly EarningsBucket[]>();
  for (const { series, keysOf } of query.groupBy === null ? [] : (query.groupSeries ?? [])) {
    const keys = keysOf(groups);
    for (const asked of series) {
      const buckets = bucketsOf(frame.window, asked, frame.generatedAtMs);
      const sums = Map.groupBy(
        await sumsInBuckets(sql, query, { scope, buckets, keys, namedBy: frame.window }),
        ({ key }) => key,
      );
      for (const key of keys) {
        const places = Map.groupBy(sums.get(key) ?? [], ({ place }) => place);
        known.set(
          nameOf(asked, key),
          buckets.map((bucket, place) => ({ ...bucket, ...addGroups(places.get(place) ?? []) })),
        );
      }
    }
  }
  return (asked, key) => known.get(nameOf(asked, key)) ?? [];
}

/** Sums of the groups of some keys in each bucket, in one statement; in two where payers are told apart by what they did before. */
async function sumsInBuckets(
  sql: Sql,
  query: EarningsQuery,
  {
    scope,
    buckets,
    keys,
    namedBy,
  }: {
    readonly scope: CrossingScope;
    readonly buckets: readonly Span[];
    readonly keys: readonly string[];
    readonly namedBy: Span;
  },
): Promise<readonly GroupInWindow[]> {
  const { groupBy } = query;
  if (groupBy === 'host' || groupBy === 'kind') return await sumGroupsEach(sql, scope, buckets, { by: groupBy, keys });
  if (groupBy === 'payer-history') return await sumByHistory(sql, scope, buckets, keys as readonly PayerHistory[]);
  const grouping = groupingOf(scope, query);
  const by = grouping.groupBy;
  if (by === null || by === 'payer-history') return [];
  if (groupBy !== 'author-id') return await sumGroupsEach(sql, grouping.groupScope ?? scope, buckets, { by, keys });
  const authors = await listWalletsOf(sql, scope.tenantId, keys, namedBy);
  const wallets = [...authors.keys(), ...keys]; // a wallet of no author is a group by itself
  const sums = await sumGroupsEach(sql, scope, buckets, { by, keys: wallets });
  return sums.map((row) => ({ ...row, key: authors.get(row.key) ?? row.key }));
}

async function sumByHistory(
  sql: Sql,
  scope: CrossingScope,
  buckets: readonly Span[],
  histories: readonly PayerHistory[],
): Promise<readonly GroupInWindow[]> {
  const all: GroupInWindow[] = [];
  const beforeMs = scope.payers?.beforeMs ?? buckets[0]?.fromMs ?? 0;
  for (const history of histories) {
    if (scope.payers && scope.payers.history !== history) continue;
    for (const { place, kind, events, micro } of await sumEach(sql, { ...scope, payers: { history, beforeMs } }, buckets)) {
      const isCitation = kind === 'citation';
      all.push({
        place,
        key: history,
        reads: isCitation ? 0 : Number(events),
        citations: isCitation ? Number(events) : 0,
        micro,
      });
    }
  }
  return all;
}

function addGroups(rows: readonly GroupInWindow[]): Totals {
  const reads = rows.reduce((sum, row) => sum + row.reads, 0);
  const citations = rows.reduce((sum, row) => sum + row.citations, 0);
  return { events: reads + citations, reads, citations, grossMicro: rows.reduce((sum, { micro }) => sum + micro, 0n) };
}

/** When the newest crossing was; a first page knows. */
async function newest(sql: Sql, scope: CrossingScope, window: Span, first: Page<LedgerCrossing> | null) {
  const page = first ?? (await listCrossings(sql, scope, window, 1));
  return page.rows[0]?.atMs;
}

const NO_NOTES = { authorId: null, history: null, payers: null, previous: null };

/** The groups that were asked for, the most money first. */
function rowsOf(
  groupBy: EarningsBreakdown,
  sums: readonly CrossingSum[],
  groups: readonly CrossingGroup[],
): readonly BreakdownRow[] {
  if (groupBy === 'host' || groupBy === 'kind') {
    return sorted([...Map.groupBy(sums, (row) => row[groupBy])].map(([key, members]) => ({ key, ...NO_NOTES, ...add(members) })));
  }
  const rows = groups.map((group) => ({ ...NO_NOTES, ...totalsOf(group), history: group.history, payers: group.payers }));
  return sorted(groupBy === 'author-id' ? byAuthorId(rows) : rows);
}

/** What one page, wallet or other key came to. */
export interface GroupTotals extends Totals {
  readonly key: string;
  /** The newest author id seen with a wallet; null where none is. */
  readonly authorId: string | null;
}

/** Groups that come to something, the most money first. */
export function groupTotals(groups: readonly CrossingGroup[]): readonly GroupTotals[] {
  return sorted(groups.map(totalsOf));
}

function totalsOf({ key, authorId, reads, citations, micro }: CrossingGroup): GroupTotals {
  return { key, authorId, events: reads + citations, reads, citations, grossMicro: micro };
}

/** Wallets of one author as one group; a wallet without an author's id is a group by itself. */
function byAuthorId(wallets: readonly BreakdownRow[]): BreakdownRow[] {
  return [...Map.groupBy(wallets, ({ key, authorId }) => authorId ?? key)].map(([key, rows]) => ({
    ...NO_NOTES,
    key,
    authorId: rows[0]?.authorId ?? null,
    events: rows.reduce((sum, { events }) => sum + events, 0),
    reads: rows.reduce((sum, { reads }) => sum + reads, 0),
    citations: rows.reduce((sum, { citations }) => sum + citations, 0),
    grossMicro: rows.reduce((sum, { grossMicro }) => sum + grossMicro, 0n),
  }));
}

function sorted<Row extends Totals & { readonly key: string }>(rows: readonly Row[]): Row[] {
  return rows.filter((row) => row.events !== 0 || row.grossMicro !== 0n).sort(largestFirst);
}

/** Order of groups: the most money first, then by key. */
export function largestFirst(
  a: { readonly grossMicro: bigint; readonly key: string },
  b: { readonly grossMicro: bigint; readonly key: string },
): number {
  if (a.grossMicro !== b.grossMicro) return a.grossMicro > b.grossMicro ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

/** Adds sums up. */
export function add(sums: readonly CrossingSum[]): Totals {
  const count = (kind: string) => Number(sums.reduce((sum, row) => (row.kind === kind ? sum + row.events : sum), 0n));
  const [reads, citations] = [count('read'), count('citation')];
  return { events: reads + citations, reads, citations, grossMicro: sums.reduce((sum, row) => sum + row.micro, 0n) };
}
