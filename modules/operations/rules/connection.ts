/** What a WordPress asks for when it sends its administrator to the console to connect it, and who may get the answer. */
import { ServiceError } from '../../kernel/errors.ts';
import { parseHostname } from '../../kernel/hosts/hostname.ts';

/** A request as it stands in the address of the console's screen. */
export interface AskedConnection {
  readonly host: string;
  readonly redirectUri: string;
  readonly creditsUrl: string;
  readonly state: string;
  readonly codeChallenge: string;
  readonly codeChallengeMethod: string;
}

/** A request that may be granted. */
export interface Connection {
  /** The site's host, in A-labels and lower case. */
  readonly host: string;
  /** Where the browser is led back to. */
  readonly redirectUri: string;
  readonly creditsUrl: string;
  /** A random text of the plugin's, given back as it is. */
  readonly state: string;
  /** PKCE S256 (RFC 7636 §4.2). */
  readonly codeChallenge: string;
  /** One name for one WordPress, of any length. */
  readonly name: string;
}

const MOST_CHARS = 512;
const SETTINGS = /^((?:\/[\w.~-]+)*)\/wp-admin\/options-general\.php$/;
const CREDITS = /\/content-settlement\/v1$/;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/;

/**
 * Reads a request. A code may go to the plugin's own settings page alone, by https, on the host that is connected: another page of that host could
 * send it on to a stranger, and another port may be another's server. By http it may go to the machine that the browser runs on (RFC 8252 §7.3). Authors are asked for on the same host.
 * Throws invalid_parameter, which names what is wrong.
 */
export function readConnection(asked: AskedConnection): Connection {
  const parsed = parseHostname(asked.host);
  if (!parsed.ok) return refuse('host', parsed.sentence);
  const { host } = parsed;
  const redirect = readUrl('redirect_uri', asked.redirectUri);
  const isHere = redirect.protocol === 'http:' && LOOPBACK.test(redirect.hostname);
  if (!isHere && (redirect.protocol !== 'https:' || redirect.host !== host)) {
    refuse('redirect_uri', `must be an https address of ${host}`);
  }
  const [, folder] = SETTINGS.exec(redirect.pathname) ?? [];
  if (folder === undefined || redirect.search !== '?page=content-settlement') {
    return refuse('redirect_uri', 'must be the settings page of the plugin');
  }
  const credits = readUrl('credits_url', asked.creditsUrl);
  const isPlain = credits.protocol === 'https:' && credits.host === host && credits.search === '';
  if (!isPlain || !CREDITS.test(credits.pathname))
    refuse('credits_url', `must be the credits API of the plugin, at https://${host}`);
  if (asked.codeChallengeMethod !== 'S256' || !/^[\w-]{43}$/.test(asked.codeChallenge)) {
    refuse('code_challenge', 'must be the SHA-256 of a verifier in base64url, by the method S256');
  }
  if (!/^[\w-]{22,128}$/.test(asked.state)) refuse('state', 'must have 22 to 128 letters of base64url');
  const { codeChallenge, state } = asked;
  return {
    host,
    redirectUri: redirect.href,
    creditsUrl: credits.href,
    state,
    codeChallenge,
    name: `WordPress ${host}${folder}`,
  };
}

/** The address that the browser goes to with an answer: the redirect URI with these parameters. */
export function answerAddress(redirectUri: string, answer: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  return url.href;
}

function readUrl(parameter: string, text: string): URL {
  if (text.length > MOST_CHARS || !URL.canParse(text))
    return refuse(parameter, `must be an address of at most ${MOST_CHARS} characters`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.hash !== '') refuse(parameter, 'must have no user, password or fragment');
  return url;
}

function refuse(parameter: string, sentence: string): never {
  throw new ServiceError('invalid_parameter', `${parameter}: ${sentence}`, { parameter });
}
