import type { AlertKind } from '../../../db/alerts.ts';
import { raiseAlert } from '../../../db/alerts.ts';
import type { Sql } from '../../../db/database.ts';
import { insertAlertMail } from '../../mail/store/mails.ts';
import type { Challenge, ChallengeMethod, CheckReason } from '../rules/challenge.ts';
import { isExpired, methodInForce, TOKEN_LIFE_MS } from '../rules/challenge.ts';
import { detectCapability } from '../rules/challengePlatform.ts';
import { delayOf, judgeRecheckFailure, nextOpenCheckMs } from '../rules/challengeSchedule.ts';
import { admitLook } from '../store/caps.ts';
import type { StampOutcome } from '../store/hosts.ts';
import {
  findChallenge,
  lapseOwnership,
  listOverdue,
  recordLook,
  recordMiss,
  recordProbe,
  recordRecheck,
  stampOwnership,
} from '../store/hosts.ts';
import { newToken } from './challenges.ts';
import type { CheckOutcome, HostDeps, HostKey } from './deps.ts';

/** A check and when the next one is due; null: the workflow of this host has nothing left to do. */
export interface CheckReport {
  readonly outcome: CheckOutcome;
  readonly nextInMs: number | null;
}

const LOOK_LIFE_MS = 3_600_000;
/** A check that is so late has nobody who keeps its time, or something of ours is away: a workflow's own tries are five minutes apart at most. */
const OVERDUE_MS = 600_000;
const MOST_OVERDUE = 100;

/**
 * Checks a host once and writes what follows: ownership, a miss, the grace period of a failing recheck, or its end. A scheduled
 * check that is not due does nothing, so a repeated activity neither checks twice nor skips a step. Rejects on outages of ours.
 */
export async function checkHost(deps: HostDeps, key: HostKey, kind: 'manual' | 'scheduled'): Promise<CheckReport> {
  const challenge = await findChallenge(deps.database, key.tenantId, key.host);
  const nowMs = deps.clock();
  if (!challenge || isExpired(challenge, nowMs)) return { outcome: missed('no_challenge'), nextInMs: null };
  if (kind === 'scheduled' && (challenge.nextCheckAtMs ?? 0) > nowMs) {
    return { outcome: outcomeOf(challenge), nextInMs: delayOf(challenge, nowMs) };
  }
  if (kind === 'manual' && challenge.state === 'verified') {
    return { outcome: { verified: true }, nextInMs: delayOf(challenge, nowMs) };
  }
  const target = { host: key.host, token: challenge.token, method: methodInForce(challenge, nowMs) };
  const [proof] = await Promise.all([deps.probe.prove(target), lookIfUnknown(deps, challenge)]);
  const outcome =
    challenge.state === 'open'
      ? await afterOpenCheck(deps, challenge, { method: target.method, proof, kind })
      : await afterRecheck(deps, challenge, proof);
  deps.metrics?.count('svc.hostcheck.outcome', 1, { reason: outcome.verified ? 'verified' : outcome.reason });
  const after = await findChallenge(deps.database, key.tenantId, key.host);
  return { outcome, nextInMs: delayOf(after, deps.clock()) };
}

type Proof = { readonly ok: true } | { readonly ok: false; readonly reason: CheckReason };

async function afterOpenCheck(
  deps: HostDeps,
  challenge: Challenge,
  { method, proof, kind }: { readonly method: ChallengeMethod; readonly proof: Proof; readonly kind: 'manual' | 'scheduled' },
): Promise<CheckOutcome> {
  const nowMs = deps.clock();
  const at = new Date(nowMs);
  let reason: CheckReason;
  if (proof.ok) {
    const nextCheckAt = new Date(nowMs + deps.times.recheckMs);
    const stamped: StampOutcome = await stampOwnership(deps.database, challenge, { at, nextCheckAt, method });
    if (stamped === 'verified') return { verified: true };
    reason = stamped === 'host_taken' ? 'host_taken' : 'not_verified';
  } else reason = proof.reason;
  const nextCheckAt = new Date(nowMs + nextOpenCheckMs(challenge.scheduledChecks + 1, deps.times));
  await recordMiss(deps.database, challenge, { reason, isScheduled: kind === 'scheduled', nextCheckAt, at });
  return missed(reason);
}

