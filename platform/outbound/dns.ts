import { Resolver } from 'node:dns/promises';

/** One address a name has; `port` replaces the URL's (only a resolver that plays the internet says one). */
export interface ResolvedAddress {
  readonly address: string;
  readonly port?: number;
}

/** Every address of a name, A and AAAA. Throws when there is none or nobody answers in time. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>;

/** How to ask. */
export interface ResolverOptions {
  /** For one name, both record types together; 2 s unless told. */
  readonly timeoutMs?: number;
  /** Name servers as `address` or `address:port`; the system's unless told. */
  readonly servers?: readonly string[];
}

/**
 * A resolver that asks name servers itself, A and AAAA at once: no hosts file, no search domains, nothing kept. A name with one
 * of the two record types is resolved; a failed question about the other one fails the whole, since an address we have not seen
 * is one we have not checked.
 */
export function createResolver(options: ResolverOptions = {}): Resolve {
  const timeoutMs = options.timeoutMs ?? 2_000;
  return async (name) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 1, maxTimeout: timeoutMs });
    if (options.servers !== undefined) resolver.setServers(options.servers);
    const timer = setTimeout(() => resolver.cancel(), timeoutMs);
    try {
      const answers = await Promise.all([known(resolver.resolve4(name)), known(resolver.resolve6(name))]);
      const addresses = answers.flat();
      if (addresses.length === 0) throw new Error('the name has no address');
      return addresses.map((address) => ({ address }));
    } finally {
      clearTimeout(timer);
    }
  };
}

/** The records, or none where the name server says that there are none of this type. */
async function known(question: Promise<string[]>): Promise<string[]> {
  try {
    return await question;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENODATA') return [];
    throw error;
  }
}
