/** Sessions of the console: a cookie in place of an owner's credential. What it covers is read in each call. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from '../../../../db/database.ts';
import { hashCredential, hashesOf } from '../../../../platform/tokens/pepper.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { SessionOrigin, StoredSession, TenantLine } from '../../store/consoleSessions.ts';
import {
  deleteConsoleSession,
  deleteConsoleSessionsLike,
  findConsoleSession,
  insertConsoleSession,
  listTenantLines,
  markConsoleSessionUsed,
} from '../../store/consoleSessions.ts';
import type { Owner, OwnerDeps } from '../owners/authenticate.ts';
import { ownerOfOrigin, ownerOfToken, ownerOfUser, proveToken } from '../owners/authenticate.ts';

/** What sessions need. */
export interface SessionDeps extends Omit<OwnerDeps, 'database'> {
  readonly database: Database;
}

/** A session that is alive. */
export interface ConsoleSession {
  /** What the cookie holds: a credential. */
  readonly id: string;
  readonly owner: Owner;
  readonly origin: SessionOrigin;
  /** What a page of ours shows with each change: made of the id, which no script can read, and told to our own page alone. */
  readonly csrf: string;
  /** When it ends unless it is used before; epoch milliseconds. */
  readonly expiresAtMs: number;
}

const MINUTE_MS = 60_000;
/** Unused for so long, a session is over. */
export const IDLE_MS = 12 * 60 * MINUTE_MS;
/** However much it is used, a session is over after this. */
export const LONGEST_MS = 7 * 24 * 60 * MINUTE_MS;
/** Sessions that one person may have; with one more the one used longest ago ends. */
export const MOST_SESSIONS = 10;
/** That a session was used is written this often at most. */
const NOTED_MS = MINUTE_MS;
const ID = /^[\w-]{43}$/;

/**
 * Signs in with an owner's token of `bin/admin`. Always a new session: an id that was there before never becomes one. Throws
 * unknown_credential, database_unavailable.
 */
export async function signIn(deps: SessionDeps, bearer: string): Promise<ConsoleSession> {
  const { owner, tokenId } = await proveToken(deps, bearer);
  return beginSession(deps, owner, { issuer: null, userId: owner.userId, tokenId });
}

/** Signs a user of the identity provider in, who proved himself there. Throws unknown_credential when he owns no open site. */
export async function signInUser(
  deps: SessionDeps,
  user: { readonly issuer: string; readonly userId: string },
): Promise<ConsoleSession> {
  const owner = await ownerOfUser(deps, user);
  if (owner === null) throw new ServiceError('unknown_credential', 'this user owns no site here');
  return beginSession(deps, owner, { ...user, tokenId: null });
}

async function beginSession(deps: SessionDeps, owner: Owner, origin: SessionOrigin): Promise<ConsoleSession> {
  const id = randomBytes(32).toString('base64url');
  const nowMs = deps.clock();
  const { current: sessionHash } = hashCredential(deps.pepper, id);
  const times = { at: new Date(nowMs), expiresAt: new Date(nowMs + LONGEST_MS) };
  await insertConsoleSession(deps.database, { origin, sessionHash, ...times }, MOST_SESSIONS);
  return { id, owner, origin, csrf: csrfOf(id), expiresAtMs: nowMs + IDLE_MS };
}

/**
 * The session of a cookie, as Postgres has it in this call: one whose token was revoked, whose user owns nothing any more or whose site
 * was closed is over at once. Throws unknown_credential for whatever is no living session, and database_unavailable.
 */
export async function resumeSession(deps: SessionDeps, id: string): Promise<ConsoleSession> {
  const stored = ID.test(id) ? await findConsoleSession(deps.database, hashesOf(hashCredential(deps.pepper, id))) : null;
  const nowMs = deps.clock();
  const endsAtMs = stored && Math.min(stored.usedAt.getTime() + IDLE_MS, stored.expiresAt.getTime());
  const owner = stored !== null && endsAtMs !== null && nowMs < endsAtMs ? await ownerOf(deps, stored) : null;
  if (stored === null || owner === null) throw new ServiceError('unknown_credential', 'the session is over; sign in again');
  if (nowMs - stored.usedAt.getTime() >= NOTED_MS) {
    await markConsoleSessionUsed(deps.database, stored.sessionHash, new Date(nowMs));
  }
  const expiresAtMs = Math.min(nowMs + IDLE_MS, stored.expiresAt.getTime());
  return { id, owner, origin: originOf(stored), csrf: csrfOf(id), expiresAtMs };
}

async function ownerOf(deps: SessionDeps, session: StoredSession): Promise<Owner | null> {
  const { token } = session;
  if (token !== null) return ownerOfToken(deps, token);
  return await ownerOfOrigin(deps, originOf(session));
}

function originOf({ userId, issuer, token }: StoredSession): SessionOrigin {
  return token === null ? { issuer: issuer ?? '', userId, tokenId: null } : { issuer: null, userId, tokenId: token.tokenId };
}

/** Signs out here, from the very next call on; again: nothing. */
export async function endSession(deps: SessionDeps, id: string): Promise<void> {
  await deleteConsoleSession(deps.database, hashesOf(hashCredential(deps.pepper, id)));
}

/** Signs a person out everywhere: of every session of this user at his issuer, or of all tokens of his at this site. */
export async function endAllSessions(deps: SessionDeps, { origin }: ConsoleSession): Promise<void> {
  await deleteConsoleSessionsLike(deps.database, origin);
}

/** The sites that a session covers, as the console lists them. */
export async function listSites(deps: SessionDeps, { owner }: ConsoleSession): Promise<readonly TenantLine[]> {
  return await listTenantLines(deps.database, owner.tenantIds);
}

function csrfOf(id: string): string {
  return createHmac('sha256', id).update('console csrf').digest('base64url');
}
