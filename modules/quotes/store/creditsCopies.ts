import type { ExpressionBuilder } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { json, run, tables } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';

/** An answer of a tenant's credits API as kept; `null` as credits: the API names nobody. */
export interface CreditsCopy {
  readonly credits: unknown;
  readonly fetchedAt: Date;
  /** The answer before, when it was another one; undefined when there was none. */
  readonly previous: { readonly credits: unknown; readonly until: Date } | null;
}

/** Which answer. */
export interface CreditsKey {
  readonly tenantId: string;
  readonly apiUrl: string;
  readonly slug: string;
}

const isOf =
  ({ tenantId, apiUrl, slug }: CreditsKey) =>
  (copy: ExpressionBuilder<Tables, 'credits_copy'>) =>
    copy.and({ tenantId, apiUrl, slug });

/** The kept answer about a page; null when there is none. */
export async function findCreditsCopy(sql: Sql, key: CreditsKey): Promise<CreditsCopy | null> {
  const [row] = await run(sql, tables.selectFrom('credits_copy').select(SHOWN).where(isOf(key)));
  return row ? { credits: row.credits, fetchedAt: row.fetchedAt, previous: previousOf(row) } : null;
}

const SHOWN = ['credits', 'fetchedAt', 'previous', 'previousUntil'] as const;

const previousOf = ({ previous, previousUntil }: { readonly previous: unknown; readonly previousUntil: Date | null }) =>
  previousUntil && { credits: previous, until: previousUntil };

/** Copies that a site may have, and bytes of one as JSON: what an API names beyond them each process remembers for itself. */
const MOST_COPIES = 20_000;
const MOST_BYTES = 32_768;

/** An answer of a credits API; null as credits: it names nobody. */
export interface GivenCredits {
  readonly key: CreditsKey;
  readonly credits: unknown;
  readonly at: Date;
  /** The answer before, of which no copy is kept, named nobody. */
  readonly wasNobody: boolean;
}

/**
 * Keeps an answer; one that differs from the last makes that the previous one, in force until now. Returns what is kept. Null, and nothing is kept, where
 * there is no copy yet and the answer names nobody (anybody may ask for any page), is longer than 32 KiB, or the site has 20,000 copies.
 */
export async function storeCreditsCopy(sql: Sql, { key, credits, at, wasNobody }: GivenCredits): Promise<CreditsCopy | null> {
  if (credits !== null && Buffer.byteLength(JSON.stringify(credits)) > MOST_BYTES) return null;
  const { tenantId, apiUrl, slug } = key;
  const another = tables
    .selectNoFrom((column) => [
      column.val(tenantId).as('tenantId'),
      column.val(apiUrl).as('apiUrl'),
      column.val(slug).as('slug'),
      (credits === null ? text`null` : json(credits)).as('credits'),
      column.val(at).as('fetchedAt'),
      column.val(wasNobody ? at : null).as('previousUntil'),
    ])
    .where(({ or, exists, not, selectFrom }) => {
      const copies = selectFrom('credits_copy').select('slug');
      const full = copies
        .where('tenantId', '=', tenantId)
        .offset(MOST_COPIES - 1)
        .limit(1);
      return or([exists(copies.where(isOf(key))), ...(credits === null ? [] : [not(exists(full))])]);
    });
  const [row] = await run(
    sql,
    tables
      .insertInto('credits_copy')
      .columns(['tenantId', 'apiUrl', 'slug', 'credits', 'fetchedAt', 'previousUntil'])
      .expression(another)
      .onConflict((conflict) =>
        conflict.columns(['tenantId', 'apiUrl', 'slug']).doUpdateSet((e) => {
          const differs = e('credits_copy.credits', 'is distinct from', e.ref('excluded.credits'));
          return {
            credits: e.ref('excluded.credits'),
            previous: e.case().when(differs).then(e.ref('credits_copy.credits')).else(e.ref('credits_copy.previous')).end(),
            previousUntil: e
              .case()
              .when(differs)
              .then(e.ref('excluded.fetchedAt'))
              .else(e.ref('credits_copy.previousUntil'))
              .end(),
            fetchedAt: e.fn<Date>('greatest', ['credits_copy.fetchedAt', 'excluded.fetchedAt']),
          };
        }),
      )
      .returning(['previous', 'previousUntil']),
  );
  return row ? { credits, fetchedAt: at, previous: previousOf(row) } : null;
}
