/** Signing in to the console at the identity provider: leaving for it, and coming back. */

import type { LoginAttempt, OidcLogin } from '../../../../platform/tokens/oidcLogin.ts';
import type { SecretBox } from '../../../../platform/tokens/secretBox.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { useOnce } from '../../store/usedOnce.ts';
import type { ConsoleSession, SessionDeps } from './sessions.ts';
import { signInUser } from './sessions.ts';

/** What it needs. */
export interface ProviderDeps extends SessionDeps {
  readonly login: OidcLogin;
  readonly secretBox: Pick<SecretBox, 'seal' | 'open'>;
}

/** For so long somebody may be away at the provider. */
export const AWAY_MS = 600_000;
const CONTEXT = 'console sign-in';
/**
 * A screen's path with its filters; no second slash, dots or back slashes, so that it cannot lead anywhere but into the console. Parts are
 * told apart by their slash alone: a text has one reading, so that looking at one that is none takes no longer than it is long.
 */
const SCREEN = /^\/(?:[\w~-][\w~.-]*(?:\/[\w~-][\w~.-]*)*\/?)?(?:\?[\w~.,:%+=&*-]*)?$/;
/** As long as what a WordPress asks for; sealed, it fits into a cookie. */
const LONGEST_SCREEN = 1_024;

interface Away extends LoginAttempt {
  readonly screen: string;
  readonly endsAtMs: number;
}

/** A screen of the console to come back to; the first one for whatever is none. */
export function screenOf(asked: string | null): string {
  return asked !== null && asked.length <= LONGEST_SCREEN && SCREEN.test(asked) ? asked : '/';
}

/**
 * Begins a sign-in: where to send the browser, and what it keeps meanwhile, sealed: it holds the verifier of PKCE, and no row is written for
 * somebody who may never come back. Throws identity_unavailable.
 */
export async function leaveForProvider(
  { login, secretBox, clock }: ProviderDeps,
  screen: string,
): Promise<{ readonly url: string; readonly kept: string }> {
  const { attempt, url } = await login.start();
  const away: Away = { ...attempt, screen, endsAtMs: clock() + AWAY_MS };
  return { url, kept: secretBox.seal(JSON.stringify(away), CONTEXT).toString('base64url') };
}

/**
 * Ends a sign-in in the browser that began it, once. Throws unknown_credential for one that another browser began, that was used, that took
 * too long or that the provider refused, and for a user who owns nothing here; identity_unavailable, database_unavailable.
 */
export async function comeBack(
  deps: ProviderDeps,
  kept: string | null,
  answered: URLSearchParams,
): Promise<{ readonly session: ConsoleSession; readonly screen: string }> {
  const away = kept === null ? null : openAway(deps, kept);
  if (away === null || deps.clock() >= away.endsAtMs || answered.get('state') !== away.state) refuse();
  const state = { kind: 'sign_in', nonce: `console ${away.state}` } as const;
  const isFirst = await useOnce(deps.database, state, new Date(away.endsAtMs));
  const user = isFirst ? await deps.login.finish(away, answered) : null;
  if (user === null) refuse();
  return { session: await signInUser(deps, { issuer: deps.login.issuer, userId: user.userId }), screen: away.screen };
}

function openAway({ secretBox }: ProviderDeps, kept: string): Away | null {
  try {
    return JSON.parse(secretBox.open(Buffer.from(kept, 'base64url'), CONTEXT)) as Away;
  } catch {
    return null; // sealed by somebody else, or by a key that is gone
  }
}

function refuse(): never {
  throw new ServiceError('unknown_credential', 'the identity provider did not complete this sign-in; start again');
}
