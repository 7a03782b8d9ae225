import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { Pieces, Span } from '../../../kernel/time/window.ts';
import { isEmpty, piecesOf } from '../../../kernel/time/window.ts';
import { COLLAPSED_REASON, COLLAPSED_VERDICT, GATHERED, LIVE } from '../../../rollups/store/rollups.ts';
import { isBought, within } from '../earnings/crossings.ts';
import { eachSpan } from '../spans.ts';

/** Which observations a report is about; all of the site's where a filter is null. */
export interface ObservationScope {
  readonly tenantId: string;
  readonly host: string | null;
  readonly kind: string | null;
  readonly verdict: string | null;
  /** A label of the rollups, the exact name an agent gave (its verified host, else its User-Agent, else `unknown`), or both at once. */
  readonly agent: { readonly label: string; readonly name?: string } | { readonly label?: never; readonly name: string } | null;
  readonly slug?: string | null;
  /** What payments to these wallets, in lower case, stand behind: each with its own part of the amount. */
  readonly wallets?: readonly string[] | null;
}

/** Net sums of one group of observations; micro-USDC. `key` is a slug or an author's wallet where asked for, else empty. */
export interface ObservationSum {
  readonly host: string;
  readonly verdict: string;
  readonly classifiedAs: string;
  readonly kind: string;
  readonly reason: string;
  readonly agent: string;
  readonly key: string;
  readonly hits: number;
  readonly micro: bigint;
  readonly verified: number;
  /** Of `micro`, what requests stand behind whose signature verified. */
  readonly verifiedMicro: bigint;
  readonly invalid: number;
}

/** The name an agent goes by when a caller asks for one that is no label. */
export const AGENT_NAME = "coalesce(case when o.verified then o.verified_agent end, o.agent_ua, 'unknown')";

/** A row of the ledger in the columns of the rollups. */
const AS_ROLLED = `o.host, o.verdict, o.classified_as, coalesce(o.kind, '') as kind, coalesce(o.reason, '') as reason, o.agent,
    o.count as hits, o.count * coalesce(o.micro, 0) as micro, case when o.verified then o.count else 0 end as verified,
    case when o.verified then o.count * coalesce(o.micro, 0) else 0 end as verified_micro,
    case when o.sig_invalid then o.count else 0 end as invalid`;

/** The scope as a condition on observations `o`. */
export function observationConditions(binder: Binder, scope: ObservationScope): string {
  const { host, kind, verdict, agent } = scope;
  return [
    `o.tenant_id = ${binder.bind(scope.tenantId)}`,
    ...(host === null ? [] : [`o.host = ${binder.bind(host)}`]),
    ...(kind === null ? [] : [`o.kind = ${binder.bind(kind)}`]),
    ...(verdict === null ? [] : [`o.verdict = ${binder.bind(verdict)}`]),
    ...(agent?.label === undefined ? [] : [`o.agent = ${binder.bind(agent.label)}`]),
    ...(agent?.name === undefined ? [] : [`${AGENT_NAME} = ${binder.bind(agent.name)}`]),
    ...(scope.slug ? [`o.slug = ${binder.bind(scope.slug)}`] : []),
    ...(scope.wallets
      ? [
          `exists (select 1 from ledger.payment_intake p cross join ${LEGS_OF_PAYMENT}
             where ${BEHIND} and leg.wallet = any(${binder.bind(scope.wallets)}::text[]))`,
        ]
      : []),
  ].join(' and ');
}

/** The legs of a payment `p`; platform legs are nobody's. */
const LEGS_OF_PAYMENT = `lateral (
      select item ->> 'toAddress' as wallet, (item ->> 'amountMicro')::bigint as micro
      from jsonb_array_elements(p.legs) as item where item ->> 'role' <> 'platform') leg`;
/** What an observation `o` and the payment `p` behind it are joined by. */
const BEHIND = 'p.tenant_id = o.tenant_id and p.payment_id = o.payment_id';

/** True when no rollup knows what is asked: an agent's name, a page, and who would have been paid stand in the rows alone. */
export function isInRowsAlone({ agent, slug, wallets }: ObservationScope): boolean {
  return agent?.name !== undefined || Boolean(slug) || Boolean(wallets);
}

