import { Binder } from '../../../../db/binder.ts';
import { wholeRows } from '../../../../db/copyText.ts';
import type { Sql } from '../../../../db/database.ts';
import { Literals } from '../../../../db/literals.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { stateOf } from '../../../settlement/store/payment.ts';
import { closedOf } from '../../../settlement/store/returning.ts';
import type { CopyOptions, ReadSnapshot } from '../snapshot.ts';
import type { CrossingScope } from './crossings.ts';
import { crossingConditions, within } from './crossings.ts';

/** The cells of a leg of a crossing, negative where it is a correction, with what its payment knows; numbers are text, as they are shown. */
export type ExportedLeg = readonly [
  /** Epoch milliseconds. */
  atMs: string,
  host: string,
  slug: string,
  kind: CrossingKind,
  micro: string,
  /** Empty: none. */
  authorId: string,
  wallet: string,
  share: string,
  role: string,
  txHash: string | null,
  mode: 'live' | 'mock',
  payer: string,
  agent: string,
  /** Empty: none. */
  licenceJti: string,
  /** Of the page as it is called now; empty: unknown. */
  title: string,
  paymentId: string,
  crossingId: string,
];

/** Where each cell of an ExportedLeg stands. */
export const EXPORT_COLUMNS = {
  atMs: 0,
  host: 1,
  slug: 2,
  kind: 3,
  micro: 4,
  authorId: 5,
  wallet: 6,
  share: 7,
  role: 8,
  txHash: 9,
  mode: 10,
  payer: 11,
  agent: 12,
  licenceJti: 13,
  title: 14,
  paymentId: 15,
  crossingId: 16,
} as const;

/** Which legs an export is of; all of the site's where a filter is null or left out. With `wallets`, the legs of these alone. */
export type ExportScope = Omit<CrossingScope, 'payers'>;

/** True where nothing but the window bounds an export. */
function isWhole({ tenantId: _, ...filters }: ExportScope): boolean {
  return Object.values(filters).every((filter) => filter === null || filter === undefined);
}

/** A scope as a condition on crossings `c`. */
function ofCrossings(binder: Pick<Binder, 'bind'>, { wallets: _, ...scope }: ExportScope): string {
  return crossingConditions(binder, scope);
}

/** A scope as a condition on their legs `l`: those of no wallet where it names none. */
function ofLegs(binder: Pick<Binder, 'bind'>, { wallets }: ExportScope): string {
  if (wallets === null || wallets === undefined) return 'true';
  const named = wallets.map((wallet) => binder.bind(wallet)).join(', ');
  return named === '' ? 'false' : `l.role <> 'platform' and l.to_address in (${named})`;
}

/**
 * How many legs a window's export has, counted up to `most` + 1; a crossing's legs are those it names. No crossing is without a leg
 * (its amount is their sum, by the table's own check, and never 0), so with as many crossings nobody needs to look at their legs;
 * that is counted in the index alone.
 */
export async function countLegs(sql: Sql, scope: ExportScope, window: Span, most: number): Promise<number> {
  if (isEmpty(window)) return 0;
  const { tenantId } = scope;
  if (!isWhole(scope)) return await countSome(sql, scope, window, most);
  const crossings = new Binder();
  const ofTenant = crossings.bind(tenantId);
  const [many] = await sql.query<{ count: string }>(
    `select count(*) as count from (
       select from ledger.crossing c where c.tenant_id = ${ofTenant} and ${within(crossings, 'c.at', window)}
       limit ${crossings.bind(most + 1)}
     ) newest`,
    crossings.values,
  );
  if (Number(many?.count) > most) return most + 1;
  const binder = new Binder();
  const tenant = binder.bind(tenantId);
  const [row] = await sql.query<{ count: string }>(
    `select least(coalesce(sum(legs), 0), ${binder.bind(most + 1)}::bigint) as count from (
       select jsonb_array_length(c.legs) as legs from ledger.crossing c
       where c.tenant_id = ${tenant} and ${within(binder, 'c.at', window)}
       order by c.at desc limit ${binder.bind(most + 1)}
     ) newest`,
    binder.values,
  );
  return Number(row?.count ?? 0);
}

async function countSome(sql: Sql, scope: ExportScope, window: Span, most: number): Promise<number> {
  const binder = new Binder();
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::int as count from (
       select from ledger.crossing c join ledger.leg l on l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id and l.at = c.at
       where ${ofCrossings(binder, scope)} and ${ofLegs(binder, scope)} and ${within(binder, 'c.at', window)}
       limit ${binder.bind(most + 1)}) newest`,
    binder.values,
  );
  return row?.count ?? 0;
}

/** What the site's settings call its pages, and the credits API that may say it for others: one row. */
function titlesOf(tenant: string): string {
  return `select t.credits_api_url, (
      select coalesce(jsonb_object_agg(one.key, one.value ->> 'title'), '{}')
      from jsonb_each(case jsonb_typeof(t.credits_inline) when 'object' then t.credits_inline else '{}' end) as one
      where one.value ->> 'title' <> '') as inline
    from tenant t where t.tenant_id = ${tenant}`;
}

/** The title of a crossing's page, from the places and in the order of `listPageFacts` (titles.ts). */
const TITLE = `
       (select named.inline ->> c.slug from named),
       (select nullif(i.title, '') from imported_page i where i.tenant_id = c.tenant_id and i.slug = c.slug),
       (select nullif(k.credits ->> 'title', '') from named join credits_copy k on k.api_url = named.credits_api_url
        where k.tenant_id = c.tenant_id and k.slug = c.slug)`;

/**
 * The newest legs of a window, at most `most`, as rows of COPY's text format, each an ExportedLeg: pieces of whole rows, at the
 * reader's pace. Order: newest crossing first, its legs in their order.
 */
export async function* streamLegs(
  snapshot: Pick<ReadSnapshot, 'copy'>,
  scope: ExportScope,
  window: Span,
  { most, ...options }: CopyOptions & { readonly most: number },
): AsyncGenerator<Buffer> {
  if (isEmpty(window)) return;
  const literals = new Literals();
  const tenant = literals.bind(scope.tenantId);
  // Each sale by its keys, behind a fence (db/PLANS.md): without it each leg of a small site went through all payments. Of closed months only
  // those near the sale are looked at.
  const pieces = snapshot.copy(
    `with named as materialized (${titlesOf(tenant)})
     select (date_part('epoch', c.at) * 1000)::bigint, c.host, c.slug, c.kind, l.amount_micro, coalesce(l.author_id, ''), l.to_address,
       l.share, l.role, p.tx_hash, p.mode, c.payer, c.agent, coalesce(p.licence_jti::text, ''),
       coalesce(${TITLE}, ''), c.payment_id, c.crossing_id
     from ledger.crossing c
       cross join lateral (${stateOf('c')} union all ${closedOf('payment_state', 'c', 'c.at')}) p
       cross join lateral (
         select * from ledger.leg l where l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id and l.at = c.at offset 0) l
     where ${ofCrossings(literals, scope)} and ${ofLegs(literals, scope)} and ${within(literals, 'c.at', window)}
     order by c.at desc, c.crossing_id desc, l.ordinal limit ${literals.bind(most)}`,
    options,
  );
  yield* wholeRows(pieces);
}
