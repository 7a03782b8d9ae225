import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { ServedBody } from '../../../packages/publisher/src/client.ts';
import { Breaker } from '../../../packages/publisher/src/core/breaker.ts';
import { digestOf } from '../../../packages/publisher/src/selling/digest.ts';
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

const sha256 = createHash('sha256').update('<p>trio</p>').digest('hex');
const PAGE = { sha256, bytes: 11 };

test('a page has the digest of what its reader holds, in whichever coding it travels; an empty one and one of an unknown coding have none', async () => {
  const text = Buffer.from('<p>trio</p>');
  const field = `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;
  const digests = await Promise.all([
    digestOf([text.subarray(0, 3), text.subarray(3)]),
    digestOf([gzipSync(text)], 'gzip'),
    digestOf([brotliCompressSync(text)], 'br'),
    digestOf([gzipSync('')], 'gzip'),
    digestOf([], undefined),
    digestOf([text], 'gzip'),
    digestOf([text], 'compress'),
  ]);
  expect(digests).toEqual([...Array.from({ length: 3 }, () => ({ ...PAGE, field })), null, null, null, null]);
});

test('a page that was sold is told by its hash and by how its answer ended, once, and by nothing of what it says', async () => {
  const { told, bodies } = queueFor();
  const ended = bodies.add('a', PAGE);
  const late = bodies.add('b', null); // the buyer left, and the page with it
  ended('delivered');
  ended('lost');
  expect(bodies.isDue()).toBe(true);
  await bodies.flush();
  late('lost');
  await bodies.flush();
  expect([told, bodies.isDue()]).toEqual([
    [
      [
        { receiptId: 'a', ...PAGE, at: 1_000, outcome: 'delivered' },
        { receiptId: 'b', at: 1_001 },
      ],
      [{ receiptId: 'b', at: 1_001, outcome: 'lost' }],
    ],
    false,
  ]);
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
