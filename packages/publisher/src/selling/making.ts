/** A page that a handler makes, read up to its end or to `maxBytes`, in the time that a page may take and while its buyer waits. */
import type { Sale } from './sale.ts';
import { MAKING_MS } from './sale.ts';

/** A page and what was read of it; `rest` is null when that is all. */
export interface Made {
  readonly page: Response;
  readonly chunks: Uint8Array<ArrayBuffer>[];
  readonly bytes: number;
  readonly rest: ReadableStreamDefaultReader<Uint8Array> | null;
}

interface Bounds {
  readonly sale: Pick<Sale, 'hold'>;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Null for a page that was too late or too large beside the others, and when the buyer left: its body is cancelled. Rejects as making it does. */
export async function makeInTime(make: () => Response | Promise<Response>, bounds: Bounds): Promise<Made | null> {
  const { signal } = bounds;
  const over = new AbortController();
  const stop = (): void => over.abort();
  const timer = setTimeout(stop, MAKING_MS);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const stopped = new Promise<null>((resolve) => {
    if (over.signal.aborted) resolve(null);
    over.signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  try {
    return await Promise.race([read(make, { ...bounds, signal: over.signal }), stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

async function read(make: () => Response | Promise<Response>, { sale, maxBytes, signal }: Bounds): Promise<Made | null> {
  const page = await make();
  const rest = page.body?.getReader() ?? null;
  const cancel = (): void => void rest?.cancel().catch(() => undefined);
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  while (rest && !signal.aborted) {
    const { done, value } = await rest.read();
    if (done) return { page, chunks, bytes, rest: null };
    chunks.push(value as Uint8Array<ArrayBuffer>);
    bytes += value.length;
    const hasRoom = sale.hold(value.length);
    if (bytes > maxBytes) return { page, chunks, bytes, rest };
    if (!hasRoom) break;
  }
  if (rest) cancel();
  return rest ? null : { page, chunks, bytes, rest };
}
