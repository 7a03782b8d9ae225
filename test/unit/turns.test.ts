import { expect, test } from 'vitest';
import { ServiceError } from '../../domain/errors.ts';
import { openTurns } from '../../services/pacing/turns.ts';

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

test('no caller and nothing that is asked about holds all places, even while some are free', async () => {
  const refusal = () => new ServiceError('overloaded', 'full');
  const turns = openTurns({ atOnce: 4, mostOfOne: 2, mostWaiting: 1, mostWaitingInAll: 3, waitMs: 60_000, refusal });
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  const enter = async (name: string, who: string, about: string): Promise<void> => {
    try {
      ends.push(await turns.enter(who, about));
      began.push(name);
    } catch (error) {
      refused.push(`${name}: ${(error as { code?: string }).code}`);
    }
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  for (const [name, who, about] of [
    ['a1', 'a', 'x'],
    ['a2', 'a', 'y'],
    ['a3', 'a', 'z'], // the third of one caller waits
    ['a4', 'a', 'z'], // and only one of it does
    ['b1', 'b', 'x'],
    ['c1', 'c', 'x'], // the third about one site waits, whoever asks
    ['d1', 'd', 'w'], // while there is room for others
    ['e1', 'e', 'v'],
    ['f1', 'f', 'u'],
  ] as const) {
    void enter(name, who, about);
  }
  await settle();
  expect([began, refused]).toEqual([
    ['a1', 'a2', 'b1', 'd1'],
    ['a4: overloaded', 'f1: overloaded'],
  ]);
  for (let turn = 0; turn < 7; turn++) {
    ends.shift()?.();
    await settle();
  }
  expect(began.slice(4).sort()).toEqual(['a3', 'c1', 'e1']);
});
