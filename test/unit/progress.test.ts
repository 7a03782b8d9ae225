import { expect, onTestFinished, test, vi } from 'vitest';
import { createLine, createWaits } from '../../sandbox/parts/progress.mjs';

function createStream(isTTY: boolean): { isTTY: boolean; columns: number; text: string; write(text: string): void } {
  return {
    isTTY,
    columns: 80,
    text: '',
    write(text: string) {
      this.text += text;
    },
  };
}

test('in a terminal the line rewrites itself, never breaks, and makes room for other output', () => {
  const stream = createStream(true);
  const line = createLine(stream);
  line.show('left: packages');
  line.show('x'.repeat(200));
  line.clear();
  expect(stream.text).toBe(`\r\u001b[2Kleft: packages\r\u001b[2K${'x'.repeat(79)}\r\u001b[2K`);
});

test('without a terminal a line comes when something else than a number changes, and every 15 s', () => {
  const stream = createStream(false);
  let now = 0;
  const line = createLine(stream, () => now);
  for (const [at, text] of [
    [0, '1 s, left: packages'],
    [1, '2 s, left: packages'],
    [2, '3 s, left: Temporal'],
    [17_002, '18 s, left: Temporal'],
  ] as const) {
    now = at;
    line.show(text);
  }
  line.clear();
  expect(stream.text).toBe('1 s, left: packages\n3 s, left: Temporal\n18 s, left: Temporal\n');
});

test('what is awaited at once is one line of what is left, with how far each is; what is done at once is not told', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const told: string[] = [];
  const waits = createWaits((line) => told.push(line), 0);
  const ends: (() => void)[] = [];
  const packages = waits.until('packages', (say) => {
    say('3 of 9');
    return new Promise<void>((done) => ends.push(done));
  });
  const temporal = waits.until('Temporal', () => new Promise<void>((done) => ends.push(done)));
  vi.advanceTimersByTime(1_000);
  expect(told.at(-1)).toBe('1 s so far, left: packages (3 of 9), Temporal');
  ends[0]?.();
  await packages;
  vi.advanceTimersByTime(1_000);
  expect(told.at(-1)).toBe('2 s so far, left: Temporal');
  ends[1]?.();
  await temporal;
  const lines = told.length;
  vi.advanceTimersByTime(2_000);
  expect(told).toHaveLength(lines);
});
