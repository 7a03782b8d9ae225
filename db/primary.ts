import pg from 'pg';
import { explained } from './outage.ts';

/**
 * Which server of several is the primary: a URL may name its primary and its standbys, `postgres://a,b/svc?target_session_attrs=read-write`,
 * and whichever takes writes is meant. One that was promoted later (a higher timeline) comes before one that was the primary until then, and once
 * this process has seen it, the former one is never written to again: what it took would be lost.
 */

/** The primary of a URL with several hosts. */
export interface Primary {
  /** The URL of the server that was the primary when it was last looked for. */
  readonly url: string;
  /** The timeline that it wrote then; 0 before it was looked for. */
  readonly timeline: number;
  /** Looks for it; who comes meanwhile hears the same. Rejects, as an outage, when no server takes writes, or only one that was overtaken. */
  find(): Promise<void>;
  /** A connection was lost: it may be another server by now, which the next connection looks at first. */
  doubt(): void;
  /** Resolves at once unless it was doubted since it was found; then as `find`. */
  settle(): Promise<void>;
  /** Cuts this connection, and whatever is under way on it, when another server turns out to be the primary. */
  hold(client: pg.Client): void;
}

/** What a server says of itself. */
interface Server {
  readonly url: string;
  readonly timeline: number;
}

/** A server that takes longer is away; those that are there have answered long since. */
const LOOK_MS = 3_000;
/** How often the primary is looked for while connections to it are open: one that no longer answers breaks none of them. */
const WATCH_MS = 5_000;
const SHAPE = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^#]*)$/;
/** What a server calls the timeline that it writes, in hexadecimal; a standby and a server that is read-only write none. */
const WRITES = `select case when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then null
  else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

/** The URL of each host that a URL names, in its order; one for the usual URL. Empty: it is no URL of Postgres. */
export function urlsOfHosts(url: string): readonly string[] {
  const [, before, hosts, rest = ''] = SHAPE.exec(url) ?? [];
  if (before === undefined || hosts === undefined) return [];
  const [path = '', query = ''] = rest.split('?');
  const kept = query.split('&').filter((one) => one !== '' && !one.startsWith('target_session_attrs='));
  const end = `${path}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
  return hosts.split(',').map((host) => `${before}${host}${end}`);
}

const known = new Map<string, Primary>();

/** The primary among the hosts of a URL, one for all who ask in this process; null for a URL of one host. */
export function primaryOf(url: string): Primary | null {
  if (urlsOfHosts(url).length < 2) return null;
  const primary = known.get(url) ?? openPrimary(url);
  known.set(url, primary);
  return primary;
}

/** The URL of the server that takes writes; a URL of one host as it is. Rejects as `Primary.find` does. */
export async function urlOfPrimary(url: string): Promise<string> {
  const primary = primaryOf(url);
  await primary?.find();
  return primary?.url ?? url;
}

/** A connection by itself to the server that takes writes, still to be opened, as a pool's are (`clientOf`). Rejects as `Primary.find` does. */
export async function clientByItself(url: string, config: pg.ClientConfig): Promise<pg.Client> {
  const primary = primaryOf(url);
  await primary?.find();
  return primary === null ? new pg.Client({ ...config, connectionString: url }) : new (clientOf(primary))(config);
}

function openPrimary(url: string): Primary {
  const urls = urlsOfHosts(url);
  let current: Server = { url: urls[0] as string, timeline: 0 };
  let looking: Promise<void> | null = null;
  let isSure = false;
  const held = new Set<pg.Client>();
  let watch: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const answers = await Promise.allSettled(urls.map(askServer));
    const writable = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []));
    const [newest] = writable.sort((a, b) => b.timeline - a.timeline);
    if (newest && newest.timeline >= current.timeline) {
      const isMoved = newest.timeline > current.timeline || newest.url !== current.url;
      current = newest;
      // Whatever was connected before may be connected to the former one, which may take writes again as soon as it is reached.
      if (isMoved) for (const client of held) client.connection.stream.destroy();
      return;
    }
    const refused = explained(answers.find((answer) => answer.status === 'rejected')?.reason) as Error | undefined;
    const why = newest ? 'the only server that takes writes was overtaken by another one' : 'no server takes writes';
    throw Object.assign(new Error(refused ? `${why}: ${refused.message || String(refused)}` : why), { code: NO_PRIMARY });
  };
  const begin = (): Promise<void> => {
    const mine: Promise<void> = look()
      .then(() => {
        if (looking === mine) isSure = true;
      })
      .finally(() => {
        if (looking === mine) looking = null;
      });
    return mine;
  };
  const find = (): Promise<void> => (looking ??= begin());
  return {
    get url() {
      return current.url;
    },
    get timeline() {
      return current.timeline;
    },
    find,
    doubt: () => {
      isSure = false;
      looking = null; // what looks already may have seen the server before it was lost
    },
    settle: async () => {
      if (!isSure) await find();
    },
    hold: (client) => {
      if (held.size === 0) watch = setInterval(() => find().catch(() => undefined), WATCH_MS).unref();
      held.add(client);
      client.once('end', () => {
        held.delete(client);
        if (held.size > 0) return;
        clearInterval(watch);
        isSure = false;
      });
    },
  };
}

/** SQLSTATE of a transaction that may only read: an outage (`isDatabaseOutage`). */
const NO_PRIMARY = '25006';

/** The server if it takes writes, null if it answers and does not. */
async function askServer(url: string): Promise<Server | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: LOOK_MS, query_timeout: LOOK_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ timeline: string | null }>(WRITES);
    const timeline = rows[0]?.timeline ?? null;
    return timeline === null ? null : { url, timeline: Number.parseInt(timeline, 16) };
  } finally {
    client.end().catch(() => undefined);
  }
}

/**
 * Rejects, as an outage, on a new connection to a server that takes no writes, as it was the primary until just now, or that was overtaken. After a
 * lost connection the primary is looked for first: a former one that was started again takes writes, too.
 */
export async function requirePrimary(client: pg.ClientBase, primary: Primary): Promise<void> {
  await primary.settle();
  const { rows } = await client.query<{ timeline: string | null }>(WRITES);
  const written = rows[0]?.timeline ?? null;
  if (written === null) throw Object.assign(new Error('this server takes no writes'), { code: NO_PRIMARY });
  if (Number.parseInt(written, 16) < primary.timeline) {
    throw Object.assign(new Error('this server was overtaken by another one'), { code: NO_PRIMARY });
  }
}

/** A client that is always made for the primary of the moment, and is cut once another server is. */
export function clientOf(primary: Primary): typeof pg.Client {
  return class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: primary.url });
      primary.hold(this);
      this.on('error', () => primary.doubt());
    }
  };
}
