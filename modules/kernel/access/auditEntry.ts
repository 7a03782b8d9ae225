/** What an entry of the audit log says of a change. */

/** Who changed something: a user of the identity provider, the holder of an owner token, the operator's command line, or an invited author. */
export interface Actor {
  readonly userId: string;
  readonly via: 'oidc' | 'token' | 'operator' | 'invitation';
}

/** What a state looked like before and after a change, reduced to what differs. */
export interface Difference {
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * Reduces two states to the members that differ, however deep; lists and plain values are kept whole. Equal objects become `{}`
 * on both sides; null (there was, or is, nothing) keeps the other side whole.
 */
export function differenceOf(before: unknown, after: unknown): Difference {
  if (!isObject(before) || !isObject(after)) return { before, after };
  const left: [string, unknown][] = [];
  const right: [string, unknown][] = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [had, has] = [Object.hasOwn(before, name), Object.hasOwn(after, name)];
    if (had && has && isEqual(before[name], after[name])) continue;
    const inner = had && has ? differenceOf(before[name], after[name]) : { before: before[name], after: after[name] };
    if (had) left.push([name, inner.before]);
    if (has) right.push([name, inner.after]);
  }
  return { before: Object.fromEntries(left), after: Object.fromEntries(right) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEqual(left: unknown, right: unknown): boolean {
  if (isObject(left) && isObject(right)) {
    const names = Object.keys(left);
    if (names.length !== Object.keys(right).length) return false;
    return names.every((name) => Object.hasOwn(right, name) && isEqual(left[name], right[name]));
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index]));
  }
  return Object.is(left, right);
}
