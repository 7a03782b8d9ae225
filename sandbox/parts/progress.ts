/** One line of progress for the person who waits. Never holds a secret. */
export type Progress = (line: string) => void;

/**
 * Says `line(seconds)` every `everyMs` while `work` is not done, so that a long wait never looks like a hang.
 * Returns what `work` returns and throws what it throws; nothing is said of work that is done before the first interval.
 */
export async function sayWhile<T>(
  progress: Progress,
  line: (elapsedSeconds: number) => string,
  work: Promise<T>,
  everyMs = 10_000,
): Promise<T> {
  const begun = performance.now();
  const timer = setInterval(() => progress(line(Math.round((performance.now() - begun) / 1000))), everyMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
