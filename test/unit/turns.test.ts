import { expect, test } from 'vitest';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { openTurns } from '../../platform/pacing/fairQueue.ts';

const LIMITS = { atOnce: 2, mostWaiting: 3, waitMs: 60_000 };

/** Enters for each caller in order and notes who began; `end` ends the turns that began first. */
function stage(limits = LIMITS) {
  const turns = openTurns(limits);
  const began: string[] = [];
  const running: (() => void)[] = [];
  const refused: string[] = [];
  const enter = async (who: string): Promise<void> => {
    try {
      const leave = await turns.enter([who.split(' ', 1)[0] as string]);
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
      ends.push(await turns.enter([who, about]));
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
    ['c1', 'c', 'x'], // the third about one site waits, for any caller
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

test('sites that wait come in turns, and so do the keys of a site, however many keys one of them has', async () => {
  const turns = openTurns({ atOnce: 1, mostWaiting: 9, waitMs: 60_000 });
  const began: string[] = [];
  const leave = await turns.enter(['z']);
  for (const [site, key] of ['x1', 'x1', 'x1', 'x2', 'x3', 'y1', 'y1'].map((of) => [of[0] as string, of] as const)) {
    void turns.enter([site, key]).then((end) => {
      began.push(key);
      setImmediate(end);
    });
  }
  leave();
  await expect.poll(() => began).toEqual(['x1', 'y1', 'x2', 'y1', 'x3', 'x1', 'x1']);
});

test('who comes back again and again does not pass one that waits', async () => {
  const turns = openTurns({ atOnce: 1, mostWaiting: 9, waitMs: 60_000 });
  const began: string[] = [];
  const leave = await turns.enter(['z']);
  const ask = async (who: string): Promise<void> => {
    const end = await turns.enter([who]);
    began.push(who);
    if (began.length < 8 && who === 'a') void ask('a');
    end();
  };
  for (const who of ['a', 'b', 'b']) void ask(who);
  leave();
  await expect.poll(() => began.slice(0, 4)).toEqual(['a', 'b', 'a', 'b']);
});

test('one turn that ends lets in everybody whom it kept waiting, each by another name', async () => {
  const named = new Map([['thread', { atOnce: 1, mostWaiting: 9 }]]);
  const turns = openTurns({ atOnce: 9, mostOfOne: 1, mostWaiting: 9, waitMs: 60_000, named });
  const began: string[] = [];
  const leave = await turns.enter(['key', 'site x', 'thread']);
  void turns.enter(['b', 'site x']).then(() => began.push('for the site'));
  void turns.enter(['c', 'site y', 'thread']).then(() => began.push('for the thread'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(began).toEqual([]);
  leave();
  await new Promise((resolve) => setImmediate(resolve));
  expect(began).toEqual(['for the site', 'for the thread']);
});

test('whoever goes away while it waits, or was gone before, has no turn and takes no place', async () => {
  const turns = openTurns({ atOnce: 1, mostWaiting: 1, waitMs: 60_000 });
  const leave = await turns.enter(['a']);
  const leaving = new AbortController();
  const gone = turns.enter(['a'], leaving.signal);
  await expect(turns.enter(['a'])).rejects.toMatchObject({ code: 'throttled' });
  leaving.abort();
  await expect(gone).rejects.toMatchObject({ code: 'throttled' });
  const next = turns.enter(['a']);
  leave();
  await expect(turns.enter(['b'], leaving.signal)).rejects.toMatchObject({ code: 'throttled' });
  expect(await next).toBeTypeOf('function');
});

test('a line that one of those who share it fills takes in another, and the last of the first gives way', async () => {
  const turns = openTurns({
    atOnce: 1,
    mostWaiting: 20,
    named: new Map([['all questions', { atOnce: 1, mostWaiting: 4 }]]),
    waitMs: 60_000,
  });
  const refused: string[] = [];
  const entered: string[] = [];
  let leave = await turns.enter(['somebody', 'all questions']);
  const enter = (who: string, line: string): void =>
    void turns.enter([line, who, 'all questions']).then(
      (end) => {
        leave = end;
        entered.push(who);
      },
      () => refused.push(who),
    );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  for (const who of ['greedy 1', 'greedy 2', 'greedy 3', 'greedy 4', 'greedy 5']) enter(who, 'greedy');
  await settle();
  expect(refused).toEqual(['greedy 5']);
  enter('quiet 1', 'quiet');
  enter('quiet 2', 'quiet');
  await settle();
  expect(refused).toEqual(['greedy 5', 'greedy 4', 'greedy 3']);
  // Each has two now: nobody takes more.
  enter('quiet 3', 'quiet');
  enter('greedy 6', 'greedy');
  await settle();
  expect(refused.slice(3)).toEqual(['quiet 3', 'greedy 6']);
  for (let turn = 0; turn < 4; turn++) {
    leave();
    await settle();
  }
  expect(entered).toEqual(['greedy 1', 'quiet 1', 'greedy 2', 'quiet 2']);
});
