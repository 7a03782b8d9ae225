/**
 * What waits when a process has nothing else to do leaves then: one listener a process, however many gates it opens. A queue is known here only
 * while something waits in it, so that a gate which nobody uses any more is forgotten. Platforms without processes have no such moment.
 */
const waiting = new Set<() => void>();

interface Process {
  readonly on?: (event: 'beforeExit', listener: () => void) => unknown;
}

let isListening = false;

/** Has `leave` called when the process would end, until `nothingWaits`; a second call changes nothing. What it starts is waited for. */
export function waits(leave: () => void): void {
  waiting.add(leave);
  if (isListening) return;
  isListening = true;
  const { process } = globalThis as { readonly process?: Process };
  process?.on?.('beforeExit', () => {
    for (const one of [...waiting]) one();
  });
}

/** Takes back what `waits` was told. */
export function nothingWaits(leave: () => void): void {
  waiting.delete(leave);
}
