import type { Binder } from '../../../../db/binder.ts';
import { sameText } from '../../../../db/sameText.ts';
import { LICENCE_SLUG_LIKE } from '../../../kernel/pages/resource.ts';
import type { Pieces, Span } from '../../../kernel/time/window.ts';
import { piecesOf } from '../../../kernel/time/window.ts';
import { CITATIONS, GATHERED, LIVE } from '../../../rollups/store/rollups.ts';
import { isGiven } from '../scope.ts';
import { eachSpan } from '../spans.ts';

/** Which crossings a report is about; all of the site's where a filter is null or left out. */
export interface CrossingScope {
  readonly tenantId: string;
  readonly host: string | null;
  readonly kind: string | null;
  readonly slug?: string | null;
  readonly purpose?: CrossingPurpose | null;
  /** The legs of these wallets alone, in lower case, in place of whole crossings. */
  readonly wallets?: readonly string[] | null;
  readonly agent?: string | null;
  /** Lower case. */
  readonly payer?: string | null;
  /** By those who had, or had not, paid the site before a moment. */
  readonly payers?: { readonly history: PayerHistory; readonly beforeMs: number } | null;
  /** Of what a source is added up by, these keys alone; totals have none. */
  readonly keys?: readonly string[] | null;
}

/** What a crossing bought. */
export type CrossingPurpose = 'page' | 'licence';
/** Whether somebody had paid the site before. */
export type PayerHistory = 'new' | 'returning';

/** What crossings are added up by: nothing, a page, a wallet (its legs), what they bought, or whose they are. */
export type CrossingDimension = 'total' | 'slug' | 'author' | 'purpose' | 'agent' | 'payer';

/** What the rollups are kept by. */
type Rolled = 'total' | 'slug' | 'author';

/**
 * The rollup that knows all that a scope and its groups ask for; null where the rows alone do: who paid, by which agent, and pages and
 * wallets at once.
 */
function rolledBy(scope: CrossingScope, by: CrossingDimension): Rolled | null {
  if (by === 'agent' || by === 'payer' || isGiven(scope.agent) || isGiven(scope.payer) || isGiven(scope.payers)) return null;
  const isOfPages = by === 'slug' || by === 'purpose' || isGiven(scope.slug) || isGiven(scope.purpose);
  const isOfWallets = by === 'author' || isGiven(scope.wallets);
  if (isOfWallets) return isOfPages ? null : 'author';
  return isOfPages ? 'slug' : 'total';
}

/** What a crossing or a leg bought, of its slug, a column. */
export function purposeOf(slug: string): string {
  return `case when ${isLicence(slug)} then 'licence' else 'page' end`;
}

/** True of the slug of a licence, a column. */
function isLicence(column: string): string {
  return `${column} like '${LICENCE_SLUG_LIKE}'`;
}

/** True of a slug, a column, as what a crossing bought says. */
export function isBought(column: string, purpose: CrossingPurpose): string {
  return purpose === 'licence' ? isLicence(column) : `not ${isLicence(column)}`;
}

/**
 * A relation (place, host, kind, events, citations, micro; by anything but the total `key` in place of host and kind) that adds up to the plain
 * aggregate of each window, `place` being the window's in the list: months and days from the rollups, for the site's total hours too, the
 * edges from the rows; all of it from the rows where no rollup knows what is asked. Amounts are micro-USDC, corrections count -1. A group may
 * add up to nothing at all.
 *
 * Spans are rows of their own, each looked up in an index: the text is the same for every window, so that Postgres plans a named statement once
 * a connection; to plan it at each call takes longer than to read. Their lists are unseen (db/PLANS.md).
 */
