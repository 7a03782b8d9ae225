/** What somebody who waits, or wants to, counts for. */
interface Named {
  readonly names: readonly string[];
}

/**
 * Who gives up a place so that a newcomer may wait in lines that are full: in each the last of the caller who has most there, told apart by the first of
 * their other names. So nobody fills a line that others need, and who fills one himself is refused. `full` has the names of these lines, null
 * for all who wait. Null: in one of them the newcomer would then have as many as the caller who has most.
 */
export function whoGivesWay<One extends Named>(
  waiting: Iterable<One>,
  newcomer: Named,
  full: readonly (string | null)[],
): readonly One[] | null {
  const giving: One[] = [];
  for (const name of full) {
    const isInLine = ({ names }: Named): boolean => name === null || names.includes(name);
    if (giving.some(isInLine)) continue;
    const whoOf = ({ names }: Named): string | undefined => names.find((other) => other !== name);
    const byWho = Map.groupBy([...waiting].filter(isInLine), whoOf);
    const most = [...byWho.values()].reduce((longest, one) => (one.length > longest.length ? one : longest), []);
    const last = most.at(-1);
    const own = byWho.get(whoOf(newcomer))?.length ?? 0;
    if (last === undefined || most.length <= own + 1) return null;
    giving.push(last);
  }
  return giving;
}
