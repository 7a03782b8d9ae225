/** Lines for a site's robots.txt: RSL's `License`, and two drafts of preferences from the same terms. */
import type { LicenceTerm } from '../../../kernel/licence/period.ts';
import type { Outcome } from '../compiled.ts';
import type { RslPath } from './paths.ts';

/** What the lines are made of. */
export interface RobotsTerms {
  /** Where the document of its terms is available: with us, where it is whatever the site itself serves. */
  readonly documentUrl: string;
  /** What an agent that nobody verified is asked under each of the site's paths. */
  readonly paths: readonly Pick<RslPath, 'outcomeOf'>[];
  /** True where a rule names operators, categories or uses, so that some agents may be asked something else. */
  readonly isByAgent: boolean;
  readonly sellsTraining: boolean;
}

/** Lines for the top of a robots.txt, and a group for its end. */
export interface RobotsLines {
  /** Outside of any group, so that it holds for all: a line below a group would be that group's. */
  readonly top: readonly string[];
  readonly group: readonly string[];
}

/**
 * The lines. A use is granted only where every page is free for it to every agent: a grant would give away what is sold elsewhere on the site. It is
 * denied where a page costs something or is refused; search only where all pages are refused, since most owners let search engines in and a denial
 * would take the site out of them. Of any other use nothing is said. The group has a rule that forbids nothing, since two groups without one between
 * them are one group to a reader that does not know these lines.
 */
export function robotsLines(terms: RobotsTerms): RobotsLines {
  const search = preferenceOf(terms, 'search');
  const input = preferenceOf(terms, 'ai-input');
  const training = terms.sellsTraining ? preferenceOf(terms, 'ai-train') : 'no';
  const usage = lineOf('Content-Usage', { 'train-ai': training?.slice(0, 1), search: search?.slice(0, 1) });
  const signal = lineOf('Content-Signal', { search, 'ai-input': input, 'ai-train': training });
  return {
    top: [`License: ${terms.documentUrl}`],
    group: [
      '# Drafts: Content-Usage is draft-ietf-aipref-attach-05 in the words of draft-ietf-aipref-vocab-08, Content-Signal is contentsignals.org.',
      '# They say what holds without a licence; a licence of the document above says more.',
      'User-agent: *',
      ...usage,
      ...signal,
      'Disallow:',
    ],
  };
}

/** A robots.txt of these lines alone, for a site that has none; who has one puts the first part at its top and the group at its end. */
export function robotsText({ top, group }: RobotsLines): string {
  return `${[...top, '', ...group].join('\n')}\n`;
}

/** What holds for a use without a licence; undefined: nothing is said. */
function preferenceOf({ paths, isByAgent }: RobotsTerms, use: LicenceTerm): 'yes' | 'no' | undefined {
  const outcomes = paths.flatMap((path): Outcome[] => [path.outcomeOf('read', use), path.outcomeOf('citation', use)]);
  if (outcomes.every((outcome) => outcome === 'free')) return outcomes.length > 0 && !isByAgent ? 'yes' : undefined;
  return use !== 'search' || outcomes.every((outcome) => outcome === 'refused') ? 'no' : undefined;
}

function lineOf(name: string, preferences: Readonly<Record<string, string | undefined>>): readonly string[] {
  const said = Object.entries(preferences).flatMap(([use, preference]) => (preference ? [`${use}=${preference}`] : []));
  return said.length === 0 ? [] : [`${name}: ${said.join(', ')}`];
}
