import type { Database, Sql } from '../../../db/database.ts';
import { retryConflicts } from '../../../db/database.ts';
import type { Plan } from '../../kernel/access/key.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import type { ReadableWindow, Span } from '../../kernel/time/window.ts';
import { previousWindow, readableWindow } from '../../kernel/time/window.ts';

/** What reports run with. */
export interface ReportDeps {
  readonly database: Database;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Whose report it is: the site of the key, and the plan that says how far back it may read. */
export interface ReportSite {
  readonly tenantId: string;
  readonly hosts: readonly string[];
  readonly plan: Plan | null;
}

/** A window as asked for; null: no such end. Epoch milliseconds. */
export interface AskedWindow {
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** What the window is compared with; left out: the one of the same length right before. */
  readonly before?: Span;
  /** True: all of it, whatever the plan reads by now; the plan was asked when leave to read it was given. Left out: as far as the plan reads now. */
  readonly isGranted?: boolean;
}

/** What every report with a list takes. */
export interface ReportQuery extends AskedWindow {
  readonly compare: boolean;
  /** The list holds what is older than this; null: the newest. In an audit it may count rows of that millisecond, too (`cursorFromNumber`). */
  readonly cursorMs: number | null;
  readonly limit: number;
  readonly host: string | null;
  readonly kind: CrossingKind | null;
}

/** What every report says of itself. */
export interface ReportFrame {
  readonly generatedAtMs: number;
  readonly window: ReadableWindow;
}

/** One group of a breakdown of crossings; micro-USDC. */
export interface Totals {
  readonly events: number;
  readonly reads: number;
  readonly citations: number;
  readonly grossMicro: bigint;
}

/** What a report says of itself: when it is made, and what its plan lets read of the window. */
export function frameOf(deps: ReportDeps, site: ReportSite, asked: AskedWindow): ReportFrame {
  const generatedAtMs = deps.clock();
  const { fromMs, toMs, isGranted = false } = asked;
  if (isGranted && fromMs !== null) return { generatedAtMs, window: { fromMs, toMs, clampedToMs: null } };
  return { generatedAtMs, window: readableWindow(asked, site.plan, generatedAtMs) };
}

/** The window that a report is compared with, as far as the plan lets read. */
export function comparedWindow(
  { before }: AskedWindow,
  { window, generatedAtMs }: ReportFrame,
  { plan }: ReportSite,
): ReadableWindow {
  return before ? readableWindow(before, plan, generatedAtMs) : previousWindow(window, plan, generatedAtMs);
}

type ReportWork<T> = (sql: Sql, frame: ReportFrame) => Promise<T>;

/** Runs a report on one snapshot of the database (safety 23). Throws database_unavailable. */
export function readReport<T>(deps: ReportDeps, site: ReportSite, asked: AskedWindow, work: ReportWork<T>): Promise<T> {
  const frame = frameOf(deps, site, asked);
  return deps.database.transaction((sql) => work(sql, frame), 'repeatable read read only');
}

/**
 * The same for work that asks one statement as a rule, which is a snapshot of its own and needs no transaction around it; where it asks
 * another one, the work runs again in one.
 */
export async function readShortReport<T>(
  deps: ReportDeps,
  site: ReportSite,
  asked: AskedWindow,
  work: ReportWork<T>,
): Promise<T> {
  const frame = frameOf(deps, site, asked);
  const alone = await retryConflicts(() => askOnce(deps.database, (sql) => work(sql, frame)));
  return alone === ANOTHER ? await readReport(deps, site, asked, work) : alone;
}

/** Stands for what took more than one statement. */
const ANOTHER = Symbol('another statement');

/** What work over one statement gives, or ANOTHER when it asks a second one, which is not sent. */
async function askOnce<T>(database: Database, work: (sql: Sql) => Promise<T>): Promise<T | typeof ANOTHER> {
  let isAsked = false;
  const sql: Sql = {
    query: (...given) => {
      if (isAsked) return Promise.reject(ANOTHER);
      isAsked = true;
      return database.query(...given);
    },
  };
  return await work(sql).catch((error: unknown) => {
    if (error === ANOTHER) return ANOTHER;
    throw error;
  });
}

/** The window of a list: up to the cursor. */
export function untilCursor(window: ReadableWindow, cursorMs: number | null): ReadableWindow {
  return cursorMs === null ? window : { ...window, toMs: Math.min(cursorMs, window.toMs ?? cursorMs) };
}
