/** robots.txt as crawlers read it (RFC 9309): the group of the crawler or that of `*`; the longest rule that fits, `allow` at a tie. */

interface Rule {
  readonly isAllowed: boolean;
  readonly pattern: string;
}

/** A robots.txt that was read. */
export interface Robots {
  /** True when the crawler of this name may read the path. */
  allows(crawler: string, path: string): boolean;
  readonly sitemaps: readonly string[];
}

const MAX_LINES = 5_000;

/** Reads a robots.txt; lines that are none are skipped, as crawlers skip them. */
export function readRobots(text: string): Robots {
  const groups = new Map<string, Rule[]>();
  const sitemaps: string[] = [];
  let names: string[] = [];
  let hasRules = false;
  for (const line of text.split(/\r?\n|\r/, MAX_LINES)) {
    const [, name = '', value = ''] = /^\s*([A-Za-z-]{1,20})\s*:\s*([^#]*)/.exec(line.slice(0, 2_000)) ?? [];
    const field = name.toLowerCase();
    if (field === 'sitemap') sitemaps.push(value.trim());
    if (field === 'user-agent') {
      names = hasRules ? [value.trim().toLowerCase()] : [...names, value.trim().toLowerCase()];
      hasRules = false;
    }
    if (field !== 'allow' && field !== 'disallow') continue;
    hasRules = true;
    const pattern = value.trim();
    for (const crawler of pattern === '' ? [] : names) {
      groups.set(crawler, [...(groups.get(crawler) ?? []), { isAllowed: field === 'allow', pattern }]);
    }
  }
  // A group without rules, or with an empty Disallow alone, still is the crawler's own: it may read all.
  const named = new Set(
    [...text.matchAll(/^\s*user-agent\s*:\s*([^#\r\n]*)/gim)].map(([, name = '']) => name.trim().toLowerCase()),
  );
  return {
    sitemaps,
    allows: (crawler, path) => {
      const own = crawler.toLowerCase();
      const rules = (named.has(own) ? groups.get(own) : groups.get('*')) ?? [];
      const fitting = rules.filter(({ pattern }) => fits(pattern, path));
      const longest = Math.max(-1, ...fitting.map(({ pattern }) => pattern.length));
      const decisive = fitting.filter(({ pattern }) => pattern.length === longest);
      return decisive.length === 0 || decisive.some(({ isAllowed }) => isAllowed);
    },
  };
}

/** `*` stands for any text, `$` at the end for the end of the path. Read part by part: time grows with the lengths alone. */
function fits(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$');
  const [first = '', ...parts] = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    if (isAnchored && isLast) return path.length - part.length >= at && path.endsWith(part);
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return !isAnchored || at === path.length;
}
