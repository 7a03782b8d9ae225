import pg from 'pg';
import { clientByItself } from './primary.ts';

/** A running LISTEN. */
export interface Listener {
  /** Ends it; no call of `onNotify` comes after. A second call does nothing. */
  close(): Promise<void>;
}

const RECONNECT_MS = 1_000;

/**
 * Listens on one channel over a connection of its own (`directUrl`: no transaction pooler, safety 24; the primary of several hosts) and calls `onNotify` for
 * each notification with its payload, and once after every (re)connect with none, since some may have been missed. A lost connection is opened again every
 * second; callers poll beside it.
 */
export function listen(directUrl: string, channel: string, onNotify: (payload?: string) => void): Listener {
  let closed = false;
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  const again = (): void => {
    client = null;
    if (!closed) timer = setTimeout(() => void connect(), RECONNECT_MS);
  };
  const connect = async (): Promise<void> => {
    const next = await clientByItself(directUrl, { connectionTimeoutMillis: 5_000, keepAlive: true }).catch(() => null);
    if (closed) return;
    if (next === null) {
      again();
      return;
    }
    let over = false;
    const lost = (): void => {
      if (over) return;
      over = true;
      next.end().catch(() => undefined);
      again();
    };
    client = next;
    next.on('error', lost);
    next.on('end', lost);
    next.on('notification', ({ payload }) => {
      if (!closed) onNotify(payload ?? '');
    });
    try {
      await next.connect();
      await next.query(`listen ${pg.escapeIdentifier(channel)}`);
      if (!closed) onNotify();
    } catch {
      lost();
    }
  };
  void connect();
  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
