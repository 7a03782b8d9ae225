/**
 * Parameters from `$first` on, as arguments of `unnest` in a named statement. Behind a subquery the planner does not see how long the lists
 * are: otherwise a plan made for one row of values looks cheaper than the one that is kept for all, and each call is planned again.
 */
export function unseenLists(types: readonly ('uuid' | 'text' | 'numeric' | 'smallint' | 'bool')[], first = 1): string {
  return types.map((type, at) => `(select $${first + at}::${type}[])`).join(', ');
}
