import { hash } from 'node:crypto';
import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { isWholeTenant } from '../scope.ts';
import type { NamedBy } from './authors.ts';
import { authorCount, newestAuthorId } from './authors.ts';
import type { CrossingDimension, CrossingScope, PayerHistory, SiteWindow } from './crossings.ts';
import {
  authorGroups,
  crossingConditions,
  crossingSource,
  endOf,
  hadPaid,
  isRolledByAuthor,
  sitesSource,
  within,
} from './crossings.ts';
import type { Page } from './pages.ts';
import { readPage } from './pages.ts';

/** Net sums of one group of crossings; micro-USDC. */
export interface CrossingSum {
  readonly host: string;
  readonly kind: CrossingKind;
  readonly events: bigint;
  readonly micro: bigint;
}

/** One crossing, or a correction of one. */
export interface LedgerCrossing {
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  /** Below zero: a correction. */
  readonly micro: bigint;
  readonly atMs: number;
}

/** Net sums of a window by host and kind. No window: no rows. */
export async function sumCrossings(sql: Sql, scope: CrossingScope, window: Span): Promise<CrossingSum[]> {
  if (isEmpty(window)) return [];
  const binder = new Binder();
  const rows = await sql.query<SumRow & Record<string, string>>(crossingSums(binder, scope, window), binder.values);
  return rows.map(sumFromRow);
}

/** The newest crossings and corrections, older than the window's end; at least `limit` of them unless there are no more. */
export function listCrossings(sql: Sql, scope: CrossingScope, window: Span, limit: number): Promise<Page<LedgerCrossing>> {
  return readPage(window, limit, (span, most) => readNewest(sql, scope, span, most));
}

/** What crossings are grouped by, besides host and kind. */
export type CrossingGrouping = Exclude<CrossingDimension, 'total'> | 'payer-history';

/** Most payers or agents of a breakdown: those with the most money, and one that says that there are more. */
export const MAX_READ_GROUPS = 1_001;

/** Net sums of one group; micro-USDC. */
export interface CrossingGroup {
  /** A slug, a wallet, page or licence, an agent, a payer, or new or returning. */
  readonly key: string;
  readonly reads: number;
  readonly citations: number;
  readonly micro: bigint;
  /** The newest author id seen with the wallet by the window's end; null where the key is something else, and without one. */
  readonly authorId: string | null;
  /** Whether the payer had paid the site before the window; null where the key is no payer. */
  readonly history: PayerHistory | null;
  /** How many payers a group of them has; null for any other. */
  readonly payers: number | null;
}

/** What a report of earnings is made of. */
export interface CrossingOverview {
  readonly sums: CrossingSum[];
  readonly authors: number;
  readonly recent: Page<LedgerCrossing>;
  /** In no order; none unless asked for. */
  readonly groups: CrossingGroup[];
}

/** What an overview holds besides the totals of its window. */
export interface OverviewParts {
  /** The part of the window that the list begins with. */
  readonly listed: Span;
  /** Rows of the list; null: no list. */
  readonly limit: number | null;
  readonly groupBy: CrossingGrouping | null;
  /** False: authors are not counted, 0. */
  readonly countsAuthors: boolean;
  /** What the groups are of; left out: the report's own scope. */
  readonly groupScope?: CrossingScope;
}

const NO_PAGE = { rows: [], nextCursorMs: null };

/**
 * The totals of a window, its authors, a page of its list and its groups, from one statement: one trip to Postgres, and its text is the
 * same for all windows, so that it can be planned once a connection.
 */
