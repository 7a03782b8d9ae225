import type { CompiledPattern } from '../../kernel/pages/scope.ts';

/** False when no path can match both patterns, by what they begin and end with; true also where that is not known. */
export function mayOverlap(a: CompiledPattern, b: CompiledPattern): boolean {
  const beginsAlike = agrees(a, b.first) && agrees(b, a.first);
  if (!beginsAlike) return false;
  const [endOfA, endOfB] = [a.last, b.last];
  return !endOfA || !endOfB || endOfA.endsWith(endOfB) || endOfB.endsWith(endOfA);
}

/** True when a path that matches the pattern may begin so. */
function agrees({ first, middle, last }: CompiledPattern, begin: string): boolean {
  if (first.startsWith(begin)) return true;
  const isExact = middle.length === 0 && last === '';
  return !isExact && begin.startsWith(first);
}
