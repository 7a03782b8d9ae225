import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startProcess, untilReady } from '../../sandbox/parts/processes.ts';

test('a part that ends while it starts is told with the reason it gave, however long its stack', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'part-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const script = `console.log('panic: listen tcp 127.0.0.1:7233: bind: address already in use'); for (let i = 0; i < 40; i++) console.log('main.go:' + i)`;
  const part = await startProcess({
    name: 'Temporal',
    command: process.execPath,
    args: ['-e', script],
    logFile: join(folder, 'log'),
  });
  await part.exited;
  await expect(untilReady(part, () => Promise.reject(new Error('no')), 1_000)).rejects.toThrow(
    /address already in use(?:.|\n)*main\.go:39/,
  );
});
