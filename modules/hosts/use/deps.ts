import type { Database } from '../../../db/database.ts';
import type { Metrics } from '../../kernel/metrics.ts';
import type { CheckReason } from '../rules/challenge.ts';
import type { HostTimes } from '../rules/challengeSchedule.ts';
import type { HostCaps } from '../store/caps.ts';
import type { HostProbe } from './hostProbe.ts';

/** A host of a tenant, whose workflow is `host:<tenantId>:<host>`. */
export interface HostKey {
  readonly tenantId: string;
  readonly host: string;
}

/** What a check came to. */
export type CheckOutcome = { readonly verified: true } | { readonly verified: false; readonly reason: CheckReason };

/** The workflow of a host as the API sees it; starts it when it does not run. Both reject with workflows_unavailable. */
export interface HostWorkflows {
  /** Tells the workflow that a challenge was opened; resolves when the site was looked at. */
  opened(key: HostKey): Promise<void>;
  /** Has the host checked now. */
  check(key: HostKey): Promise<CheckOutcome>;
}

/** What the API's side of host verification runs with. */
export interface HostService {
  readonly workflows: HostWorkflows;
  readonly caps: HostCaps;
  readonly times: HostTimes;
  /** Names that lead to ourselves: nobody proves them. */
  readonly ownHosts: readonly string[];
}

/** What the worker's side runs with. */
export interface HostDeps {
  readonly database: Database;
  readonly probe: HostProbe;
  readonly times: HostTimes;
  /** Looks at sites an account and hour when challenges are opened. */
  readonly looksPerHour: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly metrics?: Metrics;
  /** Says what an operator should know; never a token. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}
