import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import type { ServedBody } from '../../../packages/publisher/src/client.ts';
import { Breaker } from '../../../packages/publisher/src/core/breaker.ts';
import { openBodies } from '../../../packages/publisher/src/telling/bodies.ts';

/** A queue in front of a service that answers so, one answer after the other, and what it was told. */
function queueFor(...answers: ('noted' | 'refused' | 'away')[]) {
  const told: (readonly ServedBody[])[] = [];
  const client = {
    noteBodies: async (bodies: readonly ServedBody[]) => {
      told.push(bodies);
      const answer = answers.shift() ?? 'noted';
      if (answer === 'away') return { ok: false, why: 'unreachable' } as const;
      if (answer === 'refused') return { ok: false, why: 'status', status: 404 } as const;
      return { ok: true, status: 200, body: { noted: bodies.length }, headers: new Headers() } as const;
    },
  };
  return { told, bodies: openBodies({ client, breaker: new Breaker(() => 0), now: () => 1_000 }) };
}

const PAGE = [Buffer.from('<p>'), Buffer.from('trio</p>')];

test('a page that was sold is told by the hash of all its bytes and by how its answer ended, once, and by nothing of what it says', async () => {
  const { told, bodies } = queueFor();
  const ended = bodies.add('a', PAGE);
  const late = bodies.add('b', []); // the buyer left, and the page with it
  ended('delivered');
  ended('lost');
  expect(bodies.isDue()).toBe(true);
  await bodies.flush();
  late('lost');
  await bodies.flush();
  const sha256 = createHash('sha256').update('<p>trio</p>').digest('hex');
  expect(told.map((words) => words.toSorted((one, other) => one.at - other.at))).toEqual([
    [
      { receiptId: 'a', at: 1_000, sha256, bytes: 11, outcome: 'delivered' },
      { receiptId: 'b', at: 1_001 },
    ],
    [{ receiptId: 'b', at: 1_001, outcome: 'lost' }],
  ]);
  expect(bodies.isDue()).toBe(false);
});

test('words leave fifty at a time, 500 wait at most, and none goes again to a service that refused it', async () => {
  const { told, bodies } = queueFor('away', 'refused');
  for (let n = 0; n < 620; n += 1) bodies.add(String(n), PAGE);
  await bodies.flush();
  expect([told.map((one) => one.length), bodies.isDue()]).toEqual([[50], true]);
  await bodies.flush();
  expect(told.slice(1).map((one) => one.length)).toEqual(Array.from({ length: 10 }, () => 50));
  expect(told.at(-1)?.at(-1)?.receiptId).toBe('619');
});

test('words leave in the order of the sales, also when the hash of a long page takes longer than the next ones', async () => {
  const { told, bodies } = queueFor();
  bodies.add('long', [Buffer.alloc(8_000_000)]);
  for (let n = 0; n < 8; n += 1) bodies.add(String(n), PAGE);
  await bodies.flush();
  expect(told.flat().map((one) => one.receiptId)).toEqual(['long', '0', '1', '2', '3', '4', '5', '6', '7']);
});

test('of pages that are sold at once sixteen MiB wait for their hash and no more, and one that is longer waits alone', async () => {
  const { told, bodies } = queueFor();
  const page = [Buffer.alloc(6 * 1_024 * 1_024)];
  for (const name of ['a', 'b', 'c', 'd']) bodies.add(name, page);
  bodies.add('small', PAGE);
  await bodies.flush();
  bodies.add('e', page);
  await bodies.flush();
  const hashed = told.flat().filter(({ sha256 }) => sha256 !== undefined);
  expect([told.flat().length, hashed.map(({ receiptId }) => receiptId)]).toEqual([6, ['a', 'b', 'small', 'e']]);
});

test('however many compressed pages are sold at once, the coding of one is undone at a time, and of none beyond sixteen MiB', async () => {
  const { told, bodies } = queueFor();
  const zlib = process.getBuiltinModule('node:zlib');
  const { createGunzip } = zlib;
  let [open, mostOpen, bytes] = [0, 0, 0];
  const spy = vi.spyOn(zlib, 'createGunzip').mockImplementation((options) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    const decoder = createGunzip(options);
    decoder.on('data', (chunk: Buffer) => (bytes += chunk.length));
    return decoder.once('close', () => (open -= 1));
  });
  try {
    const [long, bomb] = [gzipSync(Buffer.alloc(4 * 1_024 * 1_024)), gzipSync(Buffer.alloc(64 * 1_024 * 1_024))];
    for (let n = 0; n < 20; n += 1) bodies.add(`page ${n}`, [long], 'gzip');
    bodies.add('bomb', [bomb], 'gzip');
    await bodies.flush();
  } finally {
    spy.mockRestore();
  }
  const hashed = told.flat().filter(({ sha256 }) => sha256 !== undefined);
  expect([hashed.length, hashed.some(({ receiptId }) => receiptId === 'bomb'), mostOpen]).toEqual([20, false, 1]);
  expect(bytes).toBeLessThan((20 * 4 + 17) * 1_024 * 1_024);
});
