import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';

/** What the work below takes on a quiet machine of two cores, ms. */
const REFERENCE_MS = 100;
const MOST = 8;
const ROUNDS = 3;
const BLOCK = Buffer.alloc(1 << 20, 7);
const BLOCKS = 64;

/**
 * How many times as long as a quiet machine of two cores this one takes for what tests do, now: to start two processes at once and to compute
 * beside them. At least 1 and at most 8; about a second.
 */
export async function measureSlowness(): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const beganAt = performance.now();
    const children = [0, 1].map(() =>
      spawn(process.execPath, ['-e', 'for (let i = 0, x = 0; i < 3e7; i++) x += i % 7'], { stdio: 'ignore' }),
    );
    const hash = createHash('sha256');
    for (let block = 0; block < BLOCKS; block += 1) hash.update(BLOCK);
    hash.digest();
    await Promise.all(children.map((child) => once(child, 'exit')));
    took.push(performance.now() - beganAt);
  }
  const median = took.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? REFERENCE_MS;
  return Math.round(10 * Math.min(Math.max(median / REFERENCE_MS, 1), MOST)) / 10;
}