export async function readOverview(
  sql: Sql,
  scope: CrossingScope,
  window: Span,
  { listed, limit, groupBy, countsAuthors, groupScope = scope }: OverviewParts,
): Promise<CrossingOverview> {
  if (isEmpty(window)) return { sums: [], authors: 0, recent: NO_PAGE, groups: [] };
  // Their groups are the authors themselves.
  const knowsAuthors = groupBy === 'author' && groupScope === scope;
  const binder = new Binder();
  const newestOf = (most: number): string =>
    `(select coalesce(json_agg(one), '[]') from (${newestCrossings(binder, scope, listed, most)}) one)`;
  const statement = `select
      (select coalesce(json_agg(one), '[]') from (${crossingSums(binder, scope, window)}) one) as sums,
      ${countsAuthors && !knowsAuthors ? `(${authorCount(binder, scope, window)})` : '0'} as authors,
      ${limit === null ? 'null' : newestOf(limit + 1)} as newest,
      ${groupBy === null ? 'null' : `(${crossingGroups(binder, groupScope, window, { groupBy })})`} as groups`;
  const name = isWholeTenant(scope) ? `overview-${hash('sha1', statement)}` : undefined;
  const [row] = await sql.query<OverviewRow & Record<string, unknown>>(statement, binder.values, name);
  let newest = row?.newest?.map(crossingFromRow);
  const readNewestOf = async (span: Span, most: number): Promise<LedgerCrossing[]> => {
    const held = newest ?? (await readNewest(sql, scope, span, most));
    newest = undefined;
    return held;
  };
  const recent = limit === null ? NO_PAGE : await readPage(listed, limit, readNewestOf);
  const groups = row?.groups ? groupsFromColumns(row.groups, groupBy) : [];
  const authors = countsAuthors && knowsAuthors ? groups.length : Number(row?.authors ?? 0);
  return { sums: row?.sums.map(sumFromRow) ?? [], authors, recent, groups };
}

interface GroupsAsked {
  readonly groupBy: CrossingGrouping;
  /** Groups of these keys alone; null: of all. */
  readonly keys?: readonly string[] | null;
  /** Authors are named as of then; the window unless told. */
  readonly namedBy?: NamedBy;
}

/** The groups of a window, in no order; those of `keys` alone where they are given. No window: no rows. */
export async function readGroups(sql: Sql, scope: CrossingScope, window: Span, asked: GroupsAsked): Promise<CrossingGroup[]> {
  if (isEmpty(window)) return [];
  const binder = new Binder();
  const statement = `select (${crossingGroups(binder, scope, window, asked)}) as groups`;
  const [row] = await sql.query<{ groups: GroupColumns | null }>(statement, binder.values);
  return row?.groups ? groupsFromColumns(row.groups, asked.groupBy) : [];
}

/** Net sums of each of several windows by kind, in one statement; `place` is the window's in the list. Windows without any are left out. */
export async function sumEach(
  sql: Sql,
  scope: CrossingScope,
  windows: readonly Span[],
): Promise<(CrossingSum & { readonly place: number })[]> {
  if (windows.length === 0) return [];
  const binder = new Binder();
  const rows = await sql.query<SumRow & { readonly place: number } & Record<string, string>>(
    `select place, '' as host, kind, sum(events)::text as events, sum(micro)::text as micro
       from (${crossingSource(binder, scope, windows, 'total')}) part group by place, kind`,
    binder.values,
  );
  return rows.map((row) => ({ ...sumFromRow(row), place: row.place }));
}

/** Net sums of one group in one of several windows; micro-USDC. */
export interface GroupInWindow {
  /** The window's in the list. */
  readonly place: number;
  readonly key: string;
  readonly reads: number;
  readonly citations: number;
  readonly micro: bigint;
}

/** What groups of several windows are told apart by: of a site's totals the host or the kind, or any other dimension. */
export type GroupedBy = 'host' | 'kind' | Exclude<CrossingDimension, 'total'>;

/** Net sums of each of several windows by group, in one statement, of the groups of these keys. What comes to nothing is left out. */
export async function sumGroupsEach(
  sql: Sql,
  scope: CrossingScope,
  windows: readonly Span[],
  { by, keys }: { readonly by: GroupedBy; readonly keys: readonly string[] },
): Promise<GroupInWindow[]> {
  if (windows.length === 0 || keys.length === 0) return [];
  const binder = new Binder();
  const isOfTotals = by === 'host' || by === 'kind';
  const source = isOfTotals
    ? crossingSource(binder, scope, windows, 'total')
    : crossingSource(binder, { ...scope, keys }, windows, by);
  const these = isOfTotals ? ` where ${by} = any(${binder.bind(keys)}::text[])` : '';
  type Row = { readonly place: number } & Readonly<Record<'key' | 'events' | 'citations' | 'micro', string>>;
  const rows = await sql.query<Row & Record<string, unknown>>(
    `select place, ${isOfTotals ? by : 'key'} as key, sum(events)::text as events, sum(citations)::text as citations, sum(micro)::text as micro
       from (${source}) part${these} group by 1, 2 having sum(events) <> 0 or sum(micro) <> 0`,
    binder.values,
  );
  return rows.map(({ place, key, events, citations, micro }) => ({
    place,
    key,
    reads: Number(events) - Number(citations),
    citations: Number(citations),
    micro: BigInt(micro),
  }));
}

