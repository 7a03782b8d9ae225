import type { Database } from '../../../db/database.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { SecretBox } from '../../../platform/tokens/secretBox.ts';
import type { Metrics } from '../../kernel/metrics.ts';
import type { EndpointRef } from '../store/receiver.ts';
import type { Notices } from './notices.ts';
import type { Wake } from './wake.ts';

/** The workflows of receivers that do not answer. */
export interface RetryStarter {
  /** Says that something is due at an endpoint in `inMs`: its workflow starts, or looks then at the latest. Again: changes nothing. */
  due(endpoint: EndpointRef, inMs: number): Promise<void>;
}

/** Figures of delivery; the defaults are `WEBHOOK_LIMITS`. */
export interface WebhookLimits {
  /** One request altogether (15 s). */
  readonly requestTimeoutMs: number;
  /** How long a lease outlives a dead worker; more than a request may take. */
  readonly leaseMs: number;
  /** One pass of the dispatching activity; at most 5 minutes (safety 21). */
  readonly passMs: number;
  /** First attempts in flight in one shard. */
  readonly maxInFlight: number;
  /** How often a shard looks without being woken. */
  readonly pollMs: number;
  /** How often it looks for endpoints whose workflow is missing, and how late their next attempt is then. */
  readonly overdueMs: number;
  /** How long a later attempt waits for a slot. */
  readonly slotWaitMs: number;
  /** The pause before the first probe of a cooling endpoint; it doubles up to `probeMostMs`. */
  readonly probeMs: number;
  readonly probeMostMs: number;
}

/** The limits in production. */
export const WEBHOOK_LIMITS: WebhookLimits = {
  requestTimeoutMs: 15_000,
  leaseMs: 25_000,
  passMs: 270_000,
  maxInFlight: 256,
  pollMs: 1_000,
  overdueMs: 60_000,
  slotWaitMs: 5_000,
  probeMs: 30_000,
  probeMostMs: 900_000,
};

/** What the webhook services work with. */
export interface WebhookDeps {
  readonly database: Database;
  readonly outbound: Outbound;
  /** The client for chats: one without a loopback override, whatever the other has. */
  readonly chatOutbound: Outbound;
  readonly secretBox: SecretBox;
  readonly retries: RetryStarter;
  readonly wake: Wake;
  readonly notices: Notices;
  /** How many `dispatchWebhooks` workflows share the endpoints. */
  readonly shards: number;
  /** Window of coalescing, LIMITS.eventWindowMs. */
  readonly windowMs: number;
  readonly limits: WebhookLimits;
  /** Aborted when the worker stops: passes end once what is in flight is recorded. */
  readonly stopping: AbortSignal;
  readonly metrics?: Metrics;
  /** Says what an operator should know; never a secret. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}
