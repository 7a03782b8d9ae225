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
