import { expect, test } from 'vitest';
import { openWhenAsked } from '../../process/api/whenAsked.ts';

test('it is opened for the first who asks, once for all who ask at once, and closed once', async () => {
  const seen: string[] = [];
  const one = openWhenAsked(
    async () => {
      seen.push('open');
      return 'it';
    },
    async (opened) => void seen.push(`close ${opened}`),
  );
  expect(seen).toEqual([]);
  expect(await Promise.all([one.open(), one.open()])).toEqual(['it', 'it']);
  expect(await one.open()).toBe('it');
  await one.close();
  expect(seen).toEqual(['open', 'close it']);
  await expect(one.open()).rejects.toThrow('closed');
});

test('after a failure nobody has it tried again for a moment, then the next one does', async () => {
  let tries = 0;
  const one = openWhenAsked(
    async () => {
      tries += 1;
      if (tries === 1) throw new Error('not yet');
      return tries;
    },
    async () => undefined,
    100,
  );
  await expect(one.open()).rejects.toThrow('not yet');
  await expect(one.open()).rejects.toThrow('not yet');
  expect(tries).toBe(1);
  await expect.poll(() => one.open().catch(() => 'not yet')).toBe(2);
});

test('what nobody asked for is not closed, and what is being opened is closed when it is open', async () => {
  const closed: string[] = [];
  const never = openWhenAsked(
    async () => 'never',
    async (opened) => void closed.push(opened),
  );
  await never.close();
  const { promise, resolve } = Promise.withResolvers<string>();
  const slow = openWhenAsked(
    () => promise,
    async (opened) => void closed.push(opened),
  );
  const opened = slow.open();
  const end = slow.close();
  resolve('slow');
  await Promise.all([opened, end]);
  expect(closed).toEqual(['slow']);
});