/** Rows of a scope in the columns of the rollups, `at` saying when; where it is about wallets, one for each leg, with its own part. */
function plainRows(binder: Binder, scope: ObservationScope, at: string, key: 'none' | 'slug' | 'wallet' = 'none'): string {
  const of = key === 'slug' ? 'o.slug as key, ' : key === 'wallet' ? "coalesce(leg.wallet, '') as key, " : '';
  const { wallets, ...rest } = scope;
  const where = (isOf: ObservationScope): string => `where ${observationConditions(binder, isOf)} and ${at}`;
  if (key !== 'wallet' && !wallets) return `select ${of}${AS_ROLLED} from observation o ${where(scope)}`;
  const mine = wallets ? ` and leg.wallet = any(${binder.bind(wallets)}::text[])` : '';
  return `select ${of}${AS_ROLLED.replaceAll('coalesce(o.micro, 0)', 'coalesce(leg.micro, o.micro, 0)')}
      from observation o left join ledger.payment_intake p on ${BEHIND} left join ${LEGS_OF_PAYMENT} on true ${where(rest)}${mine}`;
}

/** How much of an observation a report needs to tell apart. */
export type ObservationDetail = 'total' | 'full' | 'label';

/** The window's pieces for a scope: what the rollups do not know is read from the rows, months do not tell everything apart. */
function readablePieces(scope: ObservationScope, window: Span, detail: ObservationDetail): Pieces {
  return isInRowsAlone(scope) ? inRowsAlone(window) : piecesOf(window, { largest: detail === 'full' ? 'day' : 'month' });
}

function inRowsAlone(window: Span): Pieces {
  return { months: [], days: [], whole: [], hours: [], edges: [{ ...window, sign: 1 }] };
}

const KEYS = 'o.host, o.verdict, o.classified_as, o.kind, o.reason, o.agent';

const MEASURES = ['hits', 'micro', 'verified', 'verified_micro', 'invalid'];
const measures = (sign: 1 | -1): string => MEASURES.map((name) => `${sign} * o.${name} as ${name}`).join(', ');

/**
 * What whole months and days are read from, each a table `o` of some columns: as the night gathered them, and the rows of live writers, which it
 * has not.
 */
function unitsOf(add: (unit: 'months' | 'days' | 'whole', from: string) => readonly string[]): readonly string[] {
  return [
    ...add('months', 'observation_month o where true'),
    ...add('days', `observation_day o where ${GATHERED}`),
    ...add('whole', `observation_day o where ${LIVE}`),
  ];
}

/** Which rollups a window is read from; `near` holds its edges, where they are read before. */
interface Pieced {
  readonly detail: ObservationDetail;
  readonly near?: string | undefined;
}

/** A relation in the columns of the rollups that adds up to a window. */
function sourceOf(binder: Binder, scope: ObservationScope, window: Span, { detail, near }: Pieced): string {
  const pieces = readablePieces(scope, window, detail);
  const add = (unit: keyof Pieces, from: string): string[] =>
    pieces[unit].map(
      (span) => `select ${KEYS}, ${measures(span.sign)} from ${from} and ${observationConditions(binder, scope)}
        and o.dimension = '${detail}' and ${within(binder, 'o.bucket', span)}`,
    );
  return [...unitsOf(add), ...(near === undefined ? edgesOf(binder, scope, pieces) : [`select * from ${near}`])].join(
    '\n union all ',
  );
}

function edgesOf(binder: Binder, scope: ObservationScope, { edges }: Pieces): string[] {
  return edges.map(
    (span) => `select ${KEYS}, ${measures(span.sign)} from (
        ${plainRows(binder, scope, within(binder, 'o.at', span))}) o`,
  );
}

/**
 * What several sums of one window share: its edges, each added up by itself as it is read, for `with near as materialized (…)`; `keys` are
 * the columns that are told apart. Undefined when the window has none.
 */
export function nearSums(binder: Binder, scope: ObservationScope, window: Span, keys = KEYS): string | undefined {
  const { edges } = readablePieces(scope, window, 'full');
  const parts = edges.map((span) => {
    const summed = MEASURES.map((name) => `${span.sign} * sum(o.${name})::bigint as ${name}`).join(', ');
    return `select ${keys}, ${summed} from (${plainRows(binder, scope, within(binder, 'o.at', span))}) o group by ${keys}`;
  });
  return parts.length === 0 ? undefined : parts.join('\n union all ');
}

