import { randomBytes } from 'node:crypto';
import type { Check } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import { readChallenges } from '../site.ts';
import type { Came, Reply } from '../visitor.ts';
import { looksLikeHtml } from '../world.ts';

interface Facts {
  /** The answer for a token that nobody was given. */
  readonly invented: Reply;
  /** The challenge of this host by a file, and whether the site shows its token; null: there is none. */
  readonly challenge: { readonly token: string; readonly isVerified: boolean; readonly isShown: boolean } | null;
}

const PATH = '/.well-known/svc-challenge';

/** Can a host be proven by a file, or does something swallow `/.well-known/`? */
export const wellKnownCheck: Check<Facts> = {
  id: 'well-known',
  probe: async (world) => {
    const invented = await world.visit(`${PATH}/${randomBytes(32).toString('base64url')}`, { as: 'agent' });
    const listed = await world.client?.hosts();
    const challenges = listed?.ok ? (readChallenges(listed.body) ?? []) : [];
    const { hostname } = world.site;
    const challenge = challenges.find(({ host, method }) => host === hostname && method === 'well-known');
    if (!challenge) return { invented, challenge: null };
    const reply = await world.visit(`${PATH}/${encodeURIComponent(challenge.token)}`, { as: 'agent' });
    const isShown = reply.came && reply.status === 200 && reply.body.trim() === challenge.token;
    return { invented, challenge: { token: challenge.token, isVerified: challenge.isVerified, isShown } };
  },
  judge: ({ invented, challenge }) => {
    if (challenge?.isShown) return [ok(`${PATH}/ shows the token of this host.`)];
    if (!invented.came) return [unknown(`${PATH}/ could not be asked.`, 'Run this again when the site answers.')];
    const swallowed = swallowing(invented);
    if (challenge === null) {
      if (swallowed === null) return [ok(`${PATH}/ is free for proofs.`)];
      return [warning(`${PATH}/ ${swallowed}: a proof by a file may fail.`, ADVICE)];
    }
    const why = swallowed === null ? '' : `: it ${swallowed}`;
    const what = challenge.isVerified ? 'and the proof lapses when it is looked at again' : 'so that the host is not proven';
    const todo = `${ADVICE} A site without it serves the text ${challenge.token} at ${PATH}/${challenge.token}, and leaves it there.`;
    return [problem(`${PATH}/ does not show the token of this host, ${what}${why}.`, todo)];
  },
};

const ADVICE = 'Put the package in front of this path, before the catch-all route, redirects and passwords.';

/** What stands in the way of a file there; null for a plain 404. */
function swallowing(reply: Came): string | null {
  const { status } = reply;
  if (status === 404 || status === 410) return null;
  if (status >= 300 && status < 400) return 'is redirected, and a proof follows no redirect';
  if (status === 200 && looksLikeHtml(reply)) return "shows a web page, which the app's catch-all route makes";
  return `answers ${status} for a token that nobody was given`;
}
