/**
 * Select lists of SQL text over the entities: a column is named by its property and has its entity's type, and Postgres names the result by the
 * property. No row is described or mapped a second time.
 */
import type { SelectType } from 'kysely';
import { columnOf } from './statement.ts';
import type { Tables } from './tables.ts';

/** What SQL text shows: a select list, and, as a type alone, the row that Postgres answers it with. */
export interface Shown<Row> {
  readonly text: string;
  readonly row?: Row;
}

/** A row of what is shown. */
export type RowOf<S> = S extends Shown<infer Row> ? Row : never;

type Column<T extends keyof Tables> = keyof Tables[T] & string;
type Columns<T extends keyof Tables, C extends Column<T>> = { readonly [K in C]: SelectType<Tables[T][K]> };

/** Columns of the table that `from` names with its alias, such as `delivery d`: each is what its entity says, by the name of its property. */
export function columnsOf<T extends keyof Tables, const C extends Column<T>>(
  from: `${T} ${string}`,
  properties: readonly C[],
): Shown<Columns<T, C>> {
  const alias = from.slice(from.indexOf(' ') + 1);
  return { text: properties.map((property) => `${alias}.${columnOf(property)} as "${property}"`).join(', ') };
}

/** The same of a table that is joined where it has a row: each may be null. */
export function columnsOfAny<T extends keyof Tables, const C extends Column<T>>(
  from: `${T} ${string}`,
  properties: readonly C[],
): Shown<{ readonly [K in C]: Columns<T, C>[K] | null }> {
  return { text: columnsOf(from, properties).text };
}

/** What SQL works out, in words that name each by its property: `Row` says what that is. */
export function workedOut<Row>(text: string): Shown<Row> {
  return { text };
}

/** All that two select lists show. */
export function both<One, Other>(one: Shown<One>, other: Shown<Other>): Shown<One & Other> {
  return { text: `${one.text}, ${other.text}` };
}
