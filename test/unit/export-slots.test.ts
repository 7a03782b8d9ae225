import { expect, test } from 'vitest';
import type { ServiceError } from '../../domain/errors.ts';
import { createExportSlots } from '../../services/pacing/exportSlots.ts';

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
    const file = { isClosed: false, read: async (): Promise<string> => (await chunks.next().catch(codeOf)) as string };
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
  const [first, ...others] = ['a', 'a', 'b', 'b'].map((site, n) => download(`${site}${n}`, site));
  await first!.read();
  wentBy(1);
  for (const other of others) await other.read();
  wentBy(9_999);
  expect(take('c1', 'c')).toBe('overloaded');
  wentBy(1);
  const begin = wait('d1', 'd');
  expect(first!.isClosed).toBe(false);
  expect(begin()).toBe('begun');
  expect([first, ...others].map((file) => file!.isClosed)).toEqual([true, false, false, false]);
  expect(await first!.read()).toBe('overloaded');
  expect(take('c1', 'c')).toBe('overloaded');
});

test('a client that reads a MiB in ten seconds keeps its place, however long we take for the next chunk', async () => {
  const { take, download, wentBy } = stage();
  const told: unknown[] = [];
  const makeSlowly = (): void => {
    wentBy(60_000);
    told.push(take('e', 'e'));
  };
  const file = download('a', 'a', { bytes: 600_000, meanwhile: makeSlowly });
  for (const key of ['b', 'c', 'd']) take(key, key);
  for (let n = 0; n < 6; n++) {
    await file.read();
    wentBy(4_900);
  }
  expect([...told, take('e', 'e')]).toEqual(Array(7).fill('overloaded'));
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
