import type { Database } from '../../../db/database.ts';
import { isStatementTimeout } from '../../../db/outage.ts';
import { gathered } from '../../../platform/pacing/gather.ts';
import type { TenantSnapshot } from '../../identity/use/tenantSnapshots.ts';
import { isServiceError, ServiceError } from '../../kernel/errors.ts';
import type { ResourceUrl } from '../../kernel/hosts/host.ts';
import type { Metrics } from '../../kernel/metrics.ts';
import { requireOwned, requireResource, slugOf } from '../../kernel/pages/resource.ts';
import { canonicalPath } from '../../kernel/pages/scope.ts';
import type { CrossingKind, ObservedAgent } from '../../kernel/terms.ts';
import type { Asked } from '../../pricing/rules/compiled.ts';
import { NOBODY } from '../../pricing/rules/compiled.ts';
import { NO_CREDITS } from '../../pricing/rules/pricing.ts';
import type { CreditsBook } from '../../quotes/use/credits/book.ts';
import { presentPricing } from '../../quotes/use/issue.ts';
import { isFalse, isOwnProbe, OTHER } from '../rules/agent.ts';
import type { ObservationGroup, ObservationRow } from '../store/observations.ts';
import { insertObservations } from '../store/observations.ts';
import type { SeenAgent } from './agentLabels.ts';
import { labelAgents } from './agentLabels.ts';

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

const PAST_MS = 7 * 24 * 3_600_000;
const FUTURE_MS = 5 * 60_000;
const MAX_TEXT_CHARS = 2_048;

/**
 * Opens the group commit of observations: at most two statements at a time, each writes all that came in meanwhile, without a
 * timer. A report that cannot be written fails its own request alone. At most 20,000 rows wait or are on their way, half of them of one site.
 */
export function openObserver(options: {
  readonly database: Database;
  readonly clock: () => number;
  readonly flushers?: number;
  readonly maxQueuedRows?: number;
  readonly metrics?: Metrics;
  /** What is known of authors behind credits APIs; nothing unless given. */
  readonly credits?: Pick<CreditsBook, 'find'>;
}): Observer {
  const { database, clock, flushers = 2, maxQueuedRows = 20_000 } = options;
  const find = options.credits?.find ?? (() => undefined);
  const pending = new Set<Promise<void>>();
  let queuedRows = 0;
  const queuedOf = new Map<string, number>();
  const queue = (tenantId: string, rows: number): void => {
    queuedRows += rows;
    const ofSite = (queuedOf.get(tenantId) ?? 0) + rows;
    if (ofSite === 0) queuedOf.delete(tenantId);
    else queuedOf.set(tenantId, ofSite);
  };
  const write = gathered(writeGroups, {
    limit: maxQueuedRows,
    concurrency: flushers,
    isOutage: (error) => isServiceError(error) || isStatementTimeout(error), // too slow together is not quicker one by one
  });
  const writeOne = async (tenantId: string, observed: readonly Observed[]): Promise<void> => {
    queue(tenantId, observed.length);
    try {
      const seen = observed.map(({ agent, row }): SeenAgent => ({ tenantId, agent, atMs: row.atMs }));
      const labels = await labelAgents(database, seen);
      await write(database, { tenantId, rows: observed.map(({ row }, index) => ({ ...row, agent: labels[index] ?? OTHER })) });
    } catch (error) {
      throw refusalOf(error);
    } finally {
      queue(tenantId, -observed.length);
    }
  };

  return {
    record: async (tenant, reports) => {
      const nowMs = clock();
      const pages = new Map<string, ResourceUrl>();
      const rows = reports
        .map((report, index) => placed(reports.length > 1 ? index : null, () => rowOf({ tenant, find, nowMs, pages }, report)))
        .filter(({ row }) => !isOwnProbe(row));
      if (rows.length === 0) return;
      const ofSite = (queuedOf.get(tenant.tenantId) ?? 0) + rows.length;
      if (queuedRows + rows.length > maxQueuedRows || ofSite > Math.ceil(maxQueuedRows / 2)) {
        throw new ServiceError('overloaded', 'too many reports are waiting to be written', { retryAfterSeconds: 1 });
      }
      const written = writeOne(tenant.tenantId, rows).finally(() => pending.delete(written));
      pending.add(written);
      await written;
      options.metrics?.count('svc.observe.accepted', rows.length);
    },
    drain: async () => {
      while (pending.size > 0) await Promise.allSettled(pending);
    },
  };
}

