import type { Tone } from '../../parts/panel.ts';
import type { Host, ProofMethod } from './documents.ts';

/** Ways to prove a host, as people say them. */
export const METHODS: readonly { readonly key: ProofMethod; readonly label: string; readonly suits: string }[] = [
  {
    key: 'WELL_KNOWN',
    label: 'File',
    suits: 'Your server can serve a file. The package and the WordPress plugin serve it automatically.',
  },
  { key: 'META_TAG', label: 'Meta tag', suits: 'You can edit the head of the front page, but serve no file.' },
  { key: 'DNS_TXT', label: 'DNS record', suits: 'You manage the domain. The only way in the 72 hours after a host was removed.' },
];

const NOT_SEEN: Readonly<Record<ProofMethod, string>> = {
  WELL_KNOWN: 'The file is not there yet. It has to answer with status 200 at exactly this address.',
  META_TAG: 'The front page has no such tag yet. It has to be in the HTML that the server sends, not added by a script.',
  DNS_TXT: 'The record is not seen yet. Name servers may take some minutes to pass it on.',
};

const REASONS: Readonly<Record<string, string>> = {
  no_challenge: 'This challenge has ended after 30 days. Choose a way again, and a new one begins.',
  dns_mismatch: 'A record is there, but not this one on every name server: an old one, or one that is still on its way.',
  host_taken: 'Another site has proven this host. It has to remove it first.',
  redirect: 'The address redirects. Serve the proof at this very host and address, without a redirect.',
  tls_error: 'The certificate of the server is not good for this name, so nobody can be sure whom we talk to.',
  blocked_address: 'The name leads to an address inside a network. It has to be reachable from outside.',
  timeout: 'Nobody answered in time. Is the server up, and does the name lead to it?',
  wrong_token: 'Something is there, but it is another token: perhaps that of an earlier challenge.',
};

/** Why a check proved nothing, in words. */
export function reasonText(reason: string | null, method: ProofMethod): string {
  return REASONS[reason ?? ''] ?? NOT_SEEN[method];
}

/** Why a check of a host that was proven proves nothing any more, whatever way it was proven. */
export function failureText(reason: string | null): string {
  return REASONS[reason ?? ''] ?? 'The proof is not there any more.';
}

/** Who is at the gate of a host, as a label. */
export const MODES: Readonly<Record<string, { readonly label: string; readonly tone: Tone }>> = {
  in_app: { label: 'Selling', tone: 'good' },
  fleet: { label: 'Selling by the fleet', tone: 'good' },
  idle: { label: 'No gate heard', tone: 'warn' },
  conflict: { label: 'Two gates', tone: 'bad' },
  unverified: { label: 'Not proven', tone: 'plain' },
};

const ACTIONS: Readonly<Record<string, string>> = {
  verify_host: 'Prove the host.',
  install_code: 'Put the package in front of your pages.',
  reconnect_sdk: 'The gate has been silent for three days: is the package still in front of your pages?',
  rotate_key: 'The gate still asks with a key that was revoked or has ended: give it a new one.',
  upgrade_plan: 'The plan of the site does not include the API: ask your operator.',
  remove_cname: 'The fleet and your own gate both serve this host: take away the CNAME, or the package.',
  fix_dns: 'The name led to the fleet and does not any more: put the record right.',
};

/** What somebody should do about a host; null: nothing. */
export function nextActionText({
  enforcement,
}: {
  readonly enforcement: Pick<NonNullable<Host['enforcement']>, 'nextAction' | 'recordToFix'> | null;
}): string | null {
  const said = enforcement === null ? undefined : ACTIONS[enforcement.nextAction];
  if (said === undefined) return null;
  return enforcement?.recordToFix ? `${said} Record: ${enforcement.recordToFix}` : said;
}
