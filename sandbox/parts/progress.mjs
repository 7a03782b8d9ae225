/**
 * One line of progress for the person who waits. Never holds a secret.
 * @typedef {(line: string) => void} Progress
 */

const AGAIN_MS = 15_000;
const WIDTH = 80;

/**
 * A line that says what is still awaited. In a terminal it rewrites itself; elsewhere a line is printed when something else than a
 * number changes, and every 15 s. `clear` makes room for other output.
 * @param {{ readonly isTTY?: boolean, readonly columns?: number, write(text: string): unknown }} stream
 * @param {() => number} clock
 * @returns {{ show: Progress, clear: () => void }}
 */
export function createLine(stream, clock = () => performance.now()) {
  let step = '';
  let told = Number.NEGATIVE_INFINITY;
  let isOpen = false;
  return {
    show: (line) => {
      const text = line.slice(0, Math.min(stream.columns ?? WIDTH, WIDTH) - 1);
      if (stream.isTTY) {
        isOpen = true;
        stream.write(`\r\u001b[2K${text}`);
        return;
      }
      const next = line.replace(/\d+/g, '#');
      if (next === step && clock() - told < AGAIN_MS) return;
      step = next;
      told = clock();
      stream.write(`${text}\n`);
    },
    clear: () => {
      if (isOpen) stream.write('\r\u001b[2K');
      isOpen = false;
    },
  };
}

/**
 * Several things that are awaited at once, shown as one line of what is left, in the order they came. Nothing is shown of what takes
 * less than `quietMs`.
 * @param {Progress} show
 * @param {number} quietMs
 */
export function createWaits(show, quietMs = 2_000) {
  /** @type {Map<string, { begun: number, said: string | null }>} */
  const left = new Map();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const tell = () => {
    const now = performance.now();
    const slow = [...left].filter(([, { begun }]) => now - begun >= quietMs);
    if (slow.length === 0) return;
    const seconds = Math.round((now - Math.min(...slow.map(([, { begun }]) => begun))) / 1_000);
    show(`${seconds} s so far, left: ${slow.map(([name, { said }]) => (said === null ? name : `${name} (${said})`)).join(', ')}`);
  };
  return {
    /**
     * Shows `name` while `work` is not done; `say` tells how far it is. Returns what `work` returns and throws what it throws.
     * @template T
     * @param {string} name
     * @param {(say: Progress) => Promise<T>} work
     * @returns {Promise<T>}
     */
    async until(name, work) {
      /** @type {{ begun: number, said: string | null }} */
      const wait = { begun: performance.now(), said: null };
      left.set(name, wait);
      timer ??= setInterval(tell, 500);
      timer.unref();
      try {
        return await work((said) => {
          wait.said = said;
        });
      } finally {
        left.delete(name);
        if (left.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      }
    },
    /** Shows nothing any more; what is awaited goes on. */
    end() {
      clearInterval(timer);
      left.clear();
    },
  };
}
