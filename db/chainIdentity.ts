import type { NotNull } from 'kysely';
import type { Sql } from './database.ts';
import { run, tables } from './statement.ts';

/** The chain a database was made for; compared at boot where both may be lost separately. */
export interface ChainIdentity {
  readonly network: string;
  readonly genesisHash: string;
  readonly router: string;
  readonly routerCodeHash: string;
}

/** What this database knows of its chain; null before the first boot was done. */
export async function findChainIdentity(sql: Sql, network: string): Promise<ChainIdentity | null> {
  const known = tables.selectFrom('chain_cursor').where('network', '=', network).where('genesisHash', 'is not', null);
  const identity = known.select(['network', 'genesisHash', 'router', 'routerCodeHash']);
  const [row] = await run(sql, identity.$narrowType<{ genesisHash: NotNull; router: NotNull; routerCodeHash: NotNull }>());
  return row ?? null;
}

/** Remembers the chain. A second call changes nothing: a database belongs to one chain for good. */
export async function recordChainIdentity(sql: Sql, identity: ChainIdentity): Promise<void> {
  const { network, genesisHash, router, routerCodeHash } = identity;
  const made = { genesisHash, router, routerCodeHash };
  await run(
    sql,
    tables
      .insertInto('chain_cursor')
      .values({ network, ...made })
      .onConflict((known) => known.column('network').doUpdateSet(made).where('chain_cursor.genesisHash', 'is', null)),
  );
}

/** The lowest nonce a relayer can have on the chain this database has seen: one above its highest mined transaction, else 0. */
export async function minedNonceOf(sql: Sql, network: string, relayer: string): Promise<number> {
  const batches = tables.selectFrom('settlement_batch').where('network', '=', network).where('relayer', '=', relayer);
  const mined = batches.where('state', 'in', ['mined', 'safe']);
  const [row] = await run(
    sql,
    mined.select(({ fn }) => fn.max<string | null>('nonce').as('last')),
  );
  return Number(row?.last ?? -1) + 1;
}
