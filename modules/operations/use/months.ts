import type { Database } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { Month } from '../../kernel/time/months.ts';
import { CLOSES_AFTER_DAYS, DETACHES_AFTER_DAYS, mayClose, mayDetach } from '../../kernel/time/months.ts';
import type { ClosedMonth, MonthCounts, Slice, SlicePlace } from '../store/months/closing.ts';
import {
  countMonth,
  listClosedMonths,
  listMonthTables,
  listTenantsOf,
  moveSlice,
  moveTransfers,
  openClosedMonth,
  readClock,
  readLockRoom,
  setAttached,
} from '../store/months/closing.ts';
import { TRIES, whileBusy } from './whileBusy.ts';

/** Payments, and transfers, that one statement moves: writers of these rows wait for it, and there are none. */
const AT_ONCE = 1_000;
const TRANSFERS_AT_ONCE = 5_000;

/** The months that were closed. */
export function reportMonths(database: Database): Promise<ClosedMonth[]> {
  return listClosedMonths(database);
}

/** What closing a month did. */
export interface MonthClosed {
  readonly month: string;
  /** Moved now. */
  readonly payments: number;
  readonly transfers: number;
  /** Payments that stay where they are written: something of them is open, or of another month. A later call takes them. */
  readonly kept: number;
}

/**
 * Moves what ended in a month out of the tables that the service writes, 1,000 payments at a time, while it runs: every reader finds each
 * payment once. Can be stopped at any moment and called again: it goes on. Throws invalid_parameter for a month that ended less than 400 days ago,
 * conflict for one that is detached, and where the server has too little room for the locks of its readers.
 */
export async function closeMonth(owner: Database, month: Month, atOnce = AT_ONCE): Promise<MonthClosed> {
  if (!mayClose(month, await readClock(owner))) {
    throw new ServiceError(
      'invalid_parameter',
      `a month may close ${CLOSES_AFTER_DAYS} days after its end: ${month.name} is younger`,
    );
  }
  await requireLockRoom(owner, month);
  await untilDone(month, TRIES, () => openClosedMonth(owner, month));
  await requireMonth(owner, month, 'attached');
  const closed = { month: month.name, payments: 0, transfers: 0, kept: 0 };
  for (const tenantId of await listTenantsOf(owner, month)) {
    let after: SlicePlace | null = null;
    do {
      const slice: Slice = await moveSlice(owner, month, { tenantId, after, limit: atOnce }).catch(writtenMeanwhile(month));
      closed.payments += slice.moved;
      closed.kept += slice.kept;
      after = slice.next;
    } while (after !== null);
  }
  for (let moved = TRANSFERS_AT_ONCE; moved === TRANSFERS_AT_ONCE; closed.transfers += moved) {
    moved = await moveTransfers(owner, month, TRANSFERS_AT_ONCE);
  }
  return closed;
}

/** A crossing that was written for a payment while it was being moved keeps its payment, by its foreign key; nothing of the slice moved. */
const writtenMeanwhile =
  ({ name }: Month) =>
  (error: { readonly code?: unknown }): never => {
    if (error.code !== '23503') throw error;
    throw new ServiceError('conflict', `a payment of ${name} was written at the same moment: run it again`);
  };

/** What a month's tables hold beside what its record says they hold. */
export interface MonthChecked {
  readonly month: string;
  readonly isRight: boolean;
  readonly held: MonthCounts;
  readonly recorded: MonthCounts;
}

/** Counts a month, attached or not. Throws not_found for one that was not closed, conflict where tables of it are not there. */
export async function checkMonth(database: Database, month: Month): Promise<MonthChecked> {
  const { payments, crossings, legs, transfers, micro } = await requireMonth(database, month);
  const recorded = { payments, crossings, legs, transfers, micro };
  const tables = await listMonthTables(database, month);
  if (tables.length < 5)
    throw new ServiceError('conflict', `of ${month.name} only these tables are there: ${tables.join(', ') || 'none'}`);
  const held = await countMonth(database, month);
  const isRight = (Object.keys(recorded) as (keyof MonthCounts)[]).every((key) => held[key] === recorded[key]);
  return { month: month.name, isRight, held, recorded };
}

/**
 * Takes a month that no plan reads out of every list; its five tables stay in the schema `archive`, to be dumped, moved or dropped. Throws
 * invalid_parameter for a younger one, not_found, and conflict for one that is detached, does not hold what it should, or is read all the time.
 */
export async function detachMonth(owner: Database, month: Month, tries = TRIES): Promise<MonthChecked> {
  if (!mayDetach(month, await readClock(owner))) {
    throw new ServiceError(
      'invalid_parameter',
      `the longest plan reads ${month.name}: a month may go ${DETACHES_AFTER_DAYS} days after its end`,
    );
  }
  return change(owner, month, { isAttached: false, tries });
}

/** Attaches a detached month again, if its content is unchanged. Throws not_found, and conflict as `detachMonth`. */
export function attachMonth(owner: Database, month: Month, tries = TRIES): Promise<MonthChecked> {
  return change(owner, month, { isAttached: true, tries });
}

async function change(
  owner: Database,
  month: Month,
  { isAttached, tries }: { readonly isAttached: boolean; readonly tries: number },
): Promise<MonthChecked> {
  await requireMonth(owner, month, isAttached ? 'detached' : 'attached');
  const checked = await checkMonth(owner, month);
  if (!checked.isRight) throw new ServiceError('conflict', `${month.name} does not hold what its record says: see months check`);
  await untilDone(month, tries, () => setAttached(owner, month, isAttached));
  return checked;
}

async function untilDone(month: Month, tries: number, work: () => Promise<'done' | 'busy'>): Promise<void> {
  if ((await whileBusy(work, tries)) !== 'busy') return;
  throw new ServiceError('conflict', `${month.name} is read all the time: run it again later`);
}

async function requireLockRoom(owner: Database, { name }: Month): Promise<void> {
  const { monthLocks, months, room } = await readLockRoom(owner);
  const isNew = (await listClosedMonths(owner)).every(({ month }) => month !== name);
  const wanted = (months + 1) * monthLocks;
  if (!isNew || wanted <= room) return;
  throw new ServiceError(
    'conflict',
    `with one month more a reader may take ${wanted} locks: set max_locks_per_transaction of Postgres to at least that (${room} now)`,
  );
}

async function requireMonth(database: Database, { name }: Month, state?: ClosedMonth['state']): Promise<ClosedMonth> {
  const found = (await listClosedMonths(database)).find(({ month }) => month === name);
  if (!found) throw new ServiceError('not_found', `${name} was not closed`);
  if (state && found.state !== state) throw new ServiceError('conflict', `${name} is ${found.state}`);
  return found;
}
