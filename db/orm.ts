import type { EntityManager } from '@mikro-orm/postgresql';
import { MikroORM, PostgreSqlDriver } from '@mikro-orm/postgresql';
import { PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import { ENTITIES } from './entities.ts';
import { SITE_TABLES } from './siteGuard.ts';

/** Rows of one site, by their entities. MikroORM's filters hold for these questions alone: not for its query builder, nor for what it writes. */
export type SiteReader = Pick<EntityManager, 'find' | 'findOne' | 'findOneOrFail' | 'count'>;

/**
 * Opens MikroORM over a pool, which stays its owner's to close: some 200 ms of CPU beside the load of its packages, so once a process. Whatever is
 * read of a table whose key holds the site is bound to a site by a filter, and refused where none was given.
 */
export function openOrm(pool: Pool): MikroORM {
  return new MikroORM({
    driver: PostgreSqlDriver,
    dbName: 'ledger', // asked for by MikroORM; the pool says which database it is
    ensureDatabase: false,
    entities: [...ENTITIES],
    driverOptions: new PostgresDialect({ pool }),
    logger: () => undefined,
    filters: {
      site: {
        cond: ({ tenantId }) => ({ tenantId }),
        entity: ENTITIES.filter(({ meta }) => SITE_TABLES.has(meta.tableName)).map(({ meta }) => meta.className),
      },
    },
  });
}

/** A new identity map, bound to one site. */
export function readerOf(orm: MikroORM, tenantId: string): SiteReader {
  const em = orm.em.fork();
  em.setFilterParams('site', { tenantId });
  return em;
}
