import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { startDrawing } from '../../modules/reports/use/statement/drawing.ts';
import type { StatementReport } from '../../modules/reports/use/statement/report.ts';
import { keepThread, takeThread } from '../../modules/reports/use/statement/threads.ts';

const NONE = { events: 0, reads: 0, citations: 0, grossMicro: 0n };
const EMPTY = { lines: [], rest: 0, restMicro: 0n };
const REPORT: StatementReport = {
  generatedAtMs: 0,
  window: { fromMs: 0, toMs: null, clampedToMs: null },
  hosts: ['h.example'],
  authorId: null,
  number: '0000-0000-0000',
  timeZone: 'UTC',
  publisher: { legalName: null, legalAddress: null },
  totals: NONE,
  corrections: { count: 0, micro: 0n },
  pages: EMPTY,
  licences: { ...NONE, count: 0 },
  wallets: EMPTY,
  transactions: EMPTY,
};

function ofScript(script: string, resourceLimits = {}) {
  return { start: () => new Worker(script, { eval: true, resourceLimits }) };
}

test('a thread draws what it was handed over', async () => {
  const drawing = startDrawing();
  await drawing.addRows(Buffer.alloc(0));
  const bytes = await drawing.draw(REPORT, 5);
  expect(Buffer.from(bytes).subarray(0, 5).toString()).toBe('%PDF-');
  await drawing.end();
  await drawing.end();
  await expect(drawing.draw(REPORT, 5)).rejects.toThrow('ended');
});

test('a thread that takes too long or too much memory is ended, and whoever asked is told to ask for less', async () => {
  const slow = startDrawing({ ...ofScript('while (true);'), limitMs: 200 });
  await expect(slow.draw(REPORT, 5)).rejects.toMatchObject({ code: 'overloaded', message: expect.stringContaining('more time') });
  await expect(slow.addRows(Buffer.alloc(1))).rejects.toMatchObject({ code: 'overloaded' });
  const greedy = startDrawing(
    ofScript('const all = []; while (true) all.push(Array(1e4).fill(all.length));', { maxOldGenerationSizeMb: 16 }),
  );
  await expect(greedy.draw(REPORT, 5)).rejects.toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('more memory'),
  });
  const broken = startDrawing(ofScript('throw new Error("broken");'));
  await expect(broken.draw(REPORT, 5)).rejects.toThrow('broken');
  for (const drawing of [slow, greedy, broken]) await drawing.end();
});

test('a thread draws the next document as it drew the first; one that did not finish, or holds much, draws no other', async () => {
  const drawn = async (hosts: readonly string[]): Promise<string> => {
    const drawing = startDrawing();
    const bytes = await drawing.draw({ ...REPORT, hosts }, 5);
    await drawing.end();
    return Buffer.from(bytes).toString('latin1');
  };
  const first = await drawn(['first.example']);
  const kept = takeThread();
  await keepThread(kept, 0);
  expect(await drawn(['other.example'])).not.toBe(first);
  expect(await drawn(['first.example'])).toBe(first);
  const again = takeThread();
  expect(again).toBe(kept);
  const beside = takeThread();
  expect(beside).not.toBe(kept);
  await beside.terminate();
  await keepThread(again, 1e9);
  const afterLarge = takeThread();
  expect(afterLarge).not.toBe(kept);
  await keepThread(afterLarge, 0);
  const unfinished = startDrawing();
  await unfinished.addRows(Buffer.alloc(0));
  await unfinished.end();
  const afterUnfinished = takeThread();
  expect(afterUnfinished).not.toBe(afterLarge);
  await afterUnfinished.terminate();
});
