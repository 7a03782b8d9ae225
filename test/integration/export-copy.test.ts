import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:http';
import type { Socket } from 'node:net';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { Literals } from '../../db/literals.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { formatUsdc } from '../../modules/kernel/money/money.ts';
import { countLegs } from '../../modules/reports/store/earnings/exportLegs.ts';
import { openReadSnapshot } from '../../modules/reports/store/snapshot.ts';
import { exportCsv } from '../../modules/reports/use/exportCsv.ts';
import { shownWallet } from '../../modules/reports/use/wallet.ts';
import { csvRows } from '../../platform/csv.ts';
import { openHeavyWork } from '../../platform/pacing/heavy.ts';
import { startTestApi } from '../support/api.ts';
import { startProxy } from '../support/proxy.ts';
import type { Purchase } from '../support/reports.ts';
import { insertPurchases } from '../support/reports.ts';
import { query } from '../support/sql.ts';

const HOUR = 3_600_000;
const ALL = { fromMs: null, toMs: null };
const WALLETS = Array.from({ length: 25 }, (_, n) => `0x${String(n).padStart(40, 'a')}`);
/** Rows of a site whose export is longer than what the sockets on its way hold. */
const LONG_ROWS = 15_000;
const NASTY = [
  '=1+1',
  '+1',
  '-1',
  '@x',
  '\tx',
  '\rx',
  'a\tb',
  'a\nb',
  'a\r\nb',
  'a"b',
  '"',
  'a,b',
  ',',
  "'",
  '\\',
  '\\N',
  'a\\tb',
  '\\.',
  '',
  'ü',
  '日本語'.repeat(3_000),
  '😀,"',
  '\b\f\v\u0001\u007f',
  ' =1',
  '＝1',
  'x'.repeat(100_000),
  `${'y'.repeat(70_000)},`,
  'news/plain',
];

let api: Awaited<ReturnType<typeof startTestApi>>;
let site: Awaited<ReturnType<typeof api.site>>;
let long: Awaited<ReturnType<typeof api.site>>;
beforeAll(async () => {
  api = await startTestApi();
  [site, long] = [await api.site(), await api.site()];
  await insertLong(long);
});
afterAll(() => api.stop());

/** More rows of a site than connections hold on their way. */
async function insertLong({ tenantId, host }: { readonly tenantId: string; readonly host: string }): Promise<void> {
  const legs = WALLETS.map((toAddress) => ({ toAddress, amountMicro: 40, share: 0.04 }));
  const purchase = { tenantId, host, slug: 's'.repeat(1_600), kind: 'read' as const, steps: 1, legs };
  const atMs = Date.now() - HOUR;
  await insertPurchases(
    api.deps.database,
    Array.from({ length: LONG_ROWS / WALLETS.length }, (_, n): Purchase => ({ ...purchase, atMs: atMs - n })),
  );
}

/** A download of which nobody reads more than its head. */
async function startDownload(key: string): Promise<IncomingMessage> {
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    get(`${api.url}/_svc/earnings/export.csv`, { headers }, resolve).on('error', reject);
  });
}

