import { randomBytes } from 'node:crypto';
import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import { readChallenges } from '../site.ts';
import type { Reply } from '../visitor.ts';
import { looksLikeHtml } from '../world.ts';

interface Facts {
  /** The answer for a token that nobody was given. */
  readonly invented: Reply;
  /** The answer for the token of an open challenge, and whether it was that token; null: none is open. */
  readonly open: { readonly reply: Reply; readonly isToken: boolean } | null;
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
    const isOpen = ({ host, method, isVerified }: (typeof challenges)[number]): boolean =>
      host === hostname && method === 'well-known' && !isVerified;
    const challenge = challenges.find(isOpen);
    if (!challenge) return { invented, open: null };
    const reply = await world.visit(`${PATH}/${encodeURIComponent(challenge.token)}`, { as: 'agent' });
    return { invented, open: { reply, isToken: reply.came && reply.status === 200 && reply.body.trim() === challenge.token } };
  },
  judge: ({ invented, open }) => {
    if (!invented.came) return [unknown(`${PATH}/ could not be asked.`, 'Run this again when the site answers.')];
    const swallowed = swallowing(invented);
    if (swallowed !== null) return [swallowed];
    if (open === null) return [ok(`${PATH}/ is free for proofs.`)];
    if (open.isToken) return [ok(`${PATH}/ shows the token of the open challenge.`)];
    return [
      problem(
        `${PATH}/ does not show the token of the open challenge.`,
        'Put the package in front of this path too, or serve the token there as plain text.',
      ),
    ];
  },
};

function swallowing(reply: Extract<Reply, { came: true }>): Finding | null {
  const { status } = reply;
  const todo = 'Put the package before the catch-all route, and before redirects and passwords.';
  if (status === 404 || status === 410) return null;
  if (status === 402) return problem(`${PATH}/ answers 402.`, 'Keep /.well-known/ out of what the gate charges for.');
  if (status >= 300 && status < 400) return problem(`${PATH}/ is redirected; a proof follows no redirect.`, todo);
  if (status === 401 || status === 403)
    return problem(`${PATH}/ answers ${status}: something in front of the site refuses.`, todo);
  if (status === 200 && looksLikeHtml(reply))
    return problem(`${PATH}/ shows a web page: the app's catch-all route swallows it.`, todo);
  return warning(`${PATH}/ answers ${status} for a token that nobody was given.`, 'Answer 404 there.');
}