export function crossingSource(binder: Binder, scope: CrossingScope, windows: readonly Span[], by: CrossingDimension): string {
  const rolled = rolledBy(scope, by);
  if (rolled === null) return fromRows(binder, scope, windows, by);
  const pieces = windows.map((window) => piecesOf(window, { smallest: rolled === 'total' ? 'hour' : 'day' }));
  const [keys, named] = by === 'total' ? [['host', 'kind'], 'host, kind'] : [['key'], `${keyOf(by, 'key')} as key`];
  const add = (unit: keyof Pieces, from: string, citations: string): string =>
    eachSpan(
      binder,
      pieces.map((one) => one[unit]),
      { keys, sums: SUMS, select: `select ${named}, events, ${citations}, micro from ${from}` },
    );
  return unitsOf(binder, scope, { rolled, by }, add).join('\n union all ');
}

const SUMS = ['events', 'citations', 'micro'];

/**
 * What the pieces of windows are read from, each a relation of a span, and its citations: months and days as the night gathered them, all hosts
 * and kinds at once where nobody asks for them; rows of live writers, which it has not gathered; hours of the site's total; the rows of the edges.
 */
function unitsOf(
  binder: Binder,
  scope: CrossingScope,
  { rolled, by }: { readonly rolled: Rolled; readonly by: CrossingDimension },
  add: (unit: keyof Pieces, from: string, citations: string) => string,
): readonly string[] {
  const where = `${conditions(binder, scope)}${keyConditions(binder, scope, by)}`;
  const dimension = `dimension = '${rolled}'`;
  const isOfAllHosts = by !== 'total' && scope.host === null && scope.kind === null;
  const [gathered, citations] = isOfAllHosts ? [`dimension = 'site-${rolled}'`, 'citations'] : [dimension, CITATIONS];
  const of = (column: string): string => `${where} and ${column} >= span.since and ${column} < span.until`;
  return [
    add('months', `crossing_month where ${gathered} and ${of('bucket')}`, citations),
    add('days', `crossing_day where ${gathered} and ${GATHERED} and ${of('bucket')}`, citations),
    add('whole', `crossing_day where ${dimension} and ${LIVE} and ${of('bucket')}`, CITATIONS),
    ...(rolled === 'total' ? [add('hours', `crossing_hour where ${dimension} and ${of('bucket')}`, CITATIONS)] : []),
    add('edges', `ledger.crossing_part where ${dimension} and ${of('at')}`, CITATIONS),
  ];
}

/** A site, and what of it is read. */
export interface SiteWindow {
  readonly tenantId: string;
  readonly window: Span;
}

/**
 * A relation (place, kind, events, citations, micro) that adds up to the totals of each site in its own window: what `crossingSource` is for one
 * site. Each span is looked up with its own site's id.
 */
export function sitesSource(binder: Binder, sites: readonly SiteWindow[]): string {
  const pieces = sites.map(({ window }) => piecesOf(window, { smallest: 'hour' }));
  const tenants = sites.map(({ tenantId }) => tenantId);
  const of = (column: string): string =>
    `tenant_id = span.tenant_id and dimension = 'total' and ${column} >= span.since and ${column} < span.until`;
  const from: Partial<Record<keyof Pieces, string>> = {
    months: `crossing_month where ${of('bucket')}`,
    days: `crossing_day where ${GATHERED} and ${of('bucket')}`,
    whole: `crossing_day where ${LIVE} and ${of('bucket')}`,
    hours: `crossing_hour where ${of('bucket')}`,
    edges: `ledger.crossing_part where ${of('at')}`,
  };
  return Object.entries(from)
    .map(([unit, rows]) =>
      eachSpan(
        binder,
        pieces.map((one) => one[unit as keyof Pieces]),
        { tenants, keys: ['kind'], sums: SUMS, select: `select kind, events, ${CITATIONS}, micro from ${rows}` },
      ),
    )
    .join('\n union all ');
}

/** True of the groups that `authorGroups` knows. */
export function isRolledByAuthor(scope: CrossingScope, by: CrossingDimension): boolean {
  return by === 'author' && rolledBy(scope, by) === 'author';
}

