import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CutProxy } from '../support/proxy.ts';
import { startProxy } from '../support/proxy.ts';
import type { TestService } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

let service: TestService;
let temporal: CutProxy;
beforeAll(async () => {
  service = await startTestService({ apis: 0, worker: false });
  temporal = await startProxy(Number(new URL(`tcp://${service.temporal.address}`).port));
});
afterAll(async () => {
  await service.stop();
  await temporal.close();
});

test('every line of a worker is JSON, also what Temporal says of itself while it is away', async () => {
  const worker = await service.startWorker({ TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}` });
  const lines = (): string[] => readFileSync(worker.process.logFile, 'utf8').trim().split('\n');
  temporal.cut();
  await expect.poll(() => lines().some((line) => /gRPC|poll/i.test(line))).toBe(true);
  temporal.mend();
  for (const line of lines()) expect(() => JSON.parse(line), line).not.toThrow();
});
