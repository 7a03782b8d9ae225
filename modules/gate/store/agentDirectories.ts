import type { Sql } from '../../../db/database.ts';
import { anyOf, json, run, tables } from '../../../db/statement.ts';
import type { AgentCard } from '../rules/webbotauth/card.ts';
import type { KeySource } from '../rules/webbotauth/source.ts';

/** A directory as it last answered, with the public keys it held by their thumbprints. */
export interface DirectoryCopy<Jwk extends object> {
  readonly keys: ReadonlyMap<string, Jwk>;
  readonly readAt: Date;
  readonly freshUntil: Date;
  readonly card: AgentCard;
  /** When its card was last looked for; null: never. */
  readonly cardAt: Date | null;
}

/** The kept answer of a directory; null when there is none. */
export async function findDirectory<Jwk extends object>(sql: Sql, address: string): Promise<DirectoryCopy<Jwk> | null> {
  const known = tables.selectFrom('agent_directory').where('address', '=', address);
  const [row] = await run(sql, known.select(['readAt', 'freshUntil', 'operator', 'purpose', 'cardAt', 'keys']));
  if (!row) return null;
  const { operator, purpose, keys, ...copy } = row;
  return { ...copy, keys: new Map(Object.entries(keys as Readonly<Record<string, Jwk>>)), card: { operator, purpose } };
}

/** Keeps an answer, unless a later one is kept: keys that it no longer holds go. Its card stays as it is. */
export async function storeDirectory<Jwk extends object>(
  sql: Sql,
  { address, type, host }: KeySource,
  { keys, readAt, freshUntil }: Pick<DirectoryCopy<Jwk>, 'keys' | 'readAt' | 'freshUntil'>,
): Promise<void> {
  const row = { address, type, host, readAt, freshUntil, keys: json(Object.fromEntries(keys)) };
  await run(
    sql,
    tables
      .insertInto('agent_directory')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .column('address')
          .doUpdateSet((e) => ({
            readAt: e.ref('excluded.readAt'),
            freshUntil: e.ref('excluded.freshUntil'),
            // Equal ones are not written again.
            keys: e
              .case()
              .when('agent_directory.keys', '=', e.ref('excluded.keys'))
              .then(e.ref('agent_directory.keys'))
              .else(e.ref('excluded.keys'))
              .end(),
          }))
          .whereRef('agent_directory.readAt', '<=', 'excluded.readAt'),
      ),
  );
}

/** Keeps what the agent of a directory says of itself. */
export async function storeCard(sql: Sql, address: string, { operator, purpose }: AgentCard, at: Date): Promise<void> {
  const card = tables.updateTable('agent_directory').set({ operator, purpose, cardAt: at });
  await run(sql, card.where('address', '=', address));
}

/** What the agents of these hosts say of themselves, of those that say anything. Only a directory speaks for its host. */
export async function findCards(sql: Sql, hosts: readonly string[]): Promise<ReadonlyMap<string, AgentCard>> {
  const said = tables
    .selectFrom('agent_directory')
    .distinctOn('host')
    .select(['host', 'operator', 'purpose'])
    .where('host', '=', anyOf(hosts))
    .where('type', '=', 'directory')
    .where((e) => e.or([e('operator', 'is not', null), e('purpose', 'is not', null)]));
  const rows = await run(sql, said.orderBy('host').orderBy('readAt', 'desc'));
  return new Map(rows.map(({ host, ...card }) => [host, card]));
}
