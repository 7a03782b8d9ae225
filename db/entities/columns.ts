import { p } from '@mikro-orm/postgresql';

/** An unsigned integer of the chain, whole: `numeric(78, 0)`, a string of digits in TypeScript. */
export const uint256 = () => p.decimal('string').precision(78).scale(0);

/** `bytea`, which the driver gives as a Buffer. */
export const bytes = () => p.blob().$type<Buffer>();

/** What MikroORM asks of a view; its definition stands in the migrations alone. */
export const MIGRATED = '-- in the migrations';
