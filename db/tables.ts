import type { InferKyselyTable } from '@mikro-orm/postgresql';
import type { Entity } from './entities.ts';

/**
 * The ledger as the query builder sees it: each table and view by its name, those of other schemas with the schema's name, columns by the names of their
 * properties. The entities are read as types alone, so that a process which writes statements does not load MikroORM.
 */
export type Tables = {
  [E in Entity as NonNullable<E['tableName']>]: InferKyselyTable<E, { columnNamingStrategy: 'property' }>;
};