/** Net sums of each site in its own window by kind, in one statement; `place` is the site's in the list. Sites without any are left out. */
export async function sumSites(sql: Sql, sites: readonly SiteWindow[]): Promise<(CrossingSum & { readonly place: number })[]> {
  if (sites.length === 0) return [];
  const binder = new Binder();
  const rows = await sql.query<SumRow & { readonly place: number } & Record<string, string>>(
    `select place, '' as host, kind, sum(events)::text as events, sum(micro)::text as micro
       from (${sitesSource(binder, sites)}) part group by place, kind`,
    binder.values,
  );
  return rows.map((row) => ({ ...sumFromRow(row), place: row.place }));
}

/** What the crossings of a window cost; micro-USDC. */
export interface CrossingPrices {
  readonly smallest: bigint;
  readonly p50: bigint;
  readonly p95: bigint;
  readonly largest: bigint;
}

/** Prices of the sales of a window, each of them read, as they were made; null without any. */
export async function readPrices(sql: Sql, scope: CrossingScope, window: Span): Promise<CrossingPrices | null> {
  if (isEmpty(window)) return null;
  const binder = new Binder();
  const where = `${crossingConditions(binder, scope)} and ${within(binder, 'c.at', window)} and c.sequence = 0`;
  const [row] = await sql.query<{ prices: string[] | null }>(
    `select percentile_disc(array[0, 0.5, 0.95, 1]) within group (order by c.micro)::text[] as prices from ledger.crossing c where ${where}`,
    binder.values,
  );
  const [smallest, p50, p95, largest] = row?.prices?.map(BigInt) ?? [];
  if (smallest === undefined || p50 === undefined || p95 === undefined || largest === undefined) return null;
  return { smallest, p50, p95, largest };
}

/** What was taken back. */
export interface Corrections {
  readonly count: number;
  /** What the corrected crossings had paid; micro-USDC, not negative. */
  readonly micro: bigint;
}

/** The corrections that were recorded in a window, which its sums have taken off already; by the index of corrections, which are few. */
export async function readCorrections(sql: Sql, scope: CrossingScope, window: Span): Promise<Corrections> {
  if (isEmpty(window)) return { count: 0, micro: 0n };
  const binder = new Binder();
  const { wallets, ...ofCrossings } = scope;
  const [from, amount] =
    wallets === undefined || wallets === null
      ? ['ledger.crossing c', 'c.micro']
      : [
          `ledger.crossing c join ledger.leg l on l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id and l.at = c.at
             and l.role <> 'platform' and l.to_address = any(${binder.bind(wallets)}::text[])`,
          'l.amount_micro',
        ];
  const [row] = await sql.query<{ count: number; micro: string }>(
    `select count(distinct c.crossing_id)::int as count, coalesce(-sum(${amount}), 0)::text as micro from ${from}
      where ${crossingConditions(binder, ofCrossings)} and ${within(binder, 'c.at', window)} and c.sequence % 2 = 1`,
    binder.values,
  );
  return { count: row?.count ?? 0, micro: BigInt(row?.micro ?? 0) };
}

interface OverviewRow {
  readonly sums: SumRow[];
  readonly authors: string;
  readonly newest: CrossingRow[] | null;
  readonly groups: GroupColumns | null;
}

/** Groups column by column: a thousand objects take longer to read than to add up. Sums are text, so that they survive JSON. */
type GroupColumns =
  | readonly [keys: string[], reads: number[], citations: number[], micro: string[], notes: (string | null)[]]
  | readonly null[];

function groupsFromColumns(
  [keys, reads, citations, micro, notes]: GroupColumns,
  groupBy: CrossingGrouping | null,
): CrossingGroup[] {
  return (keys ?? []).map((key, n) => {
    const note = notes?.[n] ?? null;
    return {
      key,
      reads: reads?.[n] ?? 0,
      citations: citations?.[n] ?? 0,
      micro: BigInt(micro?.[n] ?? 0),
      authorId: groupBy === 'author' ? note : null,
      history: groupBy === 'payer' ? (note as PayerHistory | null) : null,
      payers: groupBy === 'payer-history' ? Number(note) : null,
    };
  });
}

