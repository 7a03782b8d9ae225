import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { isWholeTenant } from '../scope.ts';
import type { CrossingScope } from './crossings.ts';
import { crossingSource, endMoment, endsOf, noneCorrected, within } from './crossings.ts';

/** From here on it is cheaper to ask each author for one leg than to add up the window's days. */
const LONG_WINDOW_MS = 7 * 86_400_000;

/** How many authors' wallets the rows of a window come to something for, corrections taken off. */
export async function countAuthors(sql: Sql, scope: CrossingScope, window: Span): Promise<number> {
  if (isEmpty(window)) return 0;
  const binder = new Binder();
  const [row] = await sql.query<{ count: string }>(authorCount(binder, scope, window), binder.values);
  return Number(row?.count ?? 0);
}

/** The statement that counts the authors of a window. */
export function authorCount(binder: Binder, scope: CrossingScope, window: Span): string {
  const isLong = window.toMs === null || window.toMs - window.fromMs >= LONG_WINDOW_MS;
  const addedUp = addUp(binder, scope, window);
  if (!isWholeTenant(scope) || !isLong) return addedUp;
  const tenant = binder.bind(scope.tenantId);
  return `select case when ${noneCorrected(tenant, within(binder, 'f.at', window))}
      then (${askEach(binder, tenant, window)}) else (${addedUp}) end`;
}

function addUp(binder: Binder, scope: CrossingScope, window: Span): string {
  const source = crossingSource(binder, scope, [window], 'author');
  return `select count(*) from (select key from (${source}) part group by key having sum(events) <> 0 or sum(micro) <> 0) author`;
}

/**
 * Walks the site's authors along the index, one step each, and asks for one leg of theirs in the window; an author whose newest leg is in the
 * window or before it need not be asked. Without a correction in the window this is what the sums say.
 */
function askEach(binder: Binder, tenant: string, window: Span): string {
  const isWithin = within(binder, 'l.at', window);
  const [since, until] = endsOf(binder, window);
  return `${eachWallet(tenant)}
    select count(*) from author where newest >= ${since} and (newest < ${until} or exists (
      select 1 from ledger.leg l
        where l.tenant_id = ${tenant} and l.to_address = author.wallet and l.role <> 'platform' and ${isWithin} offset 0))`;
}

/**
 * The newest author id seen with a wallet before a moment, as an expression; all are SQL. A report names authors as of its window's end, so that one who is
 * renamed keeps the former name in the months that are over. The site stands in a subquery, so that Postgres expects as many legs
 * of it as of any: where it took a new site for small, it went through all legs of the site for each wallet.
 */
export function newestAuthorId(tenant: string, wallet: string, before: string): string {
  return `(select author_id from ledger.leg where tenant_id = (select ${tenant}::uuid) and to_address = ${wallet} and role <> 'platform'
      and author_id is not null and at < ${before} order by at desc limit 1)`;
}

/** Until when legs name authors: the end of a window, or now. */
export type NamedBy = Pick<Span, 'toMs'>;

/**
 * The wallets of an author: those whose newest leg names this id, as reports say beside each wallet. Every author of the site is looked up
 * once, by the index of theirs.
 */
export async function listWallets(sql: Sql, tenantId: string, authorId: string, namedBy: NamedBy): Promise<string[]> {
  const rows = await sql.query<{ wallet: string }>(
    `${eachWallet('$1')} select wallet from author where ${newestAuthorId('$1', 'wallet', '$3::timestamptz')} = $2`,
    [tenantId, authorId, endMoment(namedBy)],
  );
  return rows.map(({ wallet }) => wallet);
}

/** The author of each of their wallets, as `listWallets`, in one walk. */
export async function listWalletsOf(
  sql: Sql,
  tenantId: string,
  authorIds: readonly string[],
  namedBy: NamedBy,
): Promise<Map<string, string>> {
  if (authorIds.length === 0) return new Map();
  const rows = await sql.query<{ wallet: string; author_id: string }>(
    `${eachWallet('$1')} select wallet, author_id from (select wallet, ${newestAuthorId('$1', 'wallet', '$3::timestamptz')} as author_id from author) named
       where author_id = any($2::text[])`,
    [tenantId, authorIds, endMoment(namedBy)],
  );
  return new Map(rows.map(({ wallet, author_id: id }) => [wallet, id]));
}

/**
 * The beginning of a statement that walks the wallets of a site's authors by a loose scan (db/PLANS.md): `author (wallet, newest)`, with the time of
 * their newest leg.
 */
function eachWallet(tenant: string): string {
  const next = (after: string): string => `select l.to_address as wallet, l.at as newest from ledger.leg l
      where l.tenant_id = ${tenant} and l.role <> 'platform'${after} order by l.to_address, l.at desc limit 1`;
  return `with recursive author (wallet, newest) as (
      (${next('')}) union all select later.wallet, later.newest from author cross join lateral (${next(' and l.to_address > author.wallet')}) later
    )`;
}

/** The newest author id seen with each wallet of a site; wallets without one are left out. */
export async function listAuthorIds(
  sql: Sql,
  tenantId: string,
  wallets: readonly string[],
  namedBy: NamedBy,
): Promise<Map<string, string>> {
  if (wallets.length === 0) return new Map();
  const rows = await sql.query<{ wallet: string; author_id: string | null }>(
    `select wallet, ${newestAuthorId('$1', 'wallet', '$3::timestamptz')} as author_id from unnest($2::text[]) as wallet`,
    [tenantId, wallets, endMoment(namedBy)],
  );
  return new Map(rows.flatMap(({ wallet, author_id: id }) => (id === null ? [] : [[wallet, id]])));
}
