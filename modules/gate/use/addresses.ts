import type { Database } from '../../../db/database.ts';
import { readRanges } from '../../../platform/addressRanges.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { ADDRESS_LISTS } from '../rules/addresses.generated.ts';
import { findRanges, listAddressLists, storeAddressList } from '../store/addressLists.ts';

/** Addresses of robots, as their operators publish them. */
export interface PublishedAddresses {
  /** When a list last changed, epoch milliseconds; 0: none was read yet. */
  readonly version: number;
  /** When the operator of each list was last seen to publish it, epoch milliseconds. */
  readonly checkedAt: Readonly<Record<string, number>>;
  /** What each list holds (CIDR). */
  readonly ranges?: Readonly<Record<string, readonly string[]>>;
}

/** What reading the lists takes. */
export interface AddressDeps {
  readonly database: Pick<Database, 'query'>;
  readonly outbound: Pick<Outbound, 'send'>;
  readonly clock: () => number;
  readonly warn: (message: string, fields: object) => void;
}

/** What came of reading all lists. */
export interface AddressRefresh {
  readonly read: number;
  readonly changed: number;
  /** Names of lists that keep their last copy. */
  readonly failed: readonly string[];
}

const MAX_BYTES = 512 * 1_024;
const TIMEOUT_MS = 10_000;

/**
 * Reads every list once, one after the other, and keeps what it holds. A list that cannot be fetched within ten seconds and 512 KiB, or whose
 * content cannot be right, keeps its last copy. Throws when `signal` aborts or the database is away; a second call reads all again.
 */
export async function refreshAddresses(
  deps: AddressDeps,
  signal?: AbortSignal,
  lists: ReadonlyMap<string, string> = ADDRESS_LISTS,
): Promise<AddressRefresh> {
  const failed = new Map<string, string>();
  let [read, changed] = [0, 0];
  for (const [name, url] of lists) {
    signal?.throwIfAborted();
    const at = new Date(deps.clock());
    const answer = await deps.outbound.send({
      url,
      maxBodyBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
      ...(signal ? { signal } : {}),
    });
    const ranges = answer.ok && answer.status === 200 ? readRanges(new TextDecoder().decode(answer.body)) : null;
    if (ranges === null) {
      failed.set(name, !answer.ok ? answer.reason : answer.status === 200 ? 'no list of addresses' : `status ${answer.status}`);
      continue;
    }
    read += 1;
    if (await storeAddressList(deps.database, name, ranges, at)) changed += 1;
  }
  if (failed.size > 0)
    deps.warn('addresses of robots were not read; the last copies hold', { lists: Object.fromEntries(failed) });
  return { read, changed, failed: [...failed.keys()] };
}

/** The lists as they were last read; what they hold is left out where `known` is their version. Throws database_unavailable. */
export async function publishedAddresses(
  { database }: Pick<AddressDeps, 'database'>,
  known: number,
): Promise<PublishedAddresses> {
  const lists = await listAddressLists(database);
  const version = Math.max(0, ...lists.map(({ changedAt }) => changedAt.getTime()));
  const checkedAt = Object.fromEntries(lists.map((list) => [list.name, list.checkedAt.getTime()]));
  if (known === version) return { version, checkedAt };
  return { version, checkedAt, ranges: Object.fromEntries(await findRanges(database)) };
}
