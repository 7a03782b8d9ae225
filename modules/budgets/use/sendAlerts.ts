import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../../db/database.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { SecretBox } from '../../../platform/tokens/secretBox.ts';
import { judgeAttempt } from '../../webhooks/rules/retrySchedule.ts';
import { postSigned } from '../../webhooks/use/post.ts';
import { signingKeyOf } from '../../webhooks/use/sign.ts';
import { ALERT_TYPE, alertBody } from '../rules/alert.ts';
import type { AlertAttempt, LeasedAlert } from '../store/alerts.ts';
import { leaseDueAlerts, recordAlertAttempt } from '../store/alerts.ts';
import { alertSecretContext } from './alerts.ts';

/** Figures of sending; the defaults are `ALERT_LIMITS`. */
export interface AlertLimits {
  /** One request altogether. */
  readonly requestTimeoutMs: number;
  /** How long a lease outlives a dead worker; more than a request may take. */
  readonly leaseMs: number;
  /** One pass of the activity. */
  readonly passMs: number;
  /** How often it looks. */
  readonly pollMs: number;
  /** Requests in flight: to receivers that failed within the hour so many, and to all others as many, whom those cannot hold up. */
  readonly mostOfEach: number;
}

/** The limits in production. */
export const ALERT_LIMITS: AlertLimits = {
  requestTimeoutMs: 15_000,
  leaseMs: 25_000,
  passMs: 270_000,
  pollMs: 1_000,
  mostOfEach: 64,
};

/** What sending alerts works with. */
export interface AlertDeps {
  readonly database: Sql;
  readonly outbound: Pick<Outbound, 'send'>;
  readonly secretBox: Pick<SecretBox, 'open'>;
  readonly limits: AlertLimits;
  /** Aborted when the worker stops: a pass ends once what is in flight is recorded. */
  readonly stopping: AbortSignal;
  /** Says what an operator should know; never a secret. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Sends the alerts of all accounts. */
export interface AlertSender {
  /**
   * One pass: leases what is due and sends it until the pass is over, the worker stops or `cancelled` aborts; then what is still in flight
   * is awaited only in the last two cases, else it goes on under the next pass.
   */
  run(cancelled: AbortSignal): Promise<void>;
}

/** The sender of this process; requests in flight outlive a pass. */
export function createAlertSender(deps: AlertDeps): AlertSender {
  const inFlight = { sound: new Set<Promise<void>>(), failing: new Set<Promise<void>>() };
  const { limits } = deps;
  const sendDue = async (kind: keyof typeof inFlight): Promise<void> => {
    const of = inFlight[kind];
    const lease = { hasFailed: kind === 'failing', most: limits.mostOfEach - of.size, leaseMs: limits.leaseMs };
    for (const leased of await leaseDueAlerts(deps.database, lease)) {
      const sent = sendAlert(deps, leased);
      of.add(sent);
      void sent.finally(() => of.delete(sent));
    }
  };
  return {
    run: async (cancelled) => {
      const stop = AbortSignal.any([deps.stopping, cancelled]);
      const endsAt = performance.now() + limits.passMs;
      while (!stop.aborted && performance.now() < endsAt) {
        await sendDue('sound');
        await sendDue('failing');
        await sleep(limits.pollMs, undefined, { signal: stop }).catch(() => undefined);
      }
      if (stop.aborted) await Promise.all([...inFlight.sound, ...inFlight.failing]);
    },
  };
}

/** Makes one attempt and writes down how it ended. Never rejects: a lease that is not ended here expires, and the same bytes go out again. */
async function sendAlert(deps: AlertDeps, leased: LeasedAlert): Promise<void> {
  const { alert, url, endpointId } = leased;
  const { accountId, eventId: id } = alert;
  try {
    const secret = deps.secretBox.open(leased.sealed, alertSecretContext(accountId, endpointId));
    const message = { id, type: ALERT_TYPE, url, body: alertBody(alert), keys: [signingKeyOf(secret)] };
    const result = await postSigned(deps.outbound, message, deps.limits.requestTimeoutMs);
    await recordAlertAttempt(deps.database, attemptOf(leased, judgeAttempt(leased.attempt, result, Math.random())));
  } catch (error) {
    deps.warn('an attempt of a budget alert was not recorded; its lease brings it back', { accountId, eventId: id, error });
  }
}

function attemptOf({ alert, leaseId, attempt }: LeasedAlert, verdict: ReturnType<typeof judgeAttempt>): AlertAttempt {
  const isRetry = verdict.kind === 'retry';
  return {
    eventId: alert.eventId,
    leaseId,
    attempt,
    state: isRetry ? 'waiting' : verdict.kind,
    reason: verdict.kind === 'delivered' ? null : verdict.reason,
    dueAt: isRetry ? new Date(Date.now() + verdict.delayMs) : null,
  };
}
