/** What a site's robots.txt says about its terms: RSL's `License`, and two drafts of preferences from the same terms. */

/** What the lines are made of. */
export interface RobotsTerms {
  /** Where the document of its terms is to be had: with us, where it is whatever the site itself serves. */
  readonly documentUrl: string;
  /** What the default of the site's articles is asked for: nothing at all, some money, or it is refused. */
  readonly isRefused: boolean;
  readonly isFree: boolean;
  readonly sellsTraining: boolean;
}

/** Lines for the top of a robots.txt, and a group for its end. */
export interface RobotsLines {
  /** Outside of any group, so that it holds for all: a line below a group would be that group's. */
  readonly top: readonly string[];
  readonly group: readonly string[];
}

/**
 * The lines. Training stands open only where pages are free and training is not withheld: whoever buys it has a licence that says so, and
 * a site that said `y` to everybody would have reserved nothing. The group has a rule that forbids nothing, since two groups without one
 * between them are one group to a reader that does not know these lines.
 */
export function robotsLines({ documentUrl, isRefused, isFree, sellsTraining }: RobotsTerms): RobotsLines {
  const mayTrain = !isRefused && isFree && sellsTraining;
  const mayInput = !isRefused;
  return {
    top: [`License: ${documentUrl}`],
    group: [
      '# Drafts: Content-Usage is draft-ietf-aipref-attach-05 in the words of draft-ietf-aipref-vocab-08, Content-Signal is contentsignals.org.',
      '# They say what holds without a licence; a licence of the document above says more.',
      'User-agent: *',
      `Content-Usage: train-ai=${mayTrain ? 'y' : 'n'}, search=y`,
      `Content-Signal: search=yes, ai-input=${mayInput ? 'yes' : 'no'}, ai-train=${mayTrain ? 'yes' : 'no'}`,
      'Disallow:',
    ],
  };
}

/** A robots.txt of these lines alone, for a site that has none; who has one puts the first part at its top and the group at its end. */
export function robotsText({ top, group }: RobotsLines): string {
  return `${[...top, '', ...group].join('\n')}\n`;
}