/**
 * A relation (key, events, citations, micro) that adds up to the authors of a window. Each span is added up by itself: its legs come from their
 * index author by author, so that none of them is sorted.
 */
export function authorGroups(binder: Binder, scope: CrossingScope, window: Span): string {
  const pieces = piecesOf(window);
  const sums = SUMS.map((name) => `sum(${name})::bigint as ${name}`).join(', ');
  const add = (unit: keyof Pieces, from: string, citations: string): string =>
    eachSpan(binder, [pieces[unit]], {
      keys: ['key'],
      sums: SUMS,
      select: `select key, ${sums} from (select key, events, ${citations}, micro from ${from}) part group by key`,
    });
  return unitsOf(binder, scope, { rolled: 'author', by: 'author' }, add).join('\n union all ');
}

/** What the groups of a rollup's rows are called. */
function keyOf(by: CrossingDimension, key: string): string {
  return by === 'purpose' ? purposeOf(key) : key;
}

function keyConditions(binder: Binder, { slug, purpose, wallets, keys }: CrossingScope, by: CrossingDimension): string {
  return [
    ...(isGiven(keys) ? [`${keyOf(by, 'key')} = any(${binder.bind(keys)}::text[])`] : []),
    ...(isGiven(slug) ? [`key = slug_key(${binder.bind(slug)})`] : []),
    ...(isGiven(purpose) ? [isBought('key', purpose)] : []),
    ...(isGiven(wallets) ? [`key = any(${binder.bind(wallets)}::text[])`] : []),
  ]
    .map((condition) => ` and ${condition}`)
    .join('');
}

/** Windows from the crossings of a scope, or from their legs where it is about wallets: every row of the windows is read once. */
function fromRows(binder: Binder, scope: CrossingScope, windows: readonly Span[], by: CrossingDimension): string {
  const keys = {
    slug: 'slug_key(c.slug)',
    author: 'l.to_address',
    agent: 'c.agent',
    payer: 'c.payer',
    purpose: purposeOf('c.slug'),
  };
  const isOfWallets = by === 'author' || isGiven(scope.wallets);
  const { wallets, keys: wanted, ...ofCrossings } = scope;
  const isWanted = isGiven(wanted) && by !== 'total' ? ` and ${keys[by]} = any(${binder.bind(wanted)}::text[])` : '';
  const legs = [
    'join ledger.leg l on l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id',
    "and l.role <> 'platform' and l.at >= span.since and l.at < span.until",
    ...(isGiven(wallets) ? [`and l.to_address = any(${binder.bind(wallets)}::text[])`] : []),
  ];
  const spans = windows.map((window) => [{ ...window, sign: 1 as const }]);
  const events = 'case when c.sequence % 2 = 0 then 1 else -1 end';
  return eachSpan(binder, spans, {
    keys: by === 'total' ? ['host', 'kind'] : ['key'],
    sums: SUMS,
    select: `select ${by === 'total' ? 'c.host, c.kind' : `${keys[by]} as key`}, ${events} as events,
        case c.kind when 'citation' then ${events} else 0 end as citations, ${isOfWallets ? 'l.amount_micro' : 'c.micro'} as micro
      from ledger.crossing c ${isOfWallets ? legs.join(' ') : ''}
      where ${crossingConditions(binder, ofCrossings)} and c.at >= span.since and c.at < span.until${isWanted}`,
  });
}

/** A scope as a condition on crossings `c`; those of wallets are the ones that paid them. */
export function crossingConditions(binder: Pick<Binder, 'bind'>, scope: CrossingScope): string {
  const { tenantId, slug, purpose, wallets, agent, payer, payers } = scope;
  return [
    conditions(binder, scope, 'c.'),
    ...(isGiven(slug) ? [`slug_key(c.slug) = slug_key(${binder.bind(slug)})`] : []),
    ...(isGiven(purpose) ? [isBought('c.slug', purpose)] : []),
    ...(isGiven(agent) ? [`c.agent = ${binder.bind(agent)}`] : []),
    ...(isGiven(payer) ? [`c.payer = ${binder.bind(payer)}`] : []),
    ...(isGiven(payers) ? [isOfPayers(binder, tenantId, payers)] : []),
    ...(isGiven(wallets)
      ? [
          `exists (select 1 from ledger.leg o where o.tenant_id = c.tenant_id and o.crossing_id = c.crossing_id and o.role <> 'platform'
             and o.to_address = any(${binder.bind(wallets)}::text[]))`,
        ]
      : []),
  ].join(' and ');
}

