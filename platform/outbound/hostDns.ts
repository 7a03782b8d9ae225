import { Resolver } from 'node:dns/promises';

/** DNS as host checks ask it; several views of it, each from its own name servers, ought to agree. */
export interface HostDns {
  /** The TXT records of a name, split texts joined, one list a view. Rejects when a view does not answer. */
  texts(name: string): Promise<readonly (readonly string[])[]>;
  /** The CNAME target of a name, lower case without trailing dot; null when it has none. Rejects when nobody answers. */
  alias(name: string): Promise<string | null>;
}

/** How to ask. */
export interface HostDnsOptions {
  readonly timeoutMs?: number;
  /** Name servers in different networks, each a view of its own; the system's as the only view unless told. */
  readonly servers?: readonly string[];
}

const MAX_RECORDS = 100;
const ABSENT = ['ENODATA', 'ENOTFOUND'];

/** DNS without hosts file, search domains or memory; a name that does not exist has no records. */
export function createHostDns(options: HostDnsOptions = {}): HostDns {
  const { servers = [] } = options;
  const views = servers.length === 0 ? [undefined] : servers.map((server) => [server]);
  const ask = <T>(view: readonly string[] | undefined, question: (resolver: Resolver) => Promise<T[]>): Promise<T[]> =>
    askOnce(view, options.timeoutMs ?? 2_000, question);
  return {
    texts: (name) =>
      Promise.all(
        views.map(async (view) => {
          const records = await ask(view, (resolver) => resolver.resolveTxt(name));
          return records.slice(0, MAX_RECORDS).map((texts) => texts.join(''));
        }),
      ),
    alias: async (name) => {
      const [target] = await ask(views[0], (resolver) => resolver.resolveCname(name));
      return target === undefined ? null : target.toLowerCase().replace(/\.$/, '');
    },
  };
}

async function askOnce<T>(
  servers: readonly string[] | undefined,
  timeoutMs: number,
  question: (resolver: Resolver) => Promise<T[]>,
): Promise<T[]> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1, maxTimeout: timeoutMs });
  if (servers !== undefined) resolver.setServers(servers);
  const timer = setTimeout(() => resolver.cancel(), timeoutMs);
  try {
    return await question(resolver);
  } catch (error) {
    if (ABSENT.includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
