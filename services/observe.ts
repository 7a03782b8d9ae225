import type { Database } from '../db/database.ts';
import type { ObservationGroup, ObservationRow } from '../db/observations.ts';
import { insertObservations } from '../db/observations.ts';
import { agentLabel } from '../domain/agent.ts';
import { isServiceError, ServiceError } from '../domain/errors.ts';
import type { ResourceUrl } from '../domain/host.ts';
import type { Metrics } from '../domain/metrics.ts';
import { requireOwned, requireResource, slugOf } from '../domain/resource.ts';
import type { CrossingKind, ObservedAgent } from '../domain/terms.ts';
import { atDatabase } from './outage.ts';
import { presentPricing } from './quotes.ts';
import type { TenantSnapshot } from './snapshots.ts';

/** One report of a publisher's gate, of the right shape. */
export interface ObservationReport {
  readonly resource: string;
  readonly slug?: string;
  readonly verdict: 'served-free' | 'agent-reread' | 'denied' | 'blocked' | 'unservable';
  readonly classifiedAs: 'human' | 'agent';
  readonly kind?: CrossingKind;
  readonly priceMicro?: number;
  /** Epoch milliseconds. */
  readonly at?: number;
  readonly agent?: ObservedAgent;
}

/** Writes reports, many requests at a time. */
export interface Observer {
  /**
   * Resolves when the reports are committed. Throws resource_not_owned (403), invalid_parameter (400) for text that cannot be
   * stored, overloaded and database_unavailable (503). All of a request's reports are written, or none.
   */
  record(tenant: TenantSnapshot, reports: readonly ObservationReport[]): Promise<void>;
  /** Resolves when everything accepted so far is committed or refused. */
  drain(): Promise<void>;
}

interface Waiting {
  readonly group: ObservationGroup;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const PAST_MS = 7 * 24 * 3_600_000;
const FUTURE_MS = 5 * 60_000;
const MAX_TEXT_CHARS = 2_048;

/**
 * Opens the group commit of observations: at most two flushers, each takes all that is queued and writes it in one statement,
 * without a timer. A statement that fails is written again request by request, so that a poison report fails alone.
 */
export function openObserver(options: {
  readonly database: Database;
  readonly clock: () => number;
  readonly flushers?: number;
  readonly maxQueuedRows?: number;
  readonly metrics?: Metrics;
}): Observer {
  const { database, clock, flushers = 2, maxQueuedRows = 20_000 } = options;
  const running = new Set<Promise<void>>();
  let queue: Waiting[] = [];
  let queuedRows = 0;

  const flush = async (): Promise<void> => {
    while (queue.length > 0) {
      const taken = queue;
      queue = [];
      queuedRows = 0;
      const groups = database.groupByTenant ? Map.groupBy(taken, ({ group }) => group.tenantId).values() : [taken];
      for (const group of groups) await writeAll(database, group);
    }
  };
  const wake = (): void => {
    if (running.size >= flushers) return;
    const flusher = flush().finally(() => running.delete(flusher));
    running.add(flusher);
  };

  return {
    record: async (tenant, reports) => {
      const nowMs = clock();
      const pages = new Map<string, ResourceUrl>();
      const rows = reports.map((report, index) =>
        placed(reports.length > 1 ? index : null, () => rowOf(tenant, report, nowMs, pages)),
      );
      const group = { tenantId: tenant.tenantId, rows };
      if (queuedRows + group.rows.length > maxQueuedRows) {
        throw new ServiceError('overloaded', 'too many reports are waiting to be written', { retryAfterSeconds: 1 });
      }
      await new Promise<void>((resolve, reject) => {
        queue.push({ group, resolve, reject });
        queuedRows += group.rows.length;
        wake();
      });
      options.metrics?.count('svc.observe.accepted', group.rows.length);
    },
    drain: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

async function writeAll(database: Database, taken: readonly Waiting[]): Promise<void> {
  try {
    await atDatabase(() =>
      insertObservations(
        database,
        taken.map(({ group }) => group),
      ),
    );
    for (const { resolve } of taken) resolve();
  } catch (error) {
    const [only] = taken;
    const isOutage = error instanceof ServiceError;
    if (isOutage || taken.length === 1) {
      for (const { reject } of taken) reject(isOutage || !only ? error : refusalOf(error));
      return;
    }
    for (const one of taken) await writeAll(database, [one]);
  }
}

/** Data that Postgres refuses (class 22, such as a NUL in text) is the caller's; anything else is a defect. */
function refusalOf(error: unknown): unknown {
  const { code } = error as { code?: unknown };
  const isData = typeof code === 'string' && code.startsWith('22');
  return isData ? new ServiceError('invalid_parameter', 'a report holds text that cannot be stored') : error;
}

/** Says which report of a list it was that an error is about. */
function placed<T>(index: number | null, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (index === null || !isServiceError(error)) throw error;
    const parameter = `${index}.${error.details.parameter ?? 'resource'}`;
    throw new ServiceError(error.code, `${parameter}: ${error.message}`, { ...error.details, parameter });
  }
}

/** A report as stored; `pages` keeps those of one request that were read, since a gate often names a page again. */
function rowOf(
  tenant: TenantSnapshot,
  report: ObservationReport,
  nowMs: number,
  pages: Map<string, ResourceUrl>,
): ObservationRow {
  const resource = pages.get(report.resource) ?? requireResource(report.resource);
  pages.set(report.resource, resource);
  requireOwned(tenant.hosts, resource.host);
  const agent = report.agent ?? {};
  return {
    host: resource.host,
    slug: report.slug ?? slugOf(presentPricing(tenant).articlePrefixes, resource.path) ?? '',
    verdict: report.verdict,
    classifiedAs: report.classifiedAs,
    kind: report.kind ?? null,
    micro: report.priceMicro ?? null,
    agent: agentLabel(agent),
    agentUa: cut(agent.ua),
    classifyReason: cut(agent.classifyReason),
    verified: agent.verified ?? null,
    verifiedAgent: cut(agent.verifiedAgent),
    sigInvalid: agent.sigInvalid ?? null,
    atMs: Math.min(Math.max(report.at ?? nowMs, nowMs - PAST_MS), nowMs + FUTURE_MS),
  };
}

function cut(text: string | undefined): string | null {
  return text === undefined ? null : text.slice(0, MAX_TEXT_CHARS);
}