/** Every row of an edge is hashed by each column that it is told apart by: no hosts and kinds where nobody asks for them. */
const NARROW_KEYS = 'o.verdict, o.classified_as, o.reason, o.agent';

/**
 * `observationSums` (`dimension` total, hosts and kinds together) and `agentSums` (label) of a whole site: each table is read and planned once
 * for both, and all of it is added up in one go. `near` is the statement's `with` clause.
 */
export function tenantSums(
  binder: Binder,
  scope: ObservationScope,
  window: Span,
): { readonly near: string | undefined; readonly sums: string } {
  const near = nearSums(binder, scope, window, NARROW_KEYS);
  const pieces = readablePieces(scope, window, 'total');
  const add = (unit: keyof Pieces, from: string): string[] =>
    pieces[unit].map(
      (
        span,
      ) => `select o.dimension, ${NARROW_KEYS}, ${measures(span.sign)} from ${from} and ${observationConditions(binder, scope)}
        and o.dimension in ('total', 'label') and ${within(binder, 'o.bucket', span)}`,
    );
  const edges = [
    `select 'total' as dimension, verdict, classified_as, reason, '' as agent, ${MEASURES.join(', ')} from near`,
    `select 'label', ${COLLAPSED_VERDICT}, 'agent', ${COLLAPSED_REASON}, agent, ${MEASURES.join(', ')} from near where classified_as = 'agent'`,
  ];
  const parts = [...unitsOf(add), ...(near === undefined ? [] : edges)];
  const keys = 'dimension, verdict, classified_as, reason, agent';
  return {
    near,
    sums: `select '' as host, '' as kind, '' as key, ${keys}, ${SUMS} from (${parts.join('\n union all ')}) part group by ${keys}`,
  };
}

/** Net sums of a window: by everything but the agent. */
export function sumObservations(sql: Sql, scope: ObservationScope, window: Span): Promise<ObservationSum[]> {
  return sumUp(sql, window, (binder) => observationSums(binder, scope, window));
}

/** The statement of `sumObservations`; `near` is the name of `nearSums`, where the statement has them. */
export function observationSums(binder: Binder, scope: ObservationScope, window: Span, near?: string): string {
  const source = sourceOf(binder, scope, window, { detail: scope.agent === null ? 'total' : 'full', near });
  return `select host, verdict, classified_as, kind, reason, '' as agent, '' as key, ${SUMS} from (${source}) part
      group by 1, 2, 3, 4, 5`;
}

/** The statement of a window's net sums by agent label, verdict (denied, paid, or empty) and reason of a paid one, agents only; `near` as above. */
export function agentSums(binder: Binder, scope: ObservationScope, window: Span, near?: string): string {
  const isWhole = scope.host === null && scope.kind === null && scope.verdict === null && scope.agent === null;
  const source = sourceOf(binder, scope, window, { detail: isWhole ? 'label' : 'full', near });
  return `select '' as host, ${COLLAPSED_VERDICT} as verdict, 'agent' as classified_as, '' as kind, ${COLLAPSED_REASON} as reason, agent, '' as key,
        ${SUMS} from (${source}) part where classified_as = 'agent' group by 2, 5, agent`;
}

/** Net sums of a window by agent label, of requests of agents alone: a person has no label, whatever their browser calls itself. */
export function sumByAgent(sql: Sql, scope: ObservationScope, window: Span): Promise<ObservationSum[]> {
  return sumUp(sql, window, (binder) => {
    const source = sourceOf(binder, scope, window, { detail: 'full' });
    return `select '' as host, verdict, '' as classified_as, '' as kind, reason, agent, agent as key, ${SUMS}
      from (${source}) part where classified_as = 'agent' group by verdict, reason, agent`;
  });
}

/** Net sums of a window by slug, from the rows: slugs are the reporter's own text and not rolled up. */
export function sumBySlug(sql: Sql, scope: ObservationScope, window: Span): Promise<ObservationSum[]> {
  return sumUp(
    sql,
    window,
    (binder) => `select '' as host, verdict, '' as classified_as, '' as kind, reason, '' as agent, key, ${SUMS}
      from (${plainRows(binder, scope, within(binder, 'o.at', window), 'slug')}) part group by verdict, reason, key`,
  );
}