/** Each payer of the crossings that came since is looked up once, by the index of payments by payer. */
function isOfPayers(
  binder: Pick<Binder, 'bind'>,
  tenantId: string,
  { history, beforeMs }: NonNullable<CrossingScope['payers']>,
): string {
  const tenant = binder.bind(tenantId);
  const before = `${binder.bind(new Date(beforeMs))}::timestamptz`;
  const returning = `c.payer in (
      select seen.payer from (
        select distinct n.payer from ledger.crossing n where n.tenant_id = ${tenant} and n.at >= ${before} offset 0
      ) seen where ${hadPaid(tenant, 'seen.payer', before)})`;
  return history === 'returning' ? returning : `not ${returning}`;
}

/** True of a payer who had a crossing before a moment that no correction before it took back; all are SQL. */
export function hadPaid(tenant: string, payer: string, before: string): string {
  return `exists (
      select 1 from ledger.payment_intake p join ledger.crossing c on c.tenant_id = p.tenant_id and c.payment_id = p.payment_id
      where p.tenant_id = ${tenant} and ${sameText('p.payer', payer)} and c.at < ${before} and c.micro > 0
        and (${noneCorrected(tenant)} or not exists (
          select 1 from ledger.crossing k where k.tenant_id = ${tenant} and k.payment_id = c.payment_id
            and k.sequence = c.sequence + 1 and k.sequence % 2 = 1 and k.at < ${before} offset 0)) offset 0)`;
}

/** The scope as a condition on a table with tenant_id, host and kind; `alias` is its name with a point, where it needs one. */
function conditions(binder: Pick<Binder, 'bind'>, scope: CrossingScope, alias = ''): string {
  return [
    `${alias}tenant_id = ${binder.bind(scope.tenantId)}`,
    ...(scope.host === null ? [] : [`${alias}host = ${binder.bind(scope.host)}`]),
    ...(scope.kind === null ? [] : [`${alias}kind = ${binder.bind(scope.kind)}`]),
  ].join(' and ');
}

/** A span as a condition on a column of time. */
export function within(binder: Pick<Binder, 'bind'>, column: string, span: Span): string {
  const [since, until] = endsOf(binder, span);
  return `${column} >= ${since} and ${column} < ${until}`;
}

/** The ends of a span; one without an end gets one, so that statements have one text for all spans. */
export function endsOf(binder: Pick<Binder, 'bind'>, { fromMs, toMs }: Span): readonly [string, string] {
  return [`${binder.bind(new Date(fromMs))}::timestamptz`, endOf(binder, { toMs })];
}

/** The end of a span, in the same way. */
export function endOf(binder: Pick<Binder, 'bind'>, span: Pick<Span, 'toMs'>): string {
  return `${binder.bind(endMoment(span))}::timestamptz`;
}

/** The end of a span as a value for a place of that type. */
export function endMoment({ toMs }: Pick<Span, 'toMs'>): Date | 'infinity' {
  return toMs === null ? 'infinity' : new Date(toMs);
}

/**
 * True of a site without a correction, in a window or ever: `tenant` and `isWithin`, a condition on `f.at`, are SQL. Few sites have one, which is
 * asked once a statement.
 */
export function noneCorrected(tenant: string, isWithin = 'true'): string {
  return `not exists (select 1 from ledger.crossing f where f.tenant_id = ${tenant} and f.sequence % 2 = 1 and ${isWithin})`;
}
