/** Path patterns of RFC 9309 §2.2.3: `*` stands for any run of characters, `$` at the end for the end of the path. */

/**
 * True when `path` matches `pattern`. Without a closing `$` a pattern matches every path it is the beginning of. Takes time in
 * proportion to both lengths; no regular expression is made from foreign text.
 */
export function matchesPattern(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$');
  const parts = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  const [first = '', ...others] = parts;
  if (!path.startsWith(first)) return false;
  if (others.length === 0) return !isAnchored || path.length === first.length;
  let from = first.length;
  const last = isAnchored ? (others.pop() ?? '') : null;
  for (const part of others) {
    const found = path.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return last === null || (path.length - last.length >= from && path.endsWith(last));
}