/** A pool of the test's own, as exports get it; closed at the end, whatever became of its connections. */
async function withDatabase(
  options: { readonly url?: string; readonly poolSize?: number; readonly statementTimeoutMs?: number },
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const database = await openDatabase({ url: api.urls.appUrl, ...options });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

const newHeavyWork = () => openHeavyWork({ connections: { reports: 6, questions: 2 } });
const openExport = (database: Database, of = long) =>
  exportCsv({ database, clock: Date.now, heavy: newHeavyWork() }, { ...of, hosts: [of.host], plan: 'studio' as const }, ALL);

/** Copies on their way, as the server sees them. */
const copies = async (): Promise<number> => {
  const running =
    "select 1 from pg_stat_activity where datname = current_database() and state = 'active' and query like 'copy %'";
  return (await query(api.urls.superUrl, running)).length;
};

const END_COPIES = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and state = 'active' and query like 'copy %'`;

test('whatever letters a page, an author or an agent has, the file is CSV made of the rows as a plain query reads them', async () => {
  const atMs = Date.now() - HOUR;
  const shares = [0.00001, 0.000001, 1e-7, 0.7, 1 / 3, 1];
  await insertPurchases(
    api.deps.database,
    NASTY.map((slug, n): Purchase => {
      const [share = 1, authorId = ''] = [shares[n % shares.length], NASTY[(n + 5) % NASTY.length]];
      const legs = [
        { toAddress: WALLETS[n % 25] as string, amountMicro: 1 + n, authorId, share },
        { toAddress: n % 2 === 0 ? '=no,wallet' : `0x${'ab'.repeat(20)}`, amountMicro: 12_345_678 },
      ];
      const agent = NASTY[(n + 9) % NASTY.length] as string;
      return {
        tenantId: site.tenantId,
        host: site.host,
        slug,
        kind: 'citation',
        atMs: atMs - n,
        steps: 1 + 2 * (n % 2),
        legs,
        agent,
      };
    }),
  );
  const rows = await api.deps.database.query<Record<string, string | number | null>>(
    `select (extract(epoch from c.at) * 1000)::bigint as at_ms, c.host, c.slug, l.amount_micro as micro, l.author_id, l.to_address, l.share,
       p.tx_hash, c.payer, c.agent, p.payment_id, c.crossing_id
     from crossing c join leg l using (tenant_id, crossing_id) join payment p on p.payment_id = c.payment_id
     where c.tenant_id = $1
     order by c.at desc, c.crossing_id desc, l.ordinal`,
    [site.tenantId],
  );
  const cells = rows.map((row) => [
    new Date(Number(row.at_ms)).toISOString(),
    row.at_ms,
    row.host,
    row.slug,
    'citation',
    row.micro,
    formatUsdc(BigInt(String(row.micro))),
    row.author_id ?? '',
    shownWallet(String(row.to_address)),
    row.share,
    'author',
    row.tx_hash,
    'txHash',
    shownWallet(String(row.payer)),
    row.agent,
    '',
    '',
    row.payment_id,
    row.crossing_id,
  ]);
  const response = await fetch(`${api.url}/_svc/earnings/export.csv`, { headers: { authorization: `Bearer ${site.key}` } });
  expect(response.headers.get('x-svc-row-count')).toBe(String(rows.length));
  expect(rows.length).toBeGreaterThan(2 * NASTY.length);
  const text = await response.text();
  expect(text.slice(text.indexOf('\r\n') + 2)).toBe(csvRows(cells.map((row) => row.map(String))));
});

test('legs are counted up to one more than the most, with corrections and without, in their window', async () => {
  const [whole, mended] = [await api.site(), await api.site()];
  const atMs = Date.now() - HOUR;
  const legs = WALLETS.slice(0, 2).map((toAddress) => ({ toAddress, amountMicro: 5 }));
  const of = ({ tenantId, host }: typeof whole, steps: number, n: number): Purchase => {
    return { tenantId, host, slug: 'solo', kind: 'read', atMs: atMs - n, steps, legs };
  };
  await insertPurchases(
    api.deps.database,
    [0, 1, 2, 3, 4].map((n) => of(whole, 1, n)),
  );
  await insertPurchases(
    api.deps.database,
    [2, 1, 3, 2, 1].map((steps, n) => of(mended, steps, n)),
  );
  const count = (tenantId: string, most: number, window = { fromMs: 0, toMs: null as number | null }) =>
    countLegs(api.deps.database, { tenantId, host: null, kind: null }, window, most);
  const counted = (tenantId: string) => Promise.all([1, 3, 4, 5, 6, 9, 10, 100].map((most) => count(tenantId, most)));
  expect(await counted(whole.tenantId)).toEqual([2, 4, 5, 6, 7, 10, 10, 10]);
  expect(await counted(mended.tenantId)).toEqual([2, 4, 5, 6, 7, 10, 11, 18]);
  const narrow = { fromMs: atMs - 3, toMs: atMs };
  expect([await count(whole.tenantId, 100, narrow), await count(mended.tenantId, 100, narrow)]).toEqual([6, 12]);
  expect(await count(whole.tenantId, 2, { fromMs: atMs, toMs: atMs })).toBe(0);
});

test('Postgres waits for whoever reads: of a large copy little is taken in ahead', async () => {
  await withDatabase({ poolSize: 1 }, async (database) => {
    const sockets: Socket[] = [];
    database.pool.on('acquire', (client: PoolClient) => {
      sockets.push((client as unknown as { connection: { stream: Socket } }).connection.stream);
    });
    const snapshot = await openReadSnapshot(database);
    const reading = snapshot
      .copy("select repeat('x', 1000) from generate_series(1, 100000)", { limitMs: 60_000 })
      [Symbol.asyncIterator]();
    expect((await reading.next()).done).toBe(false);
    const taken = async (): Promise<number> => {
      const before = sockets[0]?.bytesRead ?? Number.NaN;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return sockets[0]?.bytesRead === before ? before : Number.NaN;
    };
    await expect.poll(taken).toBeGreaterThan(0);
    expect(await taken()).toBeLessThan(1_000_000);
    await snapshot.close();
  });
});

test('a literal is the value it stands for, whatever its letters', async () => {
  const literals = new Literals();
  const texts = ["it's", "\\'; drop table leg; --", '\\', '$1', '', '日本', "E'\\n'"];
  const [row] = await api.deps.database.query<Record<string, string>>(
    `select ${texts.map((text, n) => `${literals.bind(text)}::text as c${n}`).join(', ')}, ${literals.bind(-7)} as n,
       ${literals.bind(new Date(1_234))}::timestamptz = to_timestamp(1.234) as is_same`,
  );
  expect(row).toEqual({ ...Object.fromEntries(texts.map((text, n) => [`c${n}`, text])), n: -7, is_same: true });
  for (const wrong of [Number.NaN, 1.5, 2 ** 53]) expect(() => literals.bind(wrong)).toThrow(RangeError);
});

test('a reader that goes away ends the copy; the connection is not used again, and the pool is whole', async () => {
  await withDatabase({ poolSize: 1 }, async (database) => {
    for (const goAway of ['in the middle', 'before its rows', 'while it waits'] as const) {
      const file = await openExport(database);
      const reading = file.chunks[Symbol.asyncIterator]();
      if (goAway !== 'before its rows') await reading.next();
      if (goAway === 'in the middle') {
        await reading.next();
        await reading.return?.();
      }
      const pending = goAway === 'while it waits' ? expect(reading.next()).rejects.toThrow() : null;
      await file.close();
      await file.close();
      await pending;
      await expect.poll(copies).toBe(0);
      expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
    }
    expect([database.pool.totalCount, database.pool.idleCount]).toEqual([1, 1]);
  });
});

test('a connection that is cut while a client reads cuts the response: nobody takes a part for the whole', async () => {
  const response = await startDownload(long.key);
  expect([response.statusCode, response.headers['x-svc-row-count']]).toEqual([200, String(LONG_ROWS)]);
  await once(response, 'readable');
  const closed = new Promise((resolve) => response.on('error', () => undefined).on('close', resolve));
  // The header comes before the copy has begun.
  await expect.poll(() => query(api.urls.superUrl, END_COPIES)).toHaveLength(1);
  response.resume();
  await closed;
  expect(response.complete).toBe(false);
  expect(api.problems).toEqual([]);
  const next = await fetch(`${api.url}/_svc/earnings/export.csv`, { headers: { authorization: `Bearer ${long.key}` } });
  expect((await next.text()).split('\r\n')).toHaveLength(LONG_ROWS + 2);
});

test('a line to the database that ends without a word is an error, however much had come', async () => {
  const { port, href } = new URL(api.urls.appUrl);
  const proxy = await startProxy(Number(port));
  try {
    await withDatabase({ url: href.replace(`:${port}/`, `:${proxy.port}/`) }, async (database) => {
      for (const piecesBefore of [1, 2, 40]) {
        proxy.mend();
        const file = await openExport(database);
        const reading = async (): Promise<void> => {
          let pieces = 0;
          for await (const _ of file.chunks) if (++pieces === piecesBefore) proxy.cut();
        };
        await expect(reading()).rejects.toMatchObject({ code: 'database_unavailable' });
        await file.close();
      }
      expect(database.pool.totalCount).toBe(0);
    });
  } finally {
    await proxy.close();
  }
});

test('a slow download is not cut by the time limit of statements, and is by the limit of its own', async () => {
  await withDatabase({ poolSize: 2, statementTimeoutMs: 1_000 }, async (database) => {
    const file = await openExport(database);
    let [pieces, bytes] = [0, 0];
    for await (const chunk of file.chunks) {
      // The header, then rows: the copy has begun.
      if (++pieces === 2) await new Promise((resolve) => setTimeout(resolve, 1_500));
      bytes += chunk.length;
    }
    expect(bytes).toBeGreaterThan(LONG_ROWS * 1_600);

    const snapshot = await openReadSnapshot(database);
    const reading = async (): Promise<void> => {
      for await (const _ of snapshot.copy("select repeat('x', 1000) from generate_series(1, 100000)", { limitMs: 100 })) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await expect(reading()).rejects.toMatchObject({ code: '57014' });
    await snapshot.close();
    expect(await database.query("select current_setting('statement_timeout') as its")).toEqual([{ its: '1s' }]);
  });
});

test('with no connection free an export is refused, and leaves the place of its key', async () => {
  await withDatabase({ poolSize: 1 }, async (database) => {
    const heavy = newHeavyWork();
    const open = () => exportCsv({ database, clock: Date.now, heavy }, { ...long, hosts: [], plan: 'studio' }, ALL);
    const held = await database.pool.connect();
    await expect(open()).rejects.toMatchObject({ code: 'database_unavailable' });
    held.release();
    await (await open()).close();
  });
});

test('four downloads that nobody reads keep no other site from its own: one loses its place, and its connection', async () => {
  const second = await api.site();
  await insertLong(second);
  const other = { name: 'other', scopes: ['earnings.read.all', 'tenant.read'] } as const;
  const minted = await Promise.all([long, second].map(({ tenantId }) => mintKey(api.deps, { ...other, tenantId })));
  const responses: IncomingMessage[] = [];
  for (const key of [long.key, second.key, ...minted.map(({ token }) => token)]) responses.push(await startDownload(key));
  const ports = responses.map(({ socket }) => socket.localPort);
  const third = await api.site();
  const ask = () => fetch(`${api.url}/_svc/earnings/export.csv`, { headers: { authorization: `Bearer ${third.key}` } });
  expect((await ask()).status).toBe(503);
  await expect.poll(async () => (await ask()).status).toBe(200);
  await expect.poll(() => ports.filter((port) => !api.callers().includes(port))).toEqual([expect.any(Number)]);
  expect(api.problems).toEqual([]);
  for (const response of responses) response.destroy();
});
