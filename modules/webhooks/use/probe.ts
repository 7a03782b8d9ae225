import { bucketOf } from '../rules/endpoint.ts';
import type { ProbeOutcome, RecoveryStart } from '../rules/recovery.ts';
import { probeDelayMs } from '../rules/recovery.ts';
import type { ProbeLease } from '../store/cooling.ts';
import { leaseOldest, readCooling, releaseEndpoint, scheduleProbe } from '../store/cooling.ts';
import { freezeChatBodies } from './chatBodies.ts';
import { deliverFirst } from './deliverFirst.ts';
import type { WebhookDeps } from './deps.ts';
import type { Recorder } from './recorder.ts';

/**
 * One step of a cooling endpoint's recovery (safety 21), for its workflow: round 0 sets the pause before the first probe, every later
 * one makes the first attempt of the oldest delivery that waits. When that succeeds the others go out; when it fails it has used
 * its attempt, goes on under its own workflow, and the next probe waits twice as long. A step that is made again, because a
 * worker died, probes with whatever waits then: an attempt is recorded once, whoever made it.
 */
export async function probeEndpoint(deps: WebhookDeps, recorder: Recorder, input: RecoveryStart): Promise<ProbeOutcome> {
  const state = await readCooling(deps.database, input);
  if (state === null || !state.cools) return { kind: 'ended', why: 'not_cooling' };
  if (!state.enabled) return await release(deps, input, 'disabled');
  if (input.round === 0) return await pause(deps, input, 1);
  const lease = await leaseProbe(deps, input);
  if (lease.kind === 'none') {
    const now = await readCooling(deps.database, input); // another attempt's 410 may have come first
    return await release(deps, input, now?.enabled === false ? 'disabled' : 'nothing_waits');
  }
  if (lease.kind === 'busy') return { kind: 'cooling', round: input.round, waitMs: deps.limits.probeMs };
  await deliverFirst(deps, recorder, lease.delivery);
  const after = await readCooling(deps.database, input);
  if (after?.cools !== true) return { kind: 'ended', why: 'recovered' };
  return after.enabled ? await pause(deps, input, input.round + 1) : await release(deps, input, 'disabled');
}

async function leaseProbe(deps: WebhookDeps, input: RecoveryStart): Promise<ProbeLease> {
  return await deps.database.transaction(async (sql) => {
    const lease = await leaseOldest(sql, input, bucketOf(input.endpointId), deps.limits.leaseMs);
    if (lease.kind !== 'leased') return lease;
    const [delivery] = await freezeChatBodies(sql, [lease.delivery]);
    return delivery === undefined ? lease : { kind: 'leased', delivery };
  });
}

async function pause(deps: WebhookDeps, input: RecoveryStart, round: number): Promise<ProbeOutcome> {
  const waitMs = probeDelayMs(round, deps.limits.probeMs, deps.limits.probeMostMs);
  await scheduleProbe(deps.database, input, waitMs);
  return { kind: 'cooling', round, waitMs };
}

/** With nothing to probe with, the next delivery is the probe: one more failure and the endpoint cools again. */
async function release(deps: WebhookDeps, input: RecoveryStart, why: 'disabled' | 'nothing_waits'): Promise<ProbeOutcome> {
  await releaseEndpoint(deps.database, input);
  deps.wake.wake();
  return { kind: 'ended', why };
}