async function writeGroups(database: Database, groups: readonly ObservationGroup[]): Promise<readonly undefined[]> {
  await insertObservations(database, groups);
  return [];
}

/** Data that Postgres refuses (class 22, such as a NUL in text) is the caller's; anything else is a defect. */
function refusalOf(error: unknown): unknown {
  const { code } = error as { code?: unknown };
  const isData = typeof code === 'string' && code.startsWith('22');
  return isData ? new ServiceError('invalid_parameter', 'a report contains text that cannot be stored') : error;
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

/** What the reports of one request are read with; `pages` keeps those that were read, since a gate often names a page again. */
interface Reading {
  readonly tenant: TenantSnapshot;
  readonly find: CreditsBook['find'];
  readonly nowMs: number;
  readonly pages: Map<string, ResourceUrl>;
}

/** A report as stored, but for the label of its agent. */
interface Observed {
  readonly agent: ObservedAgent;
  readonly row: Omit<ObservationRow, 'agent'>;
}

function rowOf({ tenant, find, nowMs, pages }: Reading, report: ObservationReport): Observed {
  const resource = pages.get(report.resource) ?? requireResource(report.resource);
  pages.set(report.resource, resource);
  requireOwned(tenant.hosts, resource.host);
  const agent = report.agent ?? {};
  const slug = slugOf(presentPricing(tenant).articlePrefixes, resource.path);
  const isGiven = report.verdict === 'served-free' && report.classifiedAs === 'agent';
  const row = {
    host: resource.host,
    slug: report.slug ?? slug ?? '',
    reason: isGiven && isUnnamed({ tenant, find, nowMs }, { path: resource.path, slug }) ? NO_CREDITS : null,
    verdict: report.verdict,
    classifiedAs: report.classifiedAs,
    kind: report.kind ?? null,
    micro: report.priceMicro ?? null,
    agentUa: cut(agent.ua),
    classifyReason: cut(agent.classifyReason),
    verified: agent.verified ?? null,
    verifiedAgent: cut(agent.verifiedAgent),
    sigInvalid: isFalse(agent) ?? null,
    atMs: Math.min(Math.max(report.at ?? nowMs, nowMs - PAST_MS), nowMs + FUTURE_MS),
  };
  return { agent, row };
}

/**
 * True when a page is free because nobody is named who could be paid, by the pricing of this site and what memory knows of its imported pages and its credits API:
 * no report asks anybody.
 */
function isUnnamed({ tenant, find, nowMs }: Omit<Reading, 'pages'>, { path, slug }: Pick<Asked, 'path' | 'slug'>): boolean {
  if (slug === null || tenant.status === 'pending') return false;
  try {
    const page = { path: canonicalPath(path), slug };
    const price = presentPricing(tenant).resolve({ ...NOBODY, ...page, kind: 'read', atMs: nowMs });
    if (price.kind === 'refused') return false;
    if (price.kind === 'free') return price.because === NO_CREDITS;
    if (price.kind !== 'looked_up' || price.otherwise) return false;
    return find({ tenantId: tenant.tenantId, ...page, ...price.source }) === 'none';
  } catch (error) {
    if (isServiceError(error)) return false; // inline credits that cannot be read name somebody
    throw error;
  }
}

function cut(text: string | undefined): string | null {
  return text === undefined ? null : text.slice(0, MAX_TEXT_CHARS);
}