/** What requests for pages are added up by. */
export type AskedBy = 'nothing' | 'agent' | 'slug';

/**
 * Net sums of the requests of a window for single pages that were paid, denied or blocked, by verdict, kind and reason; `key` is an agent's label
 * or a slug, where asked for. A licence is no page: its payment names it, and what was observed of that one is taken off. Slugs are read
 * from the rows, all else from the rollups.
 */
export function sumAsked(
  sql: Sql,
  { tenantId, host, kind }: Pick<ObservationScope, 'tenantId' | 'host' | 'kind'>,
  window: Span,
  by: AskedBy,
): Promise<ObservationSum[]> {
  const scope = { tenantId, host, kind, verdict: null, agent: null };
  return sumUp(sql, window, (binder) => {
    const key = by === 'agent' ? 'agent' : "''";
    const rolled = (): string => {
      const source = sourceOf(binder, scope, window, { detail: by === 'agent' ? 'full' : 'total' });
      return `select verdict, kind, reason, ${key} as key, ${MEASURES.join(', ')} from (${source}) part
        union all select verdict, kind, reason, ${key}, ${MEASURES.map((name) => `-${name}`).join(', ')} from (${licencesObserved(binder, scope, window)}) licence`;
    };
    const rows = (): string =>
      `select * from (${plainRows(binder, scope, within(binder, 'o.at', window), 'slug')}) one where ${isBought('key', 'page')}`;
    return `select '' as host, verdict, '' as classified_as, kind, reason, '' as agent, key, ${SUMS}
      from (${by === 'slug' ? rows() : rolled()}) asked where verdict in ('paid', 'denied', 'blocked') group by verdict, kind, reason, key`;
  });
}

/** What was observed of the payments of licences, each looked up by its time, in the columns of the rollups. */
function licencesObserved(binder: Binder, scope: ObservationScope, window: Span): string {
  const where = `${observationConditions(binder, scope)} and ${within(binder, 'o.at', window)}`;
  return `select observed.* from (
      select payment_id, bought_at from licence where tenant_id = ${binder.bind(scope.tenantId)} and ${within(binder, 'bought_at', window)} offset 0
    ) bought cross join lateral (
      select ${AS_ROLLED} from observation o where ${where} and o.at = bought.bought_at and o.payment_id = bought.payment_id offset 0) observed`;
}

/**
 * Net sums of a window by the authors a payment paid or would have paid, each with its own part of the amount; key '' is for
 * what no payment stands behind. Platform legs are nobody's.
 */
export function sumByAuthor(sql: Sql, scope: ObservationScope, window: Span): Promise<ObservationSum[]> {
  return sumUp(
    sql,
    window,
    (binder) => `select '' as host, verdict, '' as classified_as, '' as kind, reason, '' as agent, key, ${SUMS}
      from (${plainRows(binder, scope, within(binder, 'o.at', window), 'wallet')}) part group by verdict, reason, key`,
  );
}

/** A sum of one of several windows; `place` is the window's in the list. */
type InWindow = ObservationSum & { readonly place: number };

/** What groups of several windows are told apart by: a column of the rollups, or what stands in the rows alone. */
export type ObservedBy = 'host' | 'kind' | 'agent' | 'verdict' | 'slug' | 'author';

/** The column of each; of a slug or an author that of the rows. */
const GROUP_COLUMNS = { host: 'host', kind: 'kind', agent: 'agent', verdict: 'verdict', slug: 'key', author: 'key' } as const;

/**
 * Net sums of each of several windows, one after the other, by verdict, class and reason, in one statement; `place` is the window's in the
 * list. Hours of observations are not kept, so that windows of hours are read from the rows. Windows without any are left out.
 */
export function sumEachWindow(sql: Sql, scope: ObservationScope, windows: readonly Span[]): Promise<InWindow[]> {
  return sumWindows(sql, scope, windows, null);
}

/** The same of the groups of some keys, `key` being the group's; of agents the requests of agents alone. */
export function sumGroupsEachWindow(
  sql: Sql,
  scope: ObservationScope,
  windows: readonly Span[],
  groups: { readonly by: ObservedBy; readonly keys: readonly string[] },
): Promise<InWindow[]> {
  return groups.keys.length === 0 ? Promise.resolve([]) : sumWindows(sql, scope, windows, groups);
}

