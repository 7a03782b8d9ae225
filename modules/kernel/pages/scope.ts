/**
 * Scopes of licences: path patterns of RFC 9309 §2.2.2 and 2.2.3, over paths in one percent-encoded form. No regular expression
 * is ever made from a pattern; matching takes time in proportion to pattern and path.
 */
import { ServiceError } from '../errors.ts';
import { mergeSlashes, normaliseHost } from '../hosts/host.ts';

/** Most patterns of a scope, most characters of each, and most `*` of each. */
export const MAX_PATTERNS = 100;
export const MAX_PATTERN_CHARS = 200;
export const MAX_STARS = 8;

/** A pattern ready to be compared. */
export interface CompiledPattern {
  /** What a path begins with. */
  readonly first: string;
  /** What follows, in order, with anything between. */
  readonly middle: readonly string[];
  /** What the path ends with; null: anything may follow. */
  readonly last: string | null;
  /** All of it as a path, with a `*` for whatever stands between: no literal holds one, since one that was meant is %2A by now. */
  readonly text: string;
}

/** A scope as asked for. */
export interface Scope {
  /** As given, without the origin of absolute ones. */
  readonly patterns: readonly string[];
  /** The host of absolute patterns; null when all are paths. */
  readonly host: string | null;
}

/** A decoded path in the form that patterns are compared with: ASCII, every special character encoded. */
export function canonicalPath(decoded: string): string {
  return mergeSlashes(decoded).split('/').map(encodeLiteral).join('/');
}

/** The pattern that covers one page and nothing else; `path` is canonical. */
export function exactPattern(path: string): string {
  return `${path}$`;
}

/**
 * Reads a scope: 1 to 100 different patterns of printable ASCII, at most 200 characters and 8 `*`, each a path that begins with a slash
 * or an http(s) URL of one host (RSL `content@url`). Throws invalid_parameter (400) with a sentence that names the first wrong one.
 */
export function parseScope(scope: readonly string[]): Scope {
  if (scope.length === 0 || scope.length > MAX_PATTERNS) refuse(`scope is 1 to ${MAX_PATTERNS} path patterns`);
  const hosts = new Set<string>();
  const patterns = scope.map((pattern, index) => {
    const { host, path } = splitOrigin(pattern, index);
    if (host !== null) hosts.add(host);
    compilePattern(path, `scope.${index}`);
    return path;
  });
  if (new Set(patterns).size !== patterns.length) refuse('scope names the same pattern twice');
  if (hosts.size > 1) refuse('the URLs of scope name several sites; a licence covers one');
  const [host = null] = hosts;
  return { patterns, host };
}

/** Takes a pattern apart. Throws invalid_parameter (400) for text that is none. */
export function compilePattern(pattern: string, place = 'scope'): CompiledPattern {
  if (pattern.length > MAX_PATTERN_CHARS) refuse(`${place} is longer than ${MAX_PATTERN_CHARS} characters`, place);
  if (!isPrintableAscii(pattern)) refuse(`${place} has a character that is not printable ASCII`, place);
  if (!pattern.startsWith('/')) refuse(`${place} does not begin with a slash`, place);
  const isAnchored = pattern.endsWith('$');
  const literals = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  if (literals.length > MAX_STARS + 1) refuse(`${place} has more than ${MAX_STARS} *`, place);
  const parts = literals.map((part) => canonicalLiteral(part, place));
  const [first = '', ...rest] = parts;
  if (!isAnchored) return patternOf(first, rest, '');
  return rest.length === 0
    ? { first, middle: [], last: '', text: first }
    : patternOf(first, rest.slice(0, -1), rest.at(-1) ?? '');
}

function patternOf(first: string, between: readonly string[], last: string): CompiledPattern {
  const middle = between.filter((part) => part !== '');
  return { first, middle, last: last === '' ? null : last, text: [first, ...middle, last].join('*') };
}

/** True when the pattern names one path exactly: no `*`, with or without a closing `$`. */
export function isExactPath(pattern: string): boolean {
  return !pattern.includes('*');
}

/** True when a canonical path matches. A pattern without `*` that is anchored matches only itself. */
export function matches(pattern: CompiledPattern, path: string): boolean {
  const { first, middle, last } = pattern;
  if (!path.startsWith(first)) return false;
  if (last === '') return path.length === first.length;
  if (last !== null && !path.endsWith(last)) return false;
  let from = first.length;
  for (const part of middle) {
    const found = path.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return last === null || path.length - last.length >= from;
}

/** True when every path that matches `inner` matches `outer`: what a star of `inner` stands for, only a star of `outer` takes in. */
export function isWithin(inner: CompiledPattern, outer: CompiledPattern): boolean {
  return matches(outer, inner.text);
}

function splitOrigin(pattern: string, index: number): { readonly host: string | null; readonly path: string } {
  const scheme = pattern.startsWith('https://') ? 8 : pattern.startsWith('http://') ? 7 : 0;
  if (scheme === 0) return { host: null, path: pattern };
  const slash = pattern.indexOf('/', scheme);
  const host = slash < 0 ? pattern.slice(scheme) : pattern.slice(scheme, slash);
  if (host === '' || !/^[A-Za-z0-9.-]+$/.test(host)) refuse(`scope.${index} is not the URL of a site`);
  return { host: normaliseHost(host), path: slash < 0 ? '/' : pattern.slice(slash) };
}

/** The part of a pattern between its stars, in canonical form: octets that were encoded for no reason are the same as plain ones. */
function canonicalLiteral(part: string, place: string): string {
  try {
    return mergeSlashes(part)
      .split('/')
      .map((segment) => encodeLiteral(decodeURIComponent(segment)))
      .join('/');
  } catch {
    return refuse(`${place} has a % that does not encode a character`, place);
  }
}

function encodeLiteral(text: string): string {
  return encodeURIComponent(text).replaceAll('*', '%2A');
}

function isPrintableAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

/** A scope is named as a whole; a pattern that stands elsewhere, by its place. */
function refuse(sentence: string, place = 'scope'): never {
  throw new ServiceError('invalid_parameter', sentence, { parameter: place.startsWith('scope') ? 'scope' : place });
}
