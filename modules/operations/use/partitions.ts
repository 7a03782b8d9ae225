import type { Database } from '../../../db/database.ts';
import type { DayPartition } from '../../../db/partitions.ts';
import { dropDayPartition, firstKeptDay, listDayPartitions } from '../../../db/partitions.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { TRIES, whileBusy } from './whileBusy.ts';

/** The days of observations. */
export interface PartitionReport {
  /** Days before it may be dropped: older than the longest plan reads, and a margin (safety 22). */
  readonly firstKeptDay: string;
  readonly partitions: readonly DayPartition[];
}

/** Every day of observations that has a partition, the oldest first. */
export async function reportPartitions(database: Database): Promise<PartitionReport> {
  return { firstKeptDay: await firstKeptDay(database), partitions: await listDayPartitions(database) };
}

/** The days before `before` (YYYY-MM-DD). Throws invalid_parameter when some of these must stay. */
export async function planDrop(database: Database, before: string): Promise<readonly DayPartition[]> {
  const { firstKeptDay: limit, partitions } = await reportPartitions(database);
  if (before > limit) {
    throw new ServiceError('invalid_parameter', `the longest plan keeps its observations: --before must be ${limit} or earlier`);
  }
  return partitions.filter(({ day }) => day < before);
}

/**
 * Drops days of observations, one after the other, each in a database transaction of its own that lets writers pass; returns the
 * names of those that it dropped. Again: nothing. Throws conflict when a day stays in use; the ones before it are gone then.
 */
export async function dropPartitions(owner: Database, planned: readonly DayPartition[], tries = TRIES): Promise<string[]> {
  const dropped: string[] = [];
  for (const partition of planned) {
    const outcome = await whileBusy(() => dropDayPartition(owner, partition), tries);
    if (outcome === 'busy') {
      const text = `${partition.name} is in use all the time; ${dropped.length} were dropped before it: run it again later`;
      throw new ServiceError('conflict', text);
    }
    if (outcome === 'dropped') dropped.push(partition.name);
  }
  return dropped;
}