async function sumWindows(
  sql: Sql,
  scope: ObservationScope,
  windows: readonly Span[],
  groups: { readonly by: ObservedBy; readonly keys: readonly string[] } | null,
): Promise<InWindow[]> {
  if (windows.length === 0) return [];
  const binder = new Binder();
  const rowKey = groups?.by === 'slug' ? 'slug' : groups?.by === 'author' ? 'wallet' : 'none';
  const column = groups && GROUP_COLUMNS[groups.by];
  const detail = scope.agent === null && groups?.by !== 'agent' ? 'total' : 'full';
  const pieces = windows.map((window) => (rowKey === 'none' ? readablePieces(scope, window, detail) : inRowsAlone(window)));
  const keys = [...new Set(['verdict', 'classified_as', 'reason', ...(column ? [column] : [])])];
  const add = (unit: keyof Pieces, select: () => string): string[] => {
    const spans = pieces.map((one) => one[unit]);
    if (spans.every(({ length }) => length === 0)) return [];
    return [eachSpan(binder, spans, { keys, sums: MEASURES, select: select() })];
  };
  const rolled = (from: string): string => `select o.* from ${from} and ${observationConditions(binder, scope)}
      and o.dimension = '${detail}' and o.bucket >= span.since and o.bucket < span.until`;
  const near = (): string => {
    // Planned with the days that they are in, so that no other is opened; each span then opens its own.
    const edges = pieces.flatMap((one) => one.edges);
    const around = within(binder, 'o.at', {
      fromMs: Math.min(...edges.map(({ fromMs }) => fromMs)),
      toMs: edges.some(({ toMs }) => toMs === null) ? null : Math.max(...edges.map(({ toMs }) => toMs ?? 0)),
    });
    return plainRows(binder, scope, `${around} and o.at >= span.since and o.at < span.until`, rowKey);
  };
  const parts = [...unitsOf((unit, from) => add(unit, () => rolled(from))), ...add('edges', near)];
  const these = groups && column ? ` where ${column} = any(${binder.bind(groups.keys)}::text[])` : '';
  const ofAgents = groups?.by === 'agent' ? " and classified_as = 'agent'" : '';
  const rows = await sql.query<SumRow & { readonly place: number } & Record<string, string>>(
    `select place, '' as host, verdict, classified_as, '' as kind, reason, '' as agent, ${column ?? "''"} as key, ${SUMS}
       from (${parts.join('\n union all ')}) part${these}${ofAgents} group by place, verdict, classified_as, reason${column ? `, ${column}` : ''}`,
    binder.values,
  );
  return rows.map((row) => ({ ...sumFromRow(row), place: row.place }));
}

/** Sums are text, so that they survive JSON. */
export const SUMS = MEASURES.map((name) => `sum(${name})::text as ${name}`).join(', ');

/** A group as Postgres sends it. */
export interface SumRow {
  readonly host: string;
  readonly verdict: string;
  readonly classified_as: string;
  readonly kind: string;
  readonly reason: string;
  readonly agent: string;
  readonly key: string;
  readonly hits: string;
  readonly micro: string;
  readonly verified: string;
  readonly verified_micro: string;
  readonly invalid: string;
}

async function sumUp(sql: Sql, window: Span, build: (binder: Binder) => string): Promise<ObservationSum[]> {
  if (isEmpty(window)) return [];
  const binder = new Binder();
  const statement = build(binder);
  const rows = await sql.query<SumRow & Record<string, string>>(statement, binder.values);
  return rows.map(sumFromRow);
}

/** A group as reports take it. */
export function sumFromRow(row: SumRow): ObservationSum {
  const { classified_as: classifiedAs, verified_micro: verifiedMicro, hits, micro, verified, invalid } = row;
  const { host, verdict, kind, reason, agent, key } = row;
  return {
    host,
    verdict,
    classifiedAs,
    kind,
    reason,
    agent,
    key,
    hits: Number(hits),
    micro: BigInt(micro),
    verified: Number(verified),
    verifiedMicro: BigInt(verifiedMicro),
    invalid: Number(invalid),
  };
}
