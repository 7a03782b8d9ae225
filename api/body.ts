import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../modules/kernel/errors.ts';
import { beginInTurn } from '../platform/pacing/eventLoop.ts';

/** Deepest JSON that is read. */
const MAX_DEPTH = 16;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and parses a JSON body of at most `limitBytes`. Throws 400: body_too_large (told by the length alone when it is
 * stated), malformed_body for an encoding, text that is not UTF-8 or JSON, or nesting deeper than 16.
 */
export async function readJsonBody(request: IncomingMessage, limitBytes: number): Promise<unknown> {
  return parseJson(await readPlain(request, limitBytes));
}

/**
 * Reads a body as a route wants it: `undefined` without a limit (no body) and for an optional one that is empty, the fields by
 * name for a form (a repeated one is 400), else JSON. Throws like `readJsonBody`.
 */
export async function readBody(
  request: IncomingMessage,
  limitBytes: number | undefined,
  type: 'json' | 'optional' | 'form' = 'json',
): Promise<unknown> {
  if (limitBytes === undefined) return undefined;
  if (type === 'json') return readJsonBody(request, limitBytes);
  const bytes = await readPlain(request, limitBytes);
  if (type === 'optional') return bytes.length === 0 ? undefined : parseJson(bytes);
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
    if (fields.has(name)) throw new ServiceError('malformed_body', 'the body repeats a field');
    fields.set(name, value);
  }
  return fields;
}

/** Bodies that came in together are not understood in one go: a quote that came with them is answered in between. */
async function readPlain(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new ServiceError('malformed_body', 'the body must not be compressed');
  const bytes = await readBytes(request, limitBytes);
  await new Promise<void>(beginInTurn);
  return bytes;
}

function parseJson(bytes: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new ServiceError('malformed_body', 'the body is not UTF-8');
  }
  if (depthOf(text) > MAX_DEPTH) throw new ServiceError('malformed_body', `the body nests deeper than ${MAX_DEPTH}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError('malformed_body', 'the body is not JSON');
  }
}

function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const tooLarge = (): ServiceError => new ServiceError('body_too_large', `the body is larger than ${limitBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limitBytes) {
        request.off('data', onData);
        reject(tooLarge());
      } else chunks.push(chunk);
    };
    const onCut = (): void => reject(new ServiceError('malformed_body', 'the body ended before it was complete'));
    request.on('data', onData);
    request.once('error', onCut);
    request.once('close', onCut);
    request.once('end', () => {
      request.off('close', onCut);
      resolve(Buffer.concat(chunks));
    });
  });
}

/** Deepest nesting of brackets outside strings; linear, and before any parser sees the text. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) isString = false;
    } else if (code === 0x22) isString = true;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}
