import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Bytes in the coding they are sent in; null: as they are. */
export interface Encoded {
  readonly coding: 'br' | 'gzip' | null;
  readonly bytes: Buffer;
}

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/**
 * Bytes that never change, in the best coding of those that an `Accept-Encoding` names. Each coding is made at the first asking, off this
 * thread, and kept, so that no number of calls compresses twice. `quality` is Brotli's, 0 … 11.
 */
export function compressible(bytes: Buffer, quality: number): (accepted: string) => Promise<Encoded> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const asBrotli = once(() => compressBrotli(bytes, { params }));
  const asGzip = once(() => compressGzip(bytes));
  return async (accepted) => {
    const names = accepted.split(',').flatMap((part) => (/;\s*q=0(\.0*)?\s*$/.test(part) ? [] : [part.split(';', 1)[0]?.trim()]));
    if (names.includes('br')) return { coding: 'br', bytes: await asBrotli() };
    if (names.includes('gzip')) return { coding: 'gzip', bytes: await asGzip() };
    return { coding: null, bytes };
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
