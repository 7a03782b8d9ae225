import type { Sql } from '../../../db/database.ts';
import type { AgentCard } from '../rules/webbotauth/card.ts';
import type { KeySource } from '../rules/webbotauth/source.ts';

/** A directory as it last answered, with the public keys it held by their thumbprints. */
export interface DirectoryCopy<Jwk> {
  readonly keys: ReadonlyMap<string, Jwk>;
  readonly readAt: Date;
  readonly freshUntil: Date;
  readonly card: AgentCard;
  /** When its card was last looked for; null: never. */
  readonly cardAt: Date | null;
}

/** The kept answer of a directory; null when there is none. */
export async function findDirectory<Jwk>(sql: Sql, address: string): Promise<DirectoryCopy<Jwk> | null> {
  const [row] = await sql.query<{
    read_at: Date;
    fresh_until: Date;
    operator: string | null;
    purpose: string | null;
    card_at: Date | null;
    keys: Record<string, Jwk>;
  }>('select read_at, fresh_until, operator, purpose, card_at, keys from agent_directory where address = $1', [address]);
  if (!row) return null;
  const { operator, purpose } = row;
  const keys = new Map(Object.entries(row.keys));
  return { keys, readAt: row.read_at, freshUntil: row.fresh_until, card: { operator, purpose }, cardAt: row.card_at };
}

/** Keeps an answer, unless a later one is kept: keys that it no longer holds go. Its card stays as it is. */
export async function storeDirectory<Jwk>(
  sql: Sql,
  { address, type, host }: KeySource,
  { keys, readAt, freshUntil }: Pick<DirectoryCopy<Jwk>, 'keys' | 'readAt' | 'freshUntil'>,
): Promise<void> {
  await sql.query(
    `insert into agent_directory as known (address, type, host, read_at, fresh_until, keys) values ($1, $2, $3, $4, $5, $6)
     on conflict (address) do update set read_at = excluded.read_at, fresh_until = excluded.fresh_until,
       keys = case when known.keys = excluded.keys then known.keys else excluded.keys end -- equal ones are not written again
       where known.read_at <= excluded.read_at`,
    [address, type, host, readAt, freshUntil, JSON.stringify(Object.fromEntries(keys))],
  );
}

/** Keeps what the agent of a directory says of itself. */
export async function storeCard(sql: Sql, address: string, { operator, purpose }: AgentCard, at: Date): Promise<void> {
  await sql.query('update agent_directory set operator = $2, purpose = $3, card_at = $4 where address = $1', [
    address,
    operator,
    purpose,
    at,
  ]);
}

/** What the agents of these hosts say of themselves, of those that say anything. Only a directory speaks for its host. */
export async function findCards(sql: Sql, hosts: readonly string[]): Promise<ReadonlyMap<string, AgentCard>> {
  const rows = await sql.query<AgentCard & { host: string }>(
    `select distinct on (host) host, operator, purpose from agent_directory
     where host = any ($1::text[]) and type = 'directory' and (operator is not null or purpose is not null)
     order by host, read_at desc`,
    [hosts],
  );
  return new Map(rows.map(({ host, operator, purpose }) => [host, { operator, purpose }]));
}
