import { expect, test } from 'vitest';
import { openTurns } from '../../graphql/limits/turns.ts';

const LIMITS = { atOnce: 2, mostWaiting: 3, waitMs: 60_000 };

/** Enters for each caller in order and notes who began; `end` ends the turns that began first. */
function stage(limits = LIMITS) {
  const turns = openTurns(limits);
  const began: string[] = [];
  const running: (() => void)[] = [];
  const refused: string[] = [];
  const enter = async (who: string): Promise<void> => {
    try {
      const leave = await turns.enter(who.split(' ', 1)[0] as string);
      began.push(who);
      running.push(leave);
    } catch (error) {
      refused.push(`${who}: ${(error as { code?: string }).code}`);
    }
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (): Promise<void> => {
    running.shift()?.();
    await settle();
  };
  return { began, refused, running, enter, end, settle };
}

test('so many run at once, and each that ends lets one in', async () => {
  const { began, enter, end, settle } = stage();
  for (const who of ['a 1', 'a 2', 'a 3', 'a 4']) void enter(who);
  await settle();
  expect(began).toEqual(['a 1', 'a 2']);
  await end();
  await end();
  expect(began).toEqual(['a 1', 'a 2', 'a 3', 'a 4']);
});

test('callers that wait come in turns, however much one of them asks', async () => {
  const { began, enter, end, settle } = stage();
  for (const who of ['a 1', 'a 2', 'a 3', 'a 4', 'a 5', 'b 1', 'c 1']) void enter(who);
  await settle();
  for (let turn = 0; turn < 5; turn++) await end();
  expect(began.slice(2)).toEqual(['a 3', 'b 1', 'c 1', 'a 4', 'a 5']);
});

test('a caller with too many waiting is throttled; another one is not', async () => {
  const { refused, began, enter, end, settle } = stage();
  for (const who of ['a 1', 'a 2', 'a 3', 'a 4', 'a 5', 'a 6', 'b 1']) void enter(who);
  await settle();
  expect(refused).toEqual(['a 6: throttled']);
  for (let turn = 0; turn < 4; turn++) await end();
  expect(began).toContain('b 1');
});

test('who waits too long is throttled, and its turn goes to nobody', async () => {
  const { refused, began, running, enter, end, settle } = stage({ ...LIMITS, waitMs: 1 });
  for (const who of ['a 1', 'a 2', 'a 3']) void enter(who);
  await expect.poll(() => refused).toEqual(['a 3: throttled']);
  await end();
  await end();
  for (const who of ['a 4', 'a 5']) void enter(who);
  await settle();
  expect([began, running.length]).toEqual([['a 1', 'a 2', 'a 4', 'a 5'], 2]);
});

test('a turn that is ended twice counts once', async () => {
  const { began, running, enter, settle } = stage();
  for (const who of ['a 1', 'a 2', 'a 3', 'a 4']) void enter(who);
  await settle();
  running[0]?.();
  running[0]?.();
  await settle();
  expect(began).toEqual(['a 1', 'a 2', 'a 3']);
});