/** The groups of a window, each with a note: a wallet's author, a payer's history, or how many payers the group has. */
function crossingGroups(binder: Binder, scope: CrossingScope, window: Span, asked: GroupsAsked): string {
  const { groupBy, keys = null, namedBy = window } = asked;
  const tenant = groupBy === 'author' || isOfPayers(groupBy) ? binder.bind(scope.tenantId) : '';
  const by = groupBy === 'payer-history' ? 'payer' : groupBy;
  const isBounded = groupBy === 'payer' || groupBy === 'agent';
  const most = isBounded ? ` order by sum(micro) desc, key limit ${MAX_READ_GROUPS}` : '';
  const these = keys === null ? '' : ` where key = any(${binder.bind(keys)}::text[])`;
  const source = isRolledByAuthor(scope, by) ? authorGroups(binder, scope, window) : crossingSource(binder, scope, [window], by);
  const groups = `select key, sum(events) - sum(citations) as reads, sum(citations) as citations, sum(micro) as micro
      from (${source}) part${these} group by key having sum(events) <> 0 or sum(micro) <> 0${most}`;
  const history = isOfPayers(groupBy) ? historyOf(binder, tenant, window) : '';
  const author = groupBy === 'author' ? newestAuthorId(tenant, 'key', endOf(binder, namedBy)) : '';
  const note = groupBy === 'author' ? author : groupBy === 'payer' ? history : 'null::text';
  const columns = `json_build_array(json_agg(key), json_agg(reads), json_agg(citations), json_agg(micro::text), json_agg(`;
  if (groupBy !== 'payer-history') return `select ${columns}${note})) from (${groups}) one`;
  return `select ${columns}payers)) from (
      select ${history} as key, sum(reads) as reads, sum(citations) as citations, sum(micro) as micro,
        count(*) filter (where reads + citations > 0)::text as payers
      from (${groups}) one group by 1) two`;
}

function isOfPayers(groupBy: CrossingGrouping): boolean {
  return groupBy === 'payer' || groupBy === 'payer-history';
}

function historyOf(binder: Binder, tenant: string, { fromMs }: Span): string {
  const before = `${binder.bind(new Date(fromMs))}::timestamptz`;
  return `case when ${hadPaid(tenant, 'one.key', before)} then 'returning' else 'new' end`;
}

/** Sums are text, so that they survive JSON. */
interface SumRow {
  readonly host: string;
  readonly kind: CrossingKind;
  readonly events: string;
  readonly micro: string;
}

function crossingSums(binder: Binder, scope: CrossingScope, window: Span): string {
  return `select host, kind, sum(events)::text as events, sum(micro)::text as micro
      from (${crossingSource(binder, scope, [window], 'total')}) part group by 1, 2 having sum(events) <> 0 or sum(micro) <> 0`;
}

function sumFromRow({ host, kind, events, micro }: SumRow): CrossingSum {
  return { host, kind, events: BigInt(events), micro: BigInt(micro) };
}

interface CrossingRow {
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly micro: string;
  readonly at_ms: string;
}

function newestCrossings(binder: Binder, scope: CrossingScope, span: Span, most: number): string {
  return `select host, slug, kind, micro::text, (extract(epoch from at) * 1000)::bigint::text as at_ms from (
         select c.crossing_id, c.host, c.slug, c.kind, c.micro, c.at from ledger.crossing c
         where ${crossingConditions(binder, scope)} and ${within(binder, 'c.at', span)}
         order by c.at desc fetch first ${binder.bind(most)} rows with ties
       ) page order by at desc, crossing_id desc`;
}

async function readNewest(sql: Sql, scope: CrossingScope, span: Span, most: number): Promise<LedgerCrossing[]> {
  const binder = new Binder();
  const rows = await sql.query<CrossingRow & Record<string, string>>(newestCrossings(binder, scope, span, most), binder.values);
  return rows.map(crossingFromRow);
}

function crossingFromRow({ host, slug, kind, micro, at_ms: at }: CrossingRow): LedgerCrossing {
  return { host, slug, kind, micro: BigInt(micro), atMs: Number(at) };
}
