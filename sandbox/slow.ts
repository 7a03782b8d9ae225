import type { Progress } from './parts/progress.ts';

const FIRST_MS = 2_000;
const AGAIN_MS = 10_000;

/**
 * Says `starting <name>` when `work` takes longer than 2 s, and again every 10 s. Returns what `work` returns and
 * throws what it throws.
 */
export async function sayIfSlow<T>(progress: Progress, name: string, work: Promise<T>): Promise<T> {
  const begun = performance.now();
  const tell = (): void => {
    progress(`starting ${name}: ${Math.round((performance.now() - begun) / 1_000)} s`);
    timer = setTimeout(tell, AGAIN_MS);
  };
  let timer = setTimeout(tell, FIRST_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
