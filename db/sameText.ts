/** SQL for equal texts by an index of their hashes: "same text" of db/PLANS.md. */
export function sameText(one: string, other: string): string {
  return `(${one} = ${other} and hashtext(${one}) = hashtext(${other}))`;
}
