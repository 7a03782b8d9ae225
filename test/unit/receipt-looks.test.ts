/** How often a node is asked for the receipt of a transaction that was just sent. */
import { expect, test } from 'vitest';
import { pauseAfter, waitForReceipt } from '../../platform/chain/evidence/receipts.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';

const HASH = `0x${'11'.repeat(32)}` as const;
const MINED = {
  transactionHash: HASH,
  status: '0x1',
  blockNumber: '0x5',
  blockHash: `0x${'22'.repeat(32)}`,
  gasUsed: '0x1',
  logs: [],
};

/** A node that has the receipt at the nth look. */
function minedAt(look: number): Rpc {
  let looks = 0;
  const request = () => Promise.resolve(++looks < look ? null : MINED);
  return { networkId: 'test', request, close: () => Promise.resolve() } as unknown as Rpc;
}

test('the first pauses are short and grow to 40 ms, so that a chain that mines at once is not waited for', () => {
  expect(Array.from({ length: 9 }, (_, looks) => pauseAfter(looks))).toEqual([2, 3, 5, 8, 13, 21, 40, 40, 40]);
});

test('a receipt that is there is found without a pause, and one that comes later after those before it', async () => {
  const startedAt = performance.now();
  expect(await waitForReceipt(minedAt(1), [HASH], { timeoutMs: 60_000 })).toMatchObject({ status: 'success' });
  expect(await waitForReceipt(minedAt(7), [HASH], { timeoutMs: 60_000 })).toMatchObject({ blockNumber: 5n });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(2 + 3 + 5 + 8 + 13 + 21 - 6); // timers may be a millisecond early
});

test('a caller may have pauses of its own', async () => {
  const startedAt = performance.now();
  await waitForReceipt(minedAt(4), [HASH], { timeoutMs: 60_000, pollMs: 30 });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(3 * 30 - 3);
});
