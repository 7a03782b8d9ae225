import { expect, test } from 'vitest';
import { whileAway } from '../../process/whileAway.ts';

const log = { info: () => undefined, warn: () => undefined };
const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' });

/** Work that rejects with each of these, and then is done; all that `onWait` was told. */
async function waitThrough(failures: Error[], told: (string | null)[]) {
  const waiting = { part: 'database', log, isAway: (error: unknown) => error === away, againMs: 1 } as const;
  return await whileAway({ ...waiting, onWait: (part) => told.push(part) }, async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    return 'done';
  });
}

test('a part that is away is named while it is waited for, and no longer once it answers', async () => {
  const told: (string | null)[] = [];
  expect(await waitThrough([away, away], told)).toBe('done');
  expect(told).toEqual(['database', null]);
});

test('a part that answers at once is never named, and what is no outage is thrown', async () => {
  const told: (string | null)[] = [];
  expect(await waitThrough([], told)).toBe('done');
  await expect(waitThrough([new Error('a wrong password')], told)).rejects.toThrow('a wrong password');
  expect(told).toEqual([]);
});
