import pg from 'pg';

/**
 * Which server of several is the primary: a URL may name its primary and its standbys, `postgres://a,b/svc?target_session_attrs=read-write`,
 * and whichever takes writes is meant. One that was promoted later (a higher timeline) comes before one that was the primary until then, and once
 * this process has seen it, the former one is never written to again: what it took would be lost.
 */

/** The primary of a URL with several hosts. */
export interface Primary {
  /** The URL of the server that was the primary when it was last looked for. */
  readonly url: string;
  /** Looks for it; who comes meanwhile hears the same. Rejects, as an outage, when no server takes writes, or only one that was overtaken. */
  find(): Promise<void>;
}

/** What a server says of itself. */
interface Server {
  readonly url: string;
  readonly timeline: number;
}

/** A server that takes longer is away; those that are there have answered long since. */
const LOOK_MS = 3_000;
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

/** The URL of the server that takes writes, for a connection by itself; a URL of one host as it is. Rejects as `Primary.find` does. */
export async function urlOfPrimary(url: string): Promise<string> {
  const primary = primaryOf(url);
  await primary?.find();
  return primary?.url ?? url;
}

function openPrimary(url: string): Primary {
  const urls = urlsOfHosts(url);
  let current: Server = { url: urls[0] as string, timeline: 0 };
  let looking: Promise<void> | null = null;
  const look = async (): Promise<void> => {
    const answers = await Promise.allSettled(urls.map(askServer));
    const writable = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []));
    const [newest] = writable.sort((a, b) => b.timeline - a.timeline);
    if (newest && newest.timeline >= current.timeline) {
      current = newest;
      return;
    }
    const refused = answers.find((answer) => answer.status === 'rejected')?.reason as Error | undefined;
    const why = newest ? 'the only server that takes writes was overtaken by another one' : 'no server takes writes';
    throw Object.assign(new Error(refused ? `${why}: ${refused.message || String(refused)}` : why), { code: NO_PRIMARY });
  };
  return {
    get url() {
      return current.url;
    },
    find: () => {
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
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

/** Rejects, as an outage, on a connection to a server that takes no writes: it was the primary until just now. */
export async function requirePrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ timeline: string | null }>(WRITES);
  if (rows[0]?.timeline == null) throw Object.assign(new Error('this server takes no writes'), { code: NO_PRIMARY });
}

/** A client that is always made for the primary of the moment. */
export function clientOf(primary: Primary): typeof pg.Client {
  return class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: primary.url });
    }
  };
}
