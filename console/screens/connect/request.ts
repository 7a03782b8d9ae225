/** What a WordPress asks for, as the address of the screen has it. */
export interface ConnectRequest {
  readonly host: string;
  readonly redirectUri: string;
  readonly creditsUrl: string;
  readonly state: string;
  readonly codeChallenge: string;
  readonly codeChallengeMethod: string;
  /** The WordPress, for people: its host with its folder, of which a host may have several. */
  readonly place: string;
  /** Where the answer goes, for people; null: the site's own admin pages. */
  readonly elsewhere: string | null;
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/;

/** Reads the address; null for a request that is not whole or whose answer would go to another host. The service decides by its own rules. */
export function requestOf(query: Readonly<Record<string, string>>): ConnectRequest | null {
  const {
    host,
    redirect_uri: redirectUri,
    credits_url: creditsUrl,
    state,
    code_challenge: codeChallenge,
    code_challenge_method: codeChallengeMethod = '',
  } = query;
  if (!(host && redirectUri && creditsUrl && state && codeChallenge)) return null;
  if (!URL.canParse(redirectUri) || !URL.canParse(`https://${host}`)) return null;
  const redirect = new URL(redirectUri);
  const { hostname } = new URL(`https://${host}`);
  const isHere = redirect.protocol === 'http:' && LOOPBACK.test(redirect.hostname);
  if (!isHere && (redirect.protocol !== 'https:' || redirect.hostname !== hostname)) return null;
  const place = hostname + redirect.pathname.replace(/\/wp-admin\/.*$/, '');
  const elsewhere = isHere ? redirect.host : null;
  return { host: hostname, redirectUri, creditsUrl, state, codeChallenge, codeChallengeMethod, place, elsewhere };
}
