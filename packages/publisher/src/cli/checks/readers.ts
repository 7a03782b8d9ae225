import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import type { Reply } from '../visitor.ts';
import { UNCHECKED_SEARCH } from '../visitor.ts';
import { noPage } from './offer.ts';

interface Facts {
  readonly page: string | null;
  readonly person: Reply | null;
  readonly googlebot: Reply | null;
  /** A search engine whose addresses nobody knows, asked where Googlebot was refused. */
  readonly unchecked?: Reply | null;
  /** False when the owner took Googlebot off the list of search engines that read free. */
  readonly isGoogleFree: boolean;
}

/** Do people and search engines read as before? */
export const readersCheck: Check<Facts> = {
  id: 'readers',
  probe: async (world) => {
    const page = await world.page();
    if (page === null) return { page, person: null, googlebot: null, isGoogleFree: true };
    const isGoogleFree = (await world.config())?.seoAllowlist.some((fragment) => 'googlebot'.includes(fragment)) ?? true;
    const person = await world.asPerson(page);
    const googlebot = await world.visit(page, { as: 'googlebot' });
    const isRefused = googlebot.came && googlebot.status === 402;
    const unchecked = isRefused ? await world.visit(page, { as: 'agent', headers: { 'user-agent': UNCHECKED_SEARCH } }) : null;
    return { page, person, googlebot, unchecked, isGoogleFree };
  },
  judge: ({ page, person, googlebot, unchecked = null, isGoogleFree }) => {
    if (page === null) return [noPage()];
    const chargesAll = person?.came === true && person.status === 402 && googlebot?.came === true && googlebot.status === 402;
    // The one reads free and the other pays: what is missing is the address.
    const isFalse = unchecked?.came === true && unchecked.status === 200;
    return [judgePerson(page, person, chargesAll), judgeGoogle(googlebot, isGoogleFree, isFalse)];
  },
};

function judgePerson(page: string, reply: Reply | null, chargesAll: boolean): Finding {
  if (!reply?.came) return unknown('Whether people get the page is unclear.', 'Run this again when the site answers.');
  if (reply.status === 200) return ok('A person gets the page.');
  if (reply.status === 402) {
    return problem(
      'A person with a browser gets a 402.',
      chargesAll
        ? "Have the CDN or proxy forward the User-Agent of its visitors; else leave `charge` at 'agents', and see your own classifier."
        : "Leave `charge` at 'agents', and see that your own classifier knows browsers.",
    );
  }
  if (reply.status >= 300 && reply.status < 400) {
    return unknown(
      `A person is redirected to ${reply.headers['location'] ?? 'nowhere'}.`,
      'Name the page where it leads with --page.',
    );
  }
  return problem(`A person gets ${reply.status} for ${page}.`, 'Look into the log of your app.');
}

function judgeGoogle(reply: Reply | null, isFree: boolean, isFalse: boolean): Finding {
  if (!reply?.came) return unknown('Whether Googlebot gets the page is unclear.', 'Run this again when the site answers.');
  if (reply.status === 200) return ok('Googlebot gets the page.');
  if (reply.status === 402 && !isFree) return ok('Googlebot pays, as the owner decided.');
  if (reply.status === 402 && isFalse)
    return ok('Googlebot by name alone pays, as this run does; the real one is known by its address.');
  if (reply.status === 402) {
    return problem(
      'Googlebot gets a 402: the page will fall out of its index.',
      'Leave it on the list of search engines that read free.',
    );
  }
  if (reply.status === 403 || reply.status === 429) {
    return warning(
      `This run, under the name of Googlebot, gets ${reply.status}.`,
      'That is right where a firewall knows Google by its addresses; see that the real one comes through.',
    );
  }
  return problem(`Googlebot gets ${reply.status}.`, 'Look into the log of your app.');
}
