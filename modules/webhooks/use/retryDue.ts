import type { Receiver, RetryOutcome, RetryStart } from '../rules/retrying.ts';
import { outcomeOf, probeDelayMs } from '../rules/retrying.ts';
import type { DueAttempt, ProbeLease } from '../store/receiver.ts';
import { leaseOldest, listDueAttempts, readReceiver, releaseEndpoint, scheduleProbe } from '../store/receiver.ts';
import { attemptDelivery } from './attempt.ts';
import { freezeChatBodies } from './chatBodies.ts';
import { deliverFirst } from './deliverFirst.ts';
import type { WebhookDeps } from './deps.ts';
import type { Recorder } from './recorder.ts';

/** Attempts of one step: two at a time, fifteen seconds each at most. */
const MOST_AT_ONCE = 20;

/**
 * One step for a receiver that does not answer (safety 21), for its workflow: makes the attempts that are due, then the probe if the
 * endpoint cools, and says what waits. A step that is made again, because a worker died, does what is due then: an attempt is
 * recorded once, by whichever worker made it, and one that was not recorded waits for the end of its lease.
 */
export async function retryDue(deps: WebhookDeps, recorder: Recorder, input: RetryStart): Promise<RetryOutcome> {
  let receiver = await readReceiver(deps.database, input);
  let { probes } = input;
  if (receiver?.pausedMs === null) {
    await attemptAll(deps, recorder, await listDueAttempts(deps.database, input, { ...receiver, limit: MOST_AT_ONCE }));
    receiver = await readReceiver(deps.database, input);
    if (receiver?.cools) {
      probes = await probeIfDue(deps, recorder, input, receiver);
      receiver = await readReceiver(deps.database, input);
    }
  }
  return receiver === null ? { kind: 'ended', why: 'nothing_waits' } : outcomeOf(receiver, probes);
}

/** As many at once as an endpoint has slots. One that is no attempt, such as a secret that cannot be opened, holds up no other. */
async function attemptAll(deps: WebhookDeps, recorder: Recorder, due: DueAttempt[]): Promise<void> {
  const lane = async (): Promise<void> => {
    for (let key = due.shift(); key !== undefined && !deps.stopping.aborted; key = due.shift()) {
      await attemptDelivery(deps, recorder, key).catch((error: unknown) => {
        deps.warn('an attempt was not recorded and is made again', { ...key, error });
      });
    }
  };
  await Promise.all([lane(), lane()]);
}

/**
 * The first call sets the pause before the first probe; every later one that finds it due makes the first attempt of the oldest
 * delivery that waits. When that succeeds the others go out; when it fails the next probe waits twice as long. Returns how many
 * probes were scheduled.
 */
async function probeIfDue(deps: WebhookDeps, recorder: Recorder, input: RetryStart, receiver: Receiver): Promise<number> {
  if (!receiver.enabled) return await release(deps, input);
  if (input.probes === 0) return await schedule(deps, input, 1);
  if ((receiver.probeInMs ?? 0) > 0) return input.probes;
  const lease = await leaseProbe(deps, input);
  if (lease.kind === 'none') return await release(deps, input);
  if (lease.kind === 'busy') return await schedule(deps, input, input.probes);
  await deliverFirst(deps, recorder, lease.delivery);
  return await schedule(deps, input, input.probes + 1);
}

async function leaseProbe(deps: WebhookDeps, input: RetryStart): Promise<ProbeLease> {
  return await deps.database.transaction(async (sql) => {
    const lease = await leaseOldest(sql, input, deps.limits.leaseMs);
    if (lease.kind !== 'leased') return lease;
    const [delivery] = await freezeChatBodies(sql, [lease.delivery]);
    return delivery === undefined ? lease : { kind: 'leased', delivery };
  });
}

async function schedule(deps: WebhookDeps, input: RetryStart, round: number): Promise<number> {
  await scheduleProbe(deps.database, input, probeDelayMs(round, deps.limits.probeMs, deps.limits.probeMostMs));
  return round;
}

/** With nothing to probe with, the next delivery is the probe: one more failure and the endpoint cools again. */
async function release(deps: WebhookDeps, input: RetryStart): Promise<number> {
  await releaseEndpoint(deps.database, input);
  deps.wake.wake();
  return 0;
}
