/** Parameters from `$first` on, as arguments of `unnest` in a named statement: an "unseen list" of db/PLANS.md. */
export function unseenLists(types: readonly ('uuid' | 'text' | 'numeric' | 'smallint' | 'bool')[], first = 1): string {
  return types.map((type, at) => `(select $${first + at}::${type}[])`).join(', ');
}
