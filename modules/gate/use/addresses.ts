import type { Database } from '../../../db/database.ts';
import { keepsHalf, readRanges } from '../../../platform/addressRanges.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { ADDRESS_LISTS } from '../rules/addresses.generated.ts';
import { ageAddressList, findAddressLists, listAddressLists, storeAddressList } from '../store/addressLists.ts';

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
/** Operators move their lists. */
const MAX_REDIRECTS = 3;
/**
 * How old a list is made that no longer names half of what it named: no gate believes it about whom it does not name (`FRESH_MS` of the package). The
 * new one counts when it has said so for as long again.
 */
const DOUBT_MS = 14 * 86_400_000;

/**
 * Reads every list once, one after the other, and keeps what it holds. A list that cannot be fetched within ten seconds and 512 KiB, or whose
 * content cannot be right, keeps its last copy. One that lost more than half of its ranges does so, too, and counts as old until it has said
 * so for 14 days. Throws when `signal` aborts or the database is away; a second call reads all again.
 */
export async function refreshAddresses(
  deps: AddressDeps,
  signal?: AbortSignal,
  lists: ReadonlyMap<string, string> = ADDRESS_LISTS,
): Promise<AddressRefresh> {
  const failed = new Map<string, string>();
  const kept = await findAddressLists(deps.database);
  let [read, changed] = [0, 0];
  for (const [name, url] of lists) {
    signal?.throwIfAborted();
    const at = new Date(deps.clock());
    const said = await readList(deps.outbound, url, signal);
    if (typeof said === 'string') {
      failed.set(name, said);
      continue;
    }
    const before = kept.get(name);
    const doubtfulMs = at.getTime() - DOUBT_MS;
    if (before && !keepsHalf(before.ranges, said) && before.checkedAt.getTime() > doubtfulMs - DOUBT_MS) {
      await ageAddressList(deps.database, name, new Date(doubtfulMs));
      failed.set(name, 'lost more than half of its ranges');
      continue;
    }
    read += 1;
    if (await storeAddressList(deps.database, name, said, at)) changed += 1;
  }
  if (failed.size > 0)
    deps.warn('addresses of robots were not read; the last copies hold', { lists: Object.fromEntries(failed) });
  return { read, changed, failed: [...failed.keys()] };
}

/**
 * What the list at an address says (CIDR); a word for why, where it cannot be told: not within ten seconds and 512 KiB, or no list. Every redirect passes the same
 * door, and none gets more time. Throws when `stopping` aborts.
 */
export async function readList(
  outbound: Pick<Outbound, 'send'>,
  first: string,
  stopping?: AbortSignal,
): Promise<readonly string[] | string> {
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(stopping ? [stopping] : [])]);
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await outbound.send({ url, maxBodyBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal });
    if (!answer.ok) return answer.reason;
    if (answer.status === 200) return readRanges(new TextDecoder().decode(answer.body)) ?? 'no list of addresses';
    const { location } = answer.headers;
    const next = answer.status > 300 && answer.status < 400 && location ? URL.parse(location, url) : null;
    if (!next) return `status ${answer.status}`;
    url = next.href;
  }
  return 'redirected too often';
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
  const held = await findAddressLists(database);
  return { version, checkedAt, ranges: Object.fromEntries([...held].map(([name, { ranges }]) => [name, ranges])) };
}
