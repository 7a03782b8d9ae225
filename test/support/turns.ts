/**
 * The longest that everything else waited while some work was done, in milliseconds of CPU: a busy machine makes it no longer. The stretch in which the
 * work ends counts as any other.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, isOver] = [0, false];
  let since = process.threadCpuUsage();
  const count = (): void => {
    const { user, system } = process.threadCpuUsage(since);
    longest = Math.max(longest, (user + system) / 1_000);
    since = process.threadCpuUsage();
  };
  const turn = (): void => {
    if (isOver) return;
    count();
    setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work();
    count();
  } finally {
    isOver = true;
  }
  return longest;
}

/** What work without a pause takes, in milliseconds of CPU: a busy machine makes it no longer. */
export function spentMs(work: () => void): number {
  const since = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(since);
  return (user + system) / 1_000;
}

/** Milliseconds of CPU that `work` of `slowness` takes on the machine for which limits in such milliseconds were chosen. */
const REFERENCE_MS = 15;
let slow: number | null = null;

/**
 * How many times longer this machine takes for a fixed piece of work than that for which limits were chosen; 1 where it is faster. For limits in
 * milliseconds of CPU that are near to what the work takes.
 */
export function slowness(): number {
  slow ??= Math.max(1, Math.min(...Array.from({ length: 7 }, () => spentMs(exercise))) / REFERENCE_MS);
  return slow;
}

/** Texts made, kept, found and compared by a pattern. */
function exercise(): void {
  const texts = new Map<string, number>();
  for (let n = 0; n < 20_000; n += 1) texts.set(`text ${n} of a page`, n);
  let found = 0;
  for (const [text, n] of texts) if (/^text \d*7 of/.test(text) && texts.has(`text ${n + 1} of a page`)) found += 1;
  if (found === 0) throw new Error('nothing was found');
}
