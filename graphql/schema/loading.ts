import type { List, Owned } from '../../modules/paging/use/pages.ts';
import type { GraphqlContext } from '../request/context.ts';

/** The key of something that belongs to a site, for a batch. */
export function keyIn({ tenantId }: { readonly tenantId: string }, value: string): string {
  return `${tenantId} ${value}`;
}

/** Reads a batch of keys, site by site (one, unless an owner asks for several), and gives the answers in the order of the keys. */
export async function loadBySite<T>(
  keys: readonly string[],
  read: (tenantId: string, values: readonly string[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const answers = new Map<string, T>();
  for (const [tenantId, members] of Map.groupBy(keys, (key) => key.slice(0, key.indexOf(' ')))) {
    const found = await read(
      tenantId,
      members.map((key) => key.slice(tenantId.length + 1)),
    );
    for (const [index, key] of members.entries()) answers.set(key, found[index] as T);
  }
  return keys.map((key) => answers.get(key) as T);
}

/** Loads the rows that hang on each key of a batch, at most `most` of one, in one statement; in two where they are kept by day. */
export function groupsBy<Row, Filter>(list: List<Row, Filter>, key: string, most: number) {
  return (keys: string[], { deps }: GraphqlContext): Promise<Owned<Row>[][]> =>
    loadBySite(keys, (tenantId, values) => list.groups(deps, tenantId, key, { values, most }));
}

/** Loads the row of each key of a batch, in one statement. */
export function eachBy<Row, Filter>(list: List<Row, Filter>, key: string) {
  return (keys: string[], { deps }: GraphqlContext): Promise<(Owned<Row> | null)[]> =>
    loadBySite(keys, (tenantId, values) => list.each(deps, tenantId, key, values));
}
