import type { Check } from '../finding.ts';
import { ok, problem, unknown } from '../finding.ts';
import type { Challenge } from '../site.ts';
import { readChallenges } from '../site.ts';

interface Facts {
  readonly host: string;
  /** Hosts of the key's site; null when they could not be read. */
  readonly siteHosts: readonly string[] | null;
  readonly challenge: Challenge | null;
}

const PUBLISH: Readonly<Record<string, string>> = {
  'well-known': 'Serve its token at /.well-known/svc-challenge/<token> (the package does so), then have it checked (checkHost).',
  'meta-tag': 'Put its meta tag into the front page, then have it checked (checkHost).',
  'dns-txt': 'Publish its TXT record, then have it checked (checkHost).',
};

/** Does the host belong to the site of the key? */
export const proofCheck: Check<Facts> = {
  id: 'proof',
  probe: async (world) => {
    const [self, listed] = await Promise.all([world.self(), world.client?.hosts()]);
    const challenges = listed?.ok ? readChallenges(listed.body) : null;
    const { hostname: host } = world.site;
    return {
      host,
      siteHosts: self?.row?.hosts ?? null,
      challenge: challenges?.find((challenge) => challenge.host === host) ?? null,
    };
  },
  judge: ({ host, siteHosts, challenge }) => {
    if (siteHosts === null)
      return [unknown(`Whose ${host} is could not be asked.`, 'Settle the findings about service and key first.')];
    if (siteHosts.includes(host)) return [ok(`${host} is proven.`)];
    if (challenge !== null) {
      const todo = PUBLISH[challenge.method] ?? 'Publish its token, then have it checked (checkHost).';
      return [problem(`${host} is not proven yet; a challenge by ${challenge.method} is open.`, todo)];
    }
    const has = siteHosts.length === 0 ? 'none yet' : siteHosts.join(', ');
    return [
      problem(
        `${host} is no host of this key's site, which has ${has}.`,
        'Name the public address with --site (and --connect-to for a server that is not public), or let the owner prove this host: openHost, then checkHost.',
      ),
    ];
  },
};
