import { expect, test } from 'vitest';
import type { ServiceError } from '../../modules/kernel/errors.ts';
import { createExportSlots } from '../../platform/pacing/exportSlots.ts';

function stage() {
  let nowMs = 5_000;
  const slots = createExportSlots(4, () => nowMs);
  const codeOf = (error: unknown): string => (error as ServiceError).code;
  /** What gives a file back that has begun, or why there is none. */
  const take = (keyId: string, tenantId: string): (() => void) | string => {
    try {
      const slot = slots.take({ keyId, tenantId });
      slot.begin();
      return slot.giveBack;
    } catch (error) {
      return codeOf(error);
    }
  };
  /** A file that waits: what begins it later, and gives it back where there is no room. */
  const wait = (keyId: string, tenantId: string): (() => string) => {
    const slot = slots.take({ keyId, tenantId });
    return () => {
      try {
        slot.begin();
        return 'begun';
      } catch (error) {
        slot.giveBack();
        return codeOf(error);
      }
    };
  };
  const wentBy = (ms: number): void => {
    nowMs += ms;
  };
  /** A file that has begun: what reads its next chunk, and whether it was closed. */
  const download = (keyId: string, tenantId: string, { bytes = 1_000, meanwhile = (): void => undefined } = {}) => {
    const slot = slots.take({ keyId, tenantId });
    slot.begin();
    const file = {
      isClosed: false,
      isCut: () => slot.cut.aborted,
      read: async (): Promise<string> => (await chunks.next().catch(codeOf)) as string,
    };
    async function* made(): AsyncGenerator<Buffer> {
      for (;;) {
        meanwhile();
        if (file.isClosed) throw new Error('its connection was cut');
        yield Buffer.alloc(bytes);
      }
    }
    const chunks = slot.readAtPace(made(), () => {
      file.isClosed = true;
      slot.giveBack();
      return Promise.resolve();
    });
    return file;
  };
  return { take, wait, download, wentBy };
}

test('one site holds half of the places at most, whatever keys it has; the others are for others', () => {
  const { take } = stage();
  expect([typeof take('a1', 'a'), typeof take('a2', 'a'), take('a3', 'a')]).toEqual(['function', 'function', 'throttled']);
  expect([typeof take('b1', 'b'), typeof take('c1', 'c')]).toEqual(['function', 'function']);
  expect(take('d1', 'd')).toBe('overloaded');
});

test('a second export of a key is throttled, also where there is no room for anybody', () => {
  const { take } = stage();
  expect([typeof take('a1', 'a'), take('a1', 'a')]).toEqual(['function', 'throttled']);
  for (const site of ['b', 'c', 'd']) take(`${site}1`, site);
  expect([take('a1', 'a'), take('e1', 'e')]).toEqual(['throttled', 'overloaded']);
});

test('files that wait hold no place, but count for their key and their site', () => {
  const { take, wait } = stage();
  for (const key of ['a1', 'a2', 'b1', 'b2']) wait(key, key.slice(0, 1));
  expect([take('a3', 'a'), take('b1', 'b')]).toEqual(['throttled', 'throttled']);
  expect(['c1', 'd1', 'e1', 'f1'].map((key) => typeof take(key, key))).toEqual(Array(4).fill('function'));
});

test('a file whose turn comes when no place is left is told so, and counts no more', () => {
  const { take, wait } = stage();
  const begin = wait('a1', 'a');
  const [giveBack] = ['c1', 'd1', 'e1', 'f1'].map((key) => take(key, key));
  expect(begin()).toBe('overloaded');
  (giveBack as () => void)();
  expect(typeof take('a1', 'a')).toBe('function');
});

test('a place that is given back twice is given back once', () => {
  const { take } = stage();
  const giveBack = take('a1', 'a') as () => void;
  giveBack();
  expect(typeof take('a1', 'a')).toBe('function');
  giveBack();
  expect(take('a1', 'a')).toBe('throttled');
});

test('when every place is taken and a file needs one, the client that has read slowest for over ten seconds loses its own', async () => {
  const { take, wait, download, wentBy } = stage();
  const [first, ...others] = ['a', 'b', 'c', 'd'].map((site) => download(site, site));
  await first!.read();
  wentBy(1);
  for (const other of others) await other.read();
  wentBy(9_999);
  expect(take('e', 'e')).toBe('overloaded');
  wentBy(1);
  const begin = wait('f', 'f');
  expect([first!.isClosed, first!.isCut()]).toEqual([false, false]);
  expect(begin()).toBe('begun');
  expect([first, ...others].map((file) => [file!.isClosed, file!.isCut()])).toEqual([
    [true, true],
    ...Array(3).fill([false, false]),
  ]);
  expect(await first!.read()).toBe('overloaded');
  expect(take('e', 'e')).toBe('overloaded');
});

test('where all read fast, a site without a file gets the place of the oldest of a site that has two, after ten seconds', async () => {
  const { take, download, wentBy } = stage();
  const files = ['a1', 'b1', 'b2', 'c1'].map((key) => download(key, key.slice(0, 1), { bytes: 2_000_000 }));
  const readAll = async () => {
    for (const file of files) await file.read();
  };
  await readAll();
  wentBy(5_000);
  await readAll();
  wentBy(5_000);
  expect(take('d1', 'd')).toBe('overloaded');
  await readAll();
  wentBy(1);
  expect(take('a2', 'a')).toBe('overloaded');
  expect(typeof take('d1', 'd')).toBe('function');
  expect(files.map(({ isClosed }) => isClosed)).toEqual([false, true, false, false]);
  expect(take('e1', 'e')).toBe('overloaded');
});

test('a client is as fast as all that it has read, not as whole MiB of it', async () => {
  const { take, download, wentBy } = stage();
  const file = download('a', 'a', { bytes: 65_300 });
  for (const key of ['b', 'c', 'd']) take(key, key);
  await file.read();
  for (let n = 0; n < 200; n++) {
    wentBy(610); // 107 KB a second
    await file.read();
    expect([n, take('e', 'e')]).toEqual([n, 'overloaded']);
  }
});

test('a client that reads a MiB in ten seconds keeps its place, however long we take for the next chunk', async () => {
  const { take, download, wentBy } = stage();
  const told: unknown[] = [];
  const makeSlowly = (): void => {
    wentBy(60_000);
    told.push(take('e', 'e'));
  };
  const file = download('a', 'a', { bytes: 60_000, meanwhile: makeSlowly });
  for (const key of ['b', 'c', 'd']) take(key, key);
  for (let n = 0; n < 60; n++) {
    await file.read();
    wentBy(490);
  }
  expect([...told, take('e', 'e')]).toEqual(Array(61).fill('overloaded'));
  expect(file.isClosed).toBe(false);
});

test('a file that loses its place while it waits for its next rows is told so, and not that its connection was cut', async () => {
  const { take, download, wentBy } = stage();
  const fifth: unknown[] = [];
  let chunk = 0;
  const file = download('a', 'a', { meanwhile: () => void (chunk++ === 1 && fifth.push(take('e', 'e'))) });
  for (const key of ['b', 'c', 'd']) take(key, key);
  await file.read();
  wentBy(10_001);
  expect(await file.read()).toBe('overloaded');
  expect(fifth).toEqual([expect.any(Function)]);
});
