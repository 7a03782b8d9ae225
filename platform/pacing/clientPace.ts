/** What a pace is counted in. */
const MIB = 1_048_576;

/** How fast a client reads a file that is made while it reads. What the file waits for on our side does not count. */
export interface ClientPace {
  /** A chunk is handed to the client. */
  handed(): void;
  /** It was taken, and had so many bytes. */
  taken(bytes: number): void;
  /** What the client has taken so far for the MiB it is at, ms. */
  tookMs(): number;
}

/** Opens it for one client. `now`: ms of any origin. */
export function openClientPace(now: () => number): ClientPace {
  let [spentMs, bytes] = [0, 0];
  let handedMs: number | null = null;
  const tookMs = (): number => spentMs + (handedMs === null ? 0 : now() - handedMs);
  return {
    tookMs,
    handed: () => {
      handedMs = now();
    },
    taken: (ofChunk) => {
      spentMs = tookMs();
      handedMs = null;
      bytes += ofChunk;
      if (bytes < MIB) return;
      const past = bytes % MIB; // counts for the next
      [spentMs, bytes] = [(spentMs * past) / bytes, past];
    },
  };
}
