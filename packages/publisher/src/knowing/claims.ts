/** Whether who calls himself Googlebot is Google: by the addresses that operators of robots publish, and by the names of addresses where they publish none. */
import { CLAIMS, SHIPPED } from '../core/addresses.generated.ts';
import { Lru } from '../core/lru.ts';
import type { Ranges } from '../core/ranges.ts';
import { createRanges, digitsOf } from '../core/ranges.ts';
import type { Whence } from '../core/whence.ts';
import type { Reverse } from './reverse.ts';
import { openReverse } from './reverse.ts';

/** Lists of addresses as the service has them. */
export interface PublishedAddresses {
  /** Of what `ranges` has. */
  readonly version: number;
  /** When each list was last found to say this, epoch milliseconds. */
  readonly checkedAt: Readonly<Record<string, number>>;
  /** Absent where the version is the one that was named in the question. */
  readonly ranges?: Readonly<Record<string, readonly string[]>>;
}

/** What a name in a User-Agent is worth. `unknown`: nobody can say, or nobody can say yet. */
export type Worth = 'genuine' | 'false' | 'unknown';

/** Judges names. */
export interface Claims {
  /** What the names are worth that are known here; `unknown` for a User-Agent without any. Never waits. */
  worth(userAgent: string, whence: () => Whence): Worth;
  /** Takes the service's lists over: its word wins over this release's. Throws TypeError for a range that is none. */
  learn(addresses: PublishedAddresses): void;
  /** The version of the lists that were learnt; undefined for those of this release. */
  version(): number | undefined;
  /** The questions to name servers under way. */
  settled(): Promise<void>;
}

type Claim = (typeof CLAIMS)[number];

interface List {
  readonly checkedAt: number;
  readonly ranges: Ranges;
}

const MAX_UA_CHARS = 512;
const REMEMBERED = 5_000;
const DAY_MS = 86_400_000;
/**
 * How long after a list was read it says whom it does not name: where name servers tell as well, until it missed a reading or two; where
 * they do not, as long as operators move more slowly. A clock that is wrong by more makes it old, too.
 */
const FRESH_MS = { besideNames: 2 * DAY_MS, alone: 14 * DAY_MS };

/** Opens it with the lists of this release. */
export function openClaims(deps: { readonly now: () => number; readonly reverse?: Reverse }): Claims {
  const { now, reverse = openReverse(deps) } = deps;
  const lists = new Map<string, List>();
  const learnt = new Map<string, Ranges>();
  const claimsOf = new Lru<readonly Claim[]>(REMEMBERED);
  let version: number | undefined;
  const listOf = (name: string): List | undefined => {
    const known = lists.get(name);
    const shipped = SHIPPED[name];
    if (known || !shipped) return known;
    const read = { checkedAt: shipped.checkedAt, ranges: createRanges(shipped.ranges.split(',')) };
    lists.set(name, read);
    return read;
  };
  const named = (userAgent: string): readonly Claim[] => {
    const ua = userAgent.slice(0, MAX_UA_CHARS);
    const kept = claimsOf.get(ua);
    if (kept) return kept;
    const found = CLAIMS.filter(({ names }) => names.test(ua.toLowerCase()));
    claimsOf.set(ua, found);
    return found;
  };
  const isOf = (claim: Claim, address: string): boolean | null => {
    const own = claim.lists.map(listOf);
    const digits = digitsOf(address) ?? '';
    if (own.some((list) => list?.ranges.has(digits))) return true;
    // Whoever comes from an address that is newer than the list pays once: what name servers say of it wins as soon as it is known.
    const byName = claim.hosts && reverse.belongs(address, claim.hosts);
    if (byName === true) return true;
    const freshMs = claim.hosts ? FRESH_MS.besideNames : FRESH_MS.alone;
    const isComplete = own.length > 0 && own.every((list) => list !== undefined && Math.abs(now() - list.checkedAt) < freshMs);
    return isComplete ? false : byName;
  };
  const judge = (claim: Claim, addresses: Whence): boolean | null => {
    const found = addresses.map((address) => isOf(claim, address));
    return found.includes(true) ? true : found.length === 0 || found.includes(null) ? null : false;
  };
  return {
    worth: (userAgent, whence) => {
      const claims = named(userAgent);
      if (claims.length === 0) return 'unknown';
      const addresses = whence();
      const found = claims.map((claim) => judge(claim, addresses));
      // A robot may say that it is like another one; a false name among true ones is still who it says.
      return found.includes(true) ? 'genuine' : found.includes(false) ? 'false' : 'unknown';
    },
    learn: ({ version: newest, checkedAt, ranges = {} }) => {
      for (const [name, texts] of Object.entries(ranges)) learnt.set(name, createRanges(texts));
      version = newest;
      for (const [name, own] of learnt) lists.set(name, { ranges: own, checkedAt: checkedAt[name] ?? 0 });
    },
    version: () => version,
    settled: () => reverse.settled(),
  };
}
