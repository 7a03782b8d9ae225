/** Whose an address is by its name in the DNS: the host that it leads to has to lead back to it (forward-confirmed reverse DNS). */
import { Lru } from '../core/lru.ts';
import { digitsOf } from '../core/ranges.ts';

/** Questions to name servers; each rejects where there is no answer. */
export interface Names {
  reverse(address: string): Promise<string[]>;
  /** The addresses of a host, of both kinds. */
  addresses(host: string): Promise<string[]>;
}

/** What is known of an address: true or false once name servers have said so, null until then. Never waits. */
export interface Reverse {
  belongs(address: string, hosts: RegExp): boolean | null;
  /** The questions under way; resolves at once when there are none. */
  settled(): Promise<void>;
}

const TIMEOUT_MS = 2_000;
const REMEMBERED = 5_000;
/** Addresses that are asked about at once, and in a second: of more, nothing is known until later. */
const AT_ONCE = 4;
const PER_SECOND = 10;
/** Hosts of one address that are looked at. */
const MOST_HOSTS = 5;
/** How long an answer holds: that an address has such a host, that it has none, that name servers did not say. */
const KEPT_MS = { yes: 86_400_000, no: 3_600_000, unknown: 60_000 };
const NOTHING_THERE = ['ENOTFOUND', 'ENODATA'];

/** Opens it; without `names`, and where the platform knows no DNS, nothing is ever known. */
export function openReverse({
  now,
  names = platformNames(),
}: {
  readonly now: () => number;
  readonly names?: Names | null;
}): Reverse {
  const known = new Lru<{ readonly is: boolean | null; readonly untilMs: number }>(REMEMBERED);
  const asking = new Map<string, Promise<void>>();
  let [secondAtMs, inSecond] = [0, 0];

  const mayAsk = (): boolean => {
    if (now() - secondAtMs >= 1_000) [secondAtMs, inSecond] = [now(), 0];
    if (asking.size >= AT_ONCE || inSecond >= PER_SECOND) return false;
    inSecond += 1;
    return true;
  };
  return {
    belongs: (address, hosts) => {
      const network = `${networkOf(address)} ${hosts.source}`;
      const ofAll = known.get(network);
      if (ofAll && now() < ofAll.untilMs) return ofAll.is;
      // A no is of the address alone: behind proxies that nobody named a stranger may have written one beside the robot's.
      const own = `${digitsOf(address) ?? address}/ ${hosts.source}`;
      const kept = known.get(own) ?? ofAll;
      if (kept && now() < kept.untilMs) return kept.is;
      if (names === null || asking.has(network) || !mayAsk()) return kept?.is ?? null;
      const asked = confirmed(names, address, hosts)
        .catch(() => null)
        .then((is) => {
          const forMs = is === null ? KEPT_MS.unknown : is ? KEPT_MS.yes : KEPT_MS.no;
          known.set(is === false ? own : network, { is, untilMs: now() + forMs });
        })
        .finally(() => asking.delete(network));
      asking.set(network, asked);
      return kept?.is ?? null;
    },
    settled: async () => void (await Promise.all(asking.values())),
  };
}

/** Who has one address of IPv6 has its whole /64. */
function networkOf(address: string): string {
  return digitsOf(address)?.slice(0, 16) ?? address;
}

async function confirmed(names: Names, address: string, hosts: RegExp): Promise<boolean> {
  const own = digitsOf(address);
  const found = await orNothing(names.reverse(address));
  const likely = found.map((host) => host.toLowerCase().replace(/\.$/, '')).filter((host) => /^[a-z0-9.-]{1,253}$/.test(host));
  for (const host of likely.filter((one) => hosts.test(one)).slice(0, MOST_HOSTS)) {
    const back = await orNothing(names.addresses(host));
    if (back.some((one) => digitsOf(one) === own)) return true;
  }
  return false;
}

/** What was found, or nothing where name servers say that there is nothing. */
async function orNothing(question: Promise<string[]>): Promise<string[]> {
  try {
    return await question;
  } catch (error) {
    if (NOTHING_THERE.includes((error as { code?: string }).code ?? '')) return [];
    throw error;
  }
}

interface Dns {
  readonly promises?: {
    readonly Resolver?: new (
      options: object,
    ) => {
      reverse(address: string): Promise<string[]>;
      resolve4(host: string): Promise<string[]>;
      resolve6(host: string): Promise<string[]>;
    };
  };
}

/** The platform's own DNS; null where it has none. */
function platformNames(): Names | null {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const Resolver = (process?.getBuiltinModule?.('node:dns') as Dns | undefined)?.promises?.Resolver;
  if (!Resolver) return null;
  const open = () => new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  return {
    reverse: (address) => open().reverse(address),
    addresses: async (host) => {
      const resolver = open();
      const both = await Promise.all([orNothing(resolver.resolve4(host)), orNothing(resolver.resolve6(host))]);
      return both.flat();
    },
  };
}
