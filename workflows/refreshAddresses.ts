import { proxyActivities } from '@temporalio/workflow';
import type { AddressActivities } from '../activities/addresses.ts';
import { keepStatus } from './status.ts';

const { readAddressLists } = proxyActivities<AddressActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '20s',
  retry: { initialInterval: '1m', backoffCoefficient: 2, maximumAttempts: 3 },
  summary: 'addresses that operators of robots publish',
});

/** What a reading of the lists did. */
export interface AddressRefreshResult {
  readonly read: number;
  readonly changed: number;
  /** Lists that keep their last copy. */
  readonly failed: number;
}

/** Reads the addresses that operators of robots publish. Run by the schedule `refreshAddresses`. */
export async function refreshAddresses(): Promise<AddressRefreshResult> {
  const told = keepStatus({ state: 'reads lists' });
  const { failed, ...counts } = await readAddressLists();
  told.tell({ state: 'done', ...counts, failed: failed.join(', ') });
  return { ...counts, failed: failed.length };
}
