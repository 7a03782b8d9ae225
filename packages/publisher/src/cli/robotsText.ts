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
  /** The groups of a name; those without rules are its own, too: it may read all. One list of rules for all the names of a group. */
  const groups = new Map<string, Set<Rule[]>>();
  const sitemaps: string[] = [];
  let rules: Rule[] = [];
  let hasRules = false;
  for (const line of text.split(/\r?\n|\r/, MAX_LINES)) {
    const [, name = '', value = ''] = /^\s*([A-Za-z-]{1,20})\s*:\s*([^#]*)/.exec(line.slice(0, 2_000)) ?? [];
    const field = name.toLowerCase();
    if (field === 'sitemap') sitemaps.push(value.trim());
    if (field === 'user-agent') {
      if (hasRules) rules = [];
      hasRules = false;
      const crawler = value.trim().toLowerCase();
      groups.set(crawler, (groups.get(crawler) ?? new Set()).add(rules));
    }
    if (field !== 'allow' && field !== 'disallow') continue;
    hasRules = true;
    const pattern = value.trim();
    if (pattern !== '') rules.push({ isAllowed: field === 'allow', pattern });
  }
  return {
    sitemaps,
    allows: (crawler, path) => {
      const own = crawler.toLowerCase();
      const its = [...(groups.get(own) ?? groups.get('*') ?? [])].flat();
      const fitting = its.filter(({ pattern }) => fits(pattern, path));
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
