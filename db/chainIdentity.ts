import type { Sql } from './database.ts';

/** The chain a database was made for; compared at boot where both may be lost separately. */
export interface ChainIdentity {
  readonly network: string;
  readonly genesisHash: string;
  readonly router: string;
  readonly routerCodeHash: string;
}

/** What this database knows of its chain; null before the first boot was done. */
export async function findChainIdentity(sql: Sql, network: string): Promise<ChainIdentity | null> {
  const [row] = await sql.query<{ genesis_hash: string; router: string; router_code_hash: string }>(
    'select genesis_hash, router, router_code_hash from chain_cursor where network = $1 and genesis_hash is not null',
    [network],
  );
  if (row === undefined) return null;
  return { network, genesisHash: row.genesis_hash, router: row.router, routerCodeHash: row.router_code_hash };
}

/** Remembers the chain. A second call changes nothing: a database belongs to one chain for good. */
export async function recordChainIdentity(sql: Sql, identity: ChainIdentity): Promise<void> {
  await sql.query(
    `insert into chain_cursor (network, genesis_hash, router, router_code_hash) values ($1, $2, $3, $4)
     on conflict (network) do update set genesis_hash = excluded.genesis_hash, router = excluded.router,
       router_code_hash = excluded.router_code_hash where chain_cursor.genesis_hash is null`,
    [identity.network, identity.genesisHash, identity.router, identity.routerCodeHash],
  );
}

/** The lowest nonce a relayer can have on the chain this database has seen: one above its highest mined transaction, else 0. */
export async function minedNonceOf(sql: Sql, network: string, relayer: string): Promise<number> {
  const [row] = await sql.query<{ next: string | null }>(
    `select max(nonce) + 1 as next from settlement_batch where network = $1 and relayer = $2 and state in ('mined', 'safe')`,
    [network, relayer],
  );
  return Number(row?.next ?? 0);
}
