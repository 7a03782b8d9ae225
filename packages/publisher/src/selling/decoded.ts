/**
 * What a page is without its content coding: what a buyer holds once his client has undone it. By `node:zlib` under Node, elsewhere by
 * `DecompressionStream`, which knows fewer codings.
 */
type Decode = (chunks: readonly Uint8Array[]) => AsyncIterable<Uint8Array>;
type Zlib = typeof import('node:zlib');

const MAKERS = {
  gzip: 'createGunzip',
  'x-gzip': 'createGunzip',
  deflate: 'createInflate',
  br: 'createBrotliDecompress',
  zstd: 'createZstdDecompress',
} as const;

/** True when the page has at least one byte once its coding is undone, and also when nobody here knows the coding; false for what is broken. */
export async function hasContent(chunks: readonly Uint8Array[], encoding: string | undefined): Promise<boolean> {
  const decode = decoderFor(encoding);
  if (decode === null) return true;
  try {
    for await (const chunk of decode(chunks)) if (chunk.length > 0) return true;
  } catch {
    // No client can read it either.
  }
  return false;
}

/** The page without its coding; null when that is unknown here, or the page broken or longer than `most` bytes. */
export async function decodedPage(
  chunks: readonly Uint8Array[],
  encoding: string | undefined,
  most: number,
): Promise<readonly Uint8Array[] | null> {
  const decode = decoderFor(encoding);
  if (decode === null) return null;
  const decoded: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of decode(chunks)) {
      bytes += chunk.length;
      if (bytes > most) return null;
      decoded.push(chunk);
    }
  } catch {
    return null;
  }
  return decoded;
}

/** The decoder of a `Content-Encoding`; null for a coding that is unknown here, and for several. */
function decoderFor(encoding = ''): Decode | null {
  const name = encoding.trim().toLowerCase();
  return name === '' || name === 'identity' ? asItIs : decoderOf(name);
}

async function* asItIs(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks;
}

function decoderOf(name: string): Decode | null {
  const make = name in MAKERS ? MAKERS[name as keyof typeof MAKERS] : null;
  if (make === null) return null;
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const zlib = process?.getBuiltinModule?.('node:zlib') as Partial<Zlib> | undefined;
  if (zlib) return byZlib(zlib, make);
  return make === 'createGunzip' ? byStream('gzip') : make === 'createInflate' ? byStream('deflate') : null;
}

function byZlib(zlib: Partial<Zlib>, make: (typeof MAKERS)[keyof typeof MAKERS]): Decode | null {
  const create = zlib[make];
  if (!create) return null;
  return (chunks) => {
    const decoder = create();
    for (const chunk of chunks) decoder.write(chunk);
    decoder.end();
    return decoder as AsyncIterable<Uint8Array>;
  };
}

function byStream(format: 'gzip' | 'deflate'): Decode {
  return async function* (chunks) {
    const reader = new Blob(chunks as Uint8Array<ArrayBuffer>[])
      .stream()
      .pipeThrough(new DecompressionStream(format))
      .getReader();
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  };
}
