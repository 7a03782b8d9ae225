/**
 * SQL for equal texts, by their hashes, too: some indexes hold `hashtext` of a long text and not the text (ADR 0052). The hashes find the rows,
 * the texts decide.
 */
export function sameText(one: string, other: string): string {
  return `(${one} = ${other} and hashtext(${one}) = hashtext(${other}))`;
}
