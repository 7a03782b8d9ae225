/** Something that is opened for the first who asks, once for all; after a failure it is tried again for who asks after a pause. */
export interface WhenAsked<T> {
  /** Opens it if it is not open. Rejects as opening does, also during the pause after that, and once it is closed. */
  open(): Promise<T>;
  /** Closes what was opened, also what is being opened just now. */
  readonly close: () => Promise<void>;
}

/** Opening may cost a thread and its connections: callers without a credential must not trigger it all the time. */
const PAUSE_MS = 5_000;

/** Puts off `open` until somebody asks; `close` gets what came of it, if anything did. */
export function openWhenAsked<T>(
  open: () => Promise<T>,
  close: (opened: T) => Promise<void>,
  pauseMs: number = PAUSE_MS,
): WhenAsked<T> {
  let opening: Promise<T> | null = null;
  let isClosed = false;
  return {
    open: () => {
      if (isClosed) return Promise.reject(new Error('it is closed'));
      opening ??= open().catch((error: unknown) => {
        setTimeout(() => {
          opening = null;
        }, pauseMs).unref();
        throw error;
      });
      return opening;
    },
    close: async () => {
      isClosed = true;
      const opened = await opening?.then(
        (value) => ({ value }),
        () => undefined,
      );
      if (opened) await close(opened.value);
    },
  };
}
