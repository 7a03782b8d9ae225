/** Lists that people type, one entry a line. */

/** The entries of a text: one a line, trimmed, empty lines left out, each once. */
export function entriesOf(text: string): readonly string[] {
  return [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '');
}

/** What a list gains and loses. */
export function compareLists(
  before: readonly string[],
  after: readonly string[],
): { readonly added: readonly string[]; readonly removed: readonly string[] } {
  return { added: after.filter((one) => !before.includes(one)), removed: before.filter((one) => !after.includes(one)) };
}

/** `1 page`, `12 pages`. */
export function many(n: number, one: string, more = `${one}s`): string {
  return `${n.toLocaleString('en-US')} ${n === 1 ? one : more}`;
}

/** The members of `next` that are not as in `shown`: what somebody else changed of the others meanwhile stays. */
export function changedIn<T extends object>(next: T, shown: { readonly [name in keyof T]: unknown }): Partial<T> {
  const changed = Object.entries(next).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(shown[name as keyof T]),
  );
  return Object.fromEntries(changed) as Partial<T>;
}
