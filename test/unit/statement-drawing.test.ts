import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { startDrawing } from '../../services/reports/statement/drawing.ts';
import type { StatementReport } from '../../services/reports/statement/report.ts';

const NONE = { events: 0, reads: 0, citations: 0, grossMicro: 0n };
const EMPTY = { lines: [], rest: 0, restMicro: 0n };
const REPORT: StatementReport = {
  ...{ generatedAtMs: 0, window: { fromMs: 0, toMs: null, clampedToMs: null }, hosts: ['h.example'], authorId: null },
  ...{ totals: NONE, pages: EMPTY, licences: { ...NONE, count: 0 }, wallets: EMPTY, transactions: EMPTY },
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
