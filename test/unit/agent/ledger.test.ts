/** The ledger of the buyer's tool: on disk before anything is sent, whole after any crash, held by one process at a time. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LedgerLine } from '../../../packages/agent/src/ledger/entries.ts';
import { openLedger } from '../../../packages/agent/src/ledger/file.ts';
import { withLock } from '../../../packages/agent/src/ledger/lock.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  path = join(folder, 'ledger.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const signed = (id: string, more: Partial<Extract<LedgerLine, { type: 'signed' }>> = {}): LedgerLine => ({
  type: 'signed',
  id,
  atMs: 1_000,
  purchase: `GET https://a.example/${id}`,
  url: `https://a.example/${id}`,
  host: 'a.example',
  amountMicro: '1000',
  payer: '0x1',
  validBeforeS: 300,
  payload: { x402Version: 2 },
  ...more,
});
const write = (...lines: LedgerLine[]) =>
  openLedger(path).hold(async ({ append }) => {
    for (const line of lines) append(line);
  });
const ALL = { fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER };
const spent = (host = '') => openLedger(path).hold(async ({ ledger }) => ledger.spent(ALL, host));

test('what was signed counts whatever was answered, in its period and at its host', async () => {
  await write(signed('a'), signed('b', { host: 'b.example' }), { type: 'refused', id: 'a', atMs: 2_000, error: 'no' });
  expect(await spent('b.example')).toEqual({ totalMicro: 2_000n, hostMicro: 1_000n });
  const later = await openLedger(path).hold(async ({ ledger }) => ledger.spent({ fromMs: 1_001, untilMs: 5_000 }, ''));
  expect(later.totalMicro).toBe(0n);
});

test('half a line, which a killed process left, is cut off, and the next line stands alone', async () => {
  await write(signed('a'));
  appendFileSync(path, JSON.stringify(signed('b')).slice(0, 50));
  expect((await spent()).totalMicro).toBe(1_000n);
  await write(signed('c'));
  expect(
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id),
  ).toEqual(['a', 'c']);
});

test('a line that cannot be read stops every purchase, until it is mended', async () => {
  const ledger = openLedger(path);
  writeFileSync(path, `${JSON.stringify(signed('a'))}\n{"type":"gift"}\n`);
  const look = () => ledger.hold(async ({ ledger: read }) => read.spent(ALL, '').totalMicro);
  await expect(look()).rejects.toMatchObject({ code: 'ledger_unreadable' });
  await expect(look()).rejects.toMatchObject({ code: 'ledger_unreadable' });
  writeFileSync(path, `${JSON.stringify(signed('a'))}\n`);
  expect(await look()).toBe(1_000n);
});

test('a line that could not be read again is not written, and the next one stands', async () => {
  await expect(write(signed('a', { amountMicro: 1_000 as unknown as string }))).rejects.toMatchObject({
    code: 'ledger_unreadable',
  });
  await write(signed('b'));
  expect(await spent()).toEqual({ totalMicro: 1_000n, hostMicro: 0n });
});

test('an answer to a payment that is not there is no line of this ledger', async () => {
  await expect(write({ type: 'refused', id: 'x', atMs: 1, error: '' })).rejects.toBeInstanceOf(RangeError);
});

test('what is paid stays paid, whatever is said later', async () => {
  const paid = { type: 'paid', id: 'a', atMs: 2_000, transaction: '0x2', licence: null, licenceUntilMs: null } as const;
  await write(signed('a'), paid, { type: 'refused', id: 'a', atMs: 3_000, error: 'too late' });
  const newest = await openLedger(path).hold(async ({ ledger }) => ledger.newestOf('GET https://a.example/a'));
  expect(newest).toMatchObject({ state: 'paid', transaction: '0x2' });
});

test('an approval is good once, for a day, for its page, up to its price', async () => {
  const url = 'https://a.example/a';
  await write({ type: 'approved', atMs: 1_000, url, maxMicro: '1000' });
  const page = { purchase: `GET ${url}`, url, host: 'a.example', amountMicro: 1_000n };
  const other = 'https://a.example/b';
  const asks = await openLedger(path).hold(async ({ ledger }) => [
    ledger.isApproved(page, 2_000),
    ledger.isApproved({ ...page, amountMicro: 1_001n }, 2_000),
    ledger.isApproved({ ...page, url: other, purchase: `GET ${other}` }, 2_000),
    ledger.isApproved({ ...page, purchase: `POST ${url}` }, 2_000),
    ledger.isApproved(page, 1_000 + 24 * 3_600_000),
  ]);
  expect(asks).toEqual([true, false, false, false, false]);
  await write(signed('a'));
  expect(await openLedger(path).hold(async ({ ledger }) => ledger.isApproved(page, 2_000))).toBe(false);
});

test('fifty holders of one process never overlap, and the lock leaves one small file behind', async () => {
  let inside = 0;
  let most = 0;
  const lock = join(folder, 'lock');
  await Promise.all(
    Array.from({ length: 50 }, () =>
      withLock(lock, async () => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
      }),
    ),
  );
  expect([most, readdirSync(folder).length]).toEqual([1, 1]);
});

test('four processes that change one file under the lock lose no change', async () => {
  const counter = join(folder, 'counter');
  writeFileSync(counter, '0');
  const lockFile = fileURLToPath(new URL('../../../packages/agent/src/ledger/lock.ts', import.meta.url));
  // They begin together: one after the other would lose nothing without a lock either.
  const script = `import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
    import { withLock } from ${JSON.stringify(lockFile)};
    writeFileSync(${JSON.stringify(join(folder, 'here-'))} + process.pid, '');
    while (readdirSync(${JSON.stringify(folder)}).filter((name) => name.startsWith('here-')).length < 4)
      await new Promise((resolve) => setTimeout(resolve, 2));
    for (let n = 0; n < 50; n++) await withLock(${JSON.stringify(join(folder, 'lock'))}, async () => {
      const before = Number(readFileSync(${JSON.stringify(counter)}, 'utf8'));
      await new Promise((resolve) => setImmediate(resolve));
      writeFileSync(${JSON.stringify(counter)}, String(before + 1));
    });`;
  writeFileSync(join(folder, 'count.mts'), script);
  const ran = await Promise.all(
    Array.from({ length: 4 }, () => once(spawn(process.execPath, [join(folder, 'count.mts')], { stdio: 'ignore' }), 'close')),
  );
  expect([ran.map(([code]) => code), readFileSync(counter, 'utf8')]).toEqual([[0, 0, 0, 0], '200']);
});

test('a lock of a process that is gone, or of another process that got its number, is taken over; one of a living process or machine is not', async () => {
  const lock = join(folder, 'lock');
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  const hold = (holder: object) => {
    for (const file of readdirSync(folder)) rmSync(join(folder, file));
    writeFileSync(`${lock}.7`, JSON.stringify({ space: spaceOfPids(), ...holder }));
    return withLock(lock, async () => existsSync(`${lock}.8`), 50);
  };
  expect(await hold({ pid, began: '1', host: hostname() })).toBe(true);
  expect(await hold({ pid: process.pid, began: 'long ago', host: hostname() })).toBe(process.platform === 'linux');
  await expect(hold({ pid, began: '1', host: 'another machine' })).rejects.toMatchObject({ code: 'ledger_locked' });
  await expect(hold({ pid, began: '1', host: hostname(), space: 'pid:[1]' }), 'a container’s own numbers').rejects.toMatchObject({
    code: 'ledger_locked',
  });
  await expect(hold({ pid: process.ppid, began: beganOf(process.ppid), host: hostname() })).rejects.toMatchObject({
    code: 'ledger_locked',
  });
});

function beganOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function spaceOfPids(): string {
  return process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid') : '';
}
