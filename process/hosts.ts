import type { Client } from '@temporalio/client';
import type { Database } from '../db/database.ts';
import type { HostTimes } from '../modules/hosts/rules/challengeSchedule.ts';
import { HOST_TIMES } from '../modules/hosts/rules/challengeSchedule.ts';
import type { HostDeps, HostService } from '../modules/hosts/use/deps.ts';
import { createHostProbe } from '../modules/hosts/use/hostProbe.ts';
import { createHostWorkflows } from '../modules/hosts/use/workflows.ts';
import { createHostDns } from '../platform/outbound/hostDns.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import { createOutbound } from '../platform/outbound/outbound.ts';
import type { Log } from '../platform/telemetry/log.ts';
import type { Config } from './config.ts';
import { rerouteToSandbox, withSandboxNames } from './sandboxWeb.ts';
import { TASK_QUEUE } from './taskQueue.ts';

type HostConfig = Pick<
  Config,
  | 'outboundAllowLoopback'
  | 'outboundSandboxWeb'
  | 'publicBaseUrl'
  | 'hostChecksPerHour'
  | 'hostChecksPerHost'
  | 'hostCheckGapMs'
  | 'hostFirstCheckMs'
  | 'hostResolvers'
  | 'fleetHost'
>;

/** The one client of a process for other people's servers, as the configuration says. */
export function openOutbound(config: HostConfig): Outbound {
  const { outboundSandboxWeb } = config;
  return createOutbound({
    allowLoopback: config.outboundAllowLoopback,
    ownHosts: ownHostsOf(config),
    ...(outboundSandboxWeb === undefined ? {} : { reroute: rerouteToSandbox(outboundSandboxWeb) }),
  });
}

/** The API's side of host verification. */
export function createHostService(config: HostConfig, client: Client): HostService {
  return {
    workflows: createHostWorkflows(client, TASK_QUEUE),
    caps: { perHour: config.hostChecksPerHour, perHost: config.hostChecksPerHost, gapMs: config.hostCheckGapMs },
    times: timesOf(config),
    ownHosts: ownHostsOf(config),
  };
}

/** The worker's side of host verification. */
export function createHostDeps(config: HostConfig, database: Database, outbound: Outbound, log: Log): HostDeps {
  const { hostResolvers, outboundSandboxWeb } = config;
  const names = createHostDns(hostResolvers === undefined ? {} : { servers: hostResolvers });
  const dns = outboundSandboxWeb === undefined ? names : withSandboxNames(names, outboundSandboxWeb, outbound);
  return {
    database,
    probe: createHostProbe({ outbound, dns, fleetHost: config.fleetHost ?? null }),
    times: timesOf(config),
    looksPerHour: config.hostChecksPerHour,
    clock: Date.now,
    warn: (message, fields) => log.warn(fields, message),
  };
}

function timesOf(config: HostConfig): HostTimes {
  const [, ...laterGapsMs] = HOST_TIMES.openGapsMs;
  return { ...HOST_TIMES, openGapsMs: [config.hostFirstCheckMs, ...laterGapsMs] };
}

function ownHostsOf({ publicBaseUrl }: HostConfig): readonly string[] {
  return publicBaseUrl === undefined ? [] : [new URL(publicBaseUrl).hostname];
}