async function afterRecheck(deps: HostDeps, challenge: Challenge, proof: Proof): Promise<CheckOutcome> {
  const { database, times } = deps;
  const nowMs = deps.clock();
  const at = new Date(nowMs);
  if (proof.ok) {
    const nextCheckAt = new Date(nowMs + times.recheckMs);
    await recordRecheck(database, challenge, { at, nextCheckAt, reason: null, failingSince: null, confirmations: 0 });
    return { verified: true };
  }
  const { tenantId, host } = challenge;
  const failure = judgeRecheckFailure(challenge, nowMs, times);
  if (failure.kind === 'lapse') {
    const nextCheckAt = new Date(nowMs + nextOpenCheckMs(0, times));
    const subject = 'A host of yours is not proven any more';
    const detail = `${host} is not proven any more (${proof.reason}).`;
    const lapsed = await database.transaction(async (sql) => {
      const isOver = await lapseOwnership(sql, challenge, { token: newToken(), at, nextCheckAt });
      if (isOver) await alertOwner(sql, { tenantId, kind: 'host_lapsed', host, detail, subject, nowMs });
      return isOver;
    });
    if (lapsed) deps.warn('ownership of a host lapsed', { tenantId, host, reason: proof.reason });
    return missed(proof.reason);
  }
  const subject = 'A host of yours fails its recheck';
  const detail = `${host} fails its recheck (${proof.reason}). It stays proven until the confirmations have failed, too.`;
  await database.transaction(async (sql) => {
    await recordRecheck(sql, challenge, {
      at,
      reason: proof.reason,
      confirmations: failure.confirmations,
      nextCheckAt: new Date(failure.nextCheckAtMs),
      failingSince: new Date(failure.failingSinceMs),
    });
    if (failure.isAlert) await alertOwner(sql, { tenantId, kind: 'host_failing', host, detail, subject, nowMs });
  });
  if (failure.isAlert) deps.warn('a verified host fails its recheck', { tenantId, host, reason: proof.reason });
  return { verified: true };
}

/** Tells operator and owner with what they are told of: a row of the alert list, and an e-mail where one can be sent. */
async function alertOwner(
  sql: Sql,
  alert: {
    readonly tenantId: string;
    readonly kind: AlertKind;
    readonly host: string;
    readonly detail: string;
    readonly subject: string;
    readonly nowMs: number;
  },
): Promise<void> {
  const { tenantId, kind, host, detail, subject, nowMs } = alert;
  await raiseAlert(sql, kind, detail, tenantId);
  await insertAlertMail(sql, { tenantId, mailId: `${kind}:${host}:${nowMs}`, subject, detail });
}

/** Looks at the site of a challenge that was just opened, within the account's hourly share; says when its check is due. */
export async function lookAtHost(deps: HostDeps, key: HostKey): Promise<number | null> {
  const challenge = await findChallenge(deps.database, key.tenantId, key.host);
  if (challenge && isDueForLook(deps, challenge)) {
    const counted = { ...key, atMs: deps.clock() };
    if (await admitLook(deps.database, counted, deps.looksPerHour)) await lookAndRecord(deps, challenge);
  }
  return delayOf(challenge, deps.clock());
}

/** Hosts whose check is so late that their workflow may be lost; at most a hundred, any of them, so that none of those that are only late is in the way. */
export function listOverdueHosts(deps: Pick<HostDeps, 'database' | 'clock'>): Promise<HostKey[]> {
  const nowMs = deps.clock();
  const dueBefore = new Date(nowMs - OVERDUE_MS);
  return listOverdue(deps.database, { dueBefore, issuedAfter: new Date(nowMs - TOKEN_LIFE_MS), limit: MOST_OVERDUE });
}

/** Has the routing probe look at a verified host; the only place from which routing is ever verified. */
export async function probeHostRouting(deps: HostDeps, key: HostKey): Promise<void> {
  const sights = await deps.probe.route(key.host);
  await recordProbe(deps.database, key.tenantId, { ...sights, host: key.host, probedAtMs: deps.clock() });
}

async function lookIfUnknown(deps: HostDeps, challenge: Challenge): Promise<void> {
  if (challenge.capability === 'unknown') await lookAndRecord(deps, challenge);
}

function isDueForLook(deps: HostDeps, { lookedAtMs, state }: Challenge): boolean {
  return state === 'open' && (lookedAtMs === null || deps.clock() - lookedAtMs >= LOOK_LIFE_MS);
}

async function lookAndRecord(deps: HostDeps, challenge: Challenge): Promise<void> {
  const look = await deps.probe.look(challenge.host);
  await recordLook(deps.database, challenge, look && detectCapability(look), new Date(deps.clock()));
}

function outcomeOf(challenge: Challenge): CheckOutcome {
  return challenge.state === 'verified' ? { verified: true } : missed('not_verified');
}

function missed(reason: CheckReason): CheckOutcome {
  return { verified: false, reason };
}
