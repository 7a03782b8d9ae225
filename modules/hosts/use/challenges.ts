import { randomBytes } from 'node:crypto';
import type { Database, Transactional } from '../../../db/database.ts';
import { isPublicSuffix } from '../../../platform/outbound/publicSuffix.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { parseHostname } from '../../kernel/hosts/hostname.ts';
import type { ChallengeMethod, ChallengeView } from '../rules/challenge.ts';
import { isExpired, methodInForce, TOKEN_LIFE_MS, viewOf } from '../rules/challenge.ts';
import { nextOpenCheckMs } from '../rules/challengeSchedule.ts';
import { admitCheck, refundCheck, refundHostTotal } from '../store/caps.ts';
import { findChallenge, findOwnership, listChallenges, openChallenge } from '../store/hosts.ts';
import type { CheckOutcome, HostKey, HostService } from './deps.ts';

/** What the functions here need of the API's deps. */
export interface ChallengeDeps {
  readonly database: Database;
  readonly clock: () => number;
  readonly hosts: HostService;
}

/** What opening a challenge came to. */
export type OpenOutcome =
  | { readonly kind: 'opened'; readonly challenge: ChallengeView }
  | { readonly kind: 'host_already_added' | 'host_taken'; readonly routingVerified: boolean };

/** Most challenges of one tenant that are open at once. */
const MAX_OPEN = 500;

/** Runs the opening of a challenge in a database transaction; an owner's one is written into the audit log with it. */
export type OpenWithin = (host: string, open: (database: Transactional) => Promise<void>) => Promise<void>;

/**
 * Opens the challenge of a host, or returns the one that is open: same token, under the method of this call. Throws
 * invalid_parameter for a name nobody can prove, throttled at 500 open challenges, and workflows_unavailable, after which the
 * same call again goes on where this one ended.
 */
export async function openHost(
  deps: ChallengeDeps,
  request: { readonly tenantId: string; readonly host: string; readonly method: ChallengeMethod },
  within: OpenWithin = (_host, open) => open(deps.database),
): Promise<OpenOutcome> {
  const { tenantId, method } = request;
  const host = requireProvable(deps, request.host);
  const owner = await findOwnership(deps.database, host);
  if (owner.tenantId === tenantId) return { kind: 'host_already_added', routingVerified: owner.routingVerified };
  if (owner.tenantId !== null) return { kind: 'host_taken', routingVerified: false };
  const nowMs = deps.clock();
  const challengeToOpen = {
    tenantId,
    host,
    method,
    limit: MAX_OPEN,
    token: newToken(),
    staleBefore: new Date(nowMs - TOKEN_LIFE_MS),
    firstCheckAt: new Date(nowMs + nextOpenCheckMs(0, deps.hosts.times)),
    at: new Date(nowMs),
  };
  await within(host, async (database) => {
    if (await openChallenge(database, challengeToOpen)) return;
    throw new ServiceError('throttled', 'too many challenges of this site are open', { retryAfterSeconds: 3_600 });
  });
  await deps.hosts.workflows.opened({ tenantId, host });
  const challenge = await findChallenge(deps.database, tenantId, host);
  if (!challenge) throw new ServiceError('internal', 'a challenge disappeared after it was opened');
  if (challenge.state === 'verified') {
    return { kind: 'host_already_added', routingVerified: challenge.routingVerifiedAtMs !== null };
  }
  return { kind: 'opened', challenge: viewOf(challenge, nowMs) };
}

/** The challenges of a tenant, the newest first. */
export async function listHosts(deps: Omit<ChallengeDeps, 'hosts'>, tenantId: string): Promise<ChallengeView[]> {
  const challenges = await listChallenges(deps.database, tenantId);
  return challenges.map((challenge) => viewOf(challenge, deps.clock()));
}

/**
 * Checks a host now. A host that is verified already is so at once, whatever the caps. `mayWrite` false (the key has lost
 * `domain.manage`) lets only that through. Name servers that say nothing use up the account's hour, not the host's total. Throws
 * scope_missing, invalid_parameter, throttled with the seconds to wait, and workflows_unavailable, which costs nothing of the caps.
 */
export async function checkHostNow(
  deps: ChallengeDeps,
  request: { readonly tenantId: string; readonly host: string; readonly mayWrite: boolean },
): Promise<{ readonly host: string; readonly outcome: CheckOutcome }> {
  const { tenantId } = request;
  const host = requireProvable(deps, request.host);
  const owner = await findOwnership(deps.database, host);
  if (owner.tenantId === tenantId) return { host, outcome: { verified: true } };
  if (!request.mayWrite) throw new ServiceError('scope_missing', 'this key lacks the scope domain.manage');
  const challenge = await findChallenge(deps.database, tenantId, host);
  const nowMs = deps.clock();
  if (!challenge || isExpired(challenge, nowMs)) return { host, outcome: { verified: false, reason: 'no_challenge' } };
  if (owner.tenantId !== null) return { host, outcome: { verified: false, reason: 'host_taken' } };
  const { caps } = deps.hosts;
  const counted = { tenantId, host, atMs: nowMs };
  const admission = await admitCheck(deps.database, counted, caps);
  if (!admission.ok) {
    const retryAfterSeconds = Math.max(1, Math.ceil(admission.waitMs / 1_000));
    throw new ServiceError('throttled', 'this host was checked too often; nothing is lost', { retryAfterSeconds });
  }
  const outcome = await checkOrRefund(deps, { tenantId, host }, nowMs);
  const isUnheard = methodInForce(challenge, nowMs) === 'dns-txt' && !outcome.verified && outcome.reason === 'timeout';
  if (isUnheard) await refundHostTotal(deps.database, host).catch(() => undefined);
  return { host, outcome };
}

async function checkOrRefund(deps: ChallengeDeps, key: HostKey, atMs: number): Promise<CheckOutcome> {
  try {
    return await deps.hosts.workflows.check(key);
  } catch (error) {
    await refundCheck(deps.database, { ...key, atMs }, deps.hosts.caps).catch(() => undefined);
    throw error;
  }
}

/** A host name that can be proven, in A-labels and lower case. Throws invalid_parameter, which says what is wrong with it. */
export function requireProvable(deps: Pick<ChallengeDeps, 'hosts'>, text: string): string {
  const parsed = parseHostname(text);
  const refuse = (sentence: string): never => {
    throw new ServiceError('invalid_parameter', `host: ${sentence}`, { parameter: 'host' });
  };
  if (!parsed.ok) return refuse(parsed.sentence);
  if (isPublicSuffix(parsed.host)) refuse('is a public suffix, which belongs to nobody');
  if (deps.hosts.ownHosts.includes(parsed.host)) refuse('is a name of this service');
  return parsed.host;
}

/** 32 random bytes in base64url. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}
