import type { Check } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import { readRobots } from '../robotsText.ts';
import type { Reply } from '../visitor.ts';
import { looksLikeHtml } from '../world.ts';

interface Facts {
  readonly reply: Reply;
  /** Paths that are for sale: the tried page, or the article prefixes. */
  readonly paths: readonly string[];
}

/** Names that buyers of pages go by; well-behaved ones never ask for what robots.txt forbids them. */
const BUYERS = ['GPTBot', 'ChatGPT-User', 'OAI-SearchBot', 'ClaudeBot', 'Claude-User', 'PerplexityBot', 'CCBot', 'Bytespider'];

/** Does robots.txt keep buyers away from what is sold? */
export const robotsCheck: Check<Facts> = {
  id: 'robots',
  probe: async (world) => {
    const { reply } = await world.robots();
    const page = await world.page();
    const prefixes = (await world.config())?.articlePrefixes ?? [];
    return { reply, paths: page === null ? prefixes : [page] };
  },
  judge: ({ reply, paths }) => {
    if (!reply.came) return [unknown('/robots.txt could not be read.', 'Run this again when the site answers.')];
    if (reply.status === 402)
      return [
        problem('/robots.txt answers 402.', 'Let the gate stand in front of your articles alone: set the article prefixes.'),
      ];
    if (reply.status >= 500)
      return [warning(`/robots.txt answers ${reply.status}: crawlers then read nothing.`, 'Serve the file, or answer 404.')];
    if (reply.status !== 200) return [ok(`There is no robots.txt (${reply.status}): nobody is kept away.`)];
    if (looksLikeHtml(reply)) {
      return [
        problem("/robots.txt is a web page: the app's catch-all route swallows it.", 'Serve a text file there, or answer 404.'),
      ];
    }
    const robots = readRobots(reply.body);
    const isKept = (crawler: string): boolean => paths.some((path) => !robots.allows(crawler, path));
    if (paths.length === 0) return [unknown('Which pages are for sale is not known.', 'Name one: --page /articles/…')];
    const kept = BUYERS.filter(isKept);
    if (kept.length === BUYERS.length) {
      return [
        problem(
          `/robots.txt forbids agents to read ${paths[0]}, which is for sale.`,
          'Take away the Disallow rules for your articles: the price keeps order now.',
        ),
      ];
    }
    if (kept.length > 0) {
      return [
        warning(
          `/robots.txt forbids ${kept.join(', ')} to read ${paths[0]}: they never see the price.`,
          'Take away these rules if they may buy.',
        ),
      ];
    }
    if (isKept('Googlebot'))
      return [
        warning(
          `/robots.txt keeps Googlebot away from ${paths[0]}.`,
          'Take away the rule, unless search engines are to stay out.',
        ),
      ];
    return [ok('/robots.txt lets agents come to what is sold.')];
  },
};
