/**
 * Work whose answer is good for a while: those who ask while it is made, or within `lifeMs` after, get the same one, so that any number of
 * them costs one. A failure is remembered as long.
 */
export function remembered<T>(work: () => Promise<T>, lifeMs: number, clock = () => performance.now()): () => Promise<T> {
  let last: { readonly answer: Promise<T>; endedAtMs: number } | null = null;
  return () => {
    if (last && clock() - last.endedAtMs < lifeMs) return last.answer;
    const made = { answer: work(), endedAtMs: Number.POSITIVE_INFINITY };
    last = made;
    const end = (): void => {
      made.endedAtMs = clock();
    };
    made.answer.then(end, end);
    return made.answer;
  };
}
