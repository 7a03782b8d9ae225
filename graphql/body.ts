import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../domain/errors.ts';
import { BODY_LIMIT_BYTES, DOCUMENT_LIMIT_CHARS } from './limits/limits.ts';

/**
 * The text of a request's body: one JSON object, sent as `application/json` (a form of another site cannot send that). Throws
 * malformed_body, and body_too_large for a body or a document over its limit, before more than the limit was taken in.
 */
export async function readOperation(request: IncomingMessage): Promise<string> {
  const [type] = (request.headers['content-type'] ?? '').split(';', 1);
  if (type?.trim().toLowerCase() !== 'application/json') {
    throw new ServiceError('malformed_body', 'the body must be sent as application/json');
  }
  if (request.headers['content-encoding'] !== undefined && request.headers['content-encoding'] !== 'identity') {
    throw new ServiceError('malformed_body', 'the body must not be compressed');
  }
  const tooLarge = new ServiceError('body_too_large', `the body is larger than ${BODY_LIMIT_BYTES} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > BODY_LIMIT_BYTES) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_LIMIT_BYTES) throw tooLarge;
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const operation = parse(text);
  if (operation === null || typeof operation !== 'object' || Array.isArray(operation)) {
    throw new ServiceError('malformed_body', 'the body must be one JSON object; batches are not taken');
  }
  const { query } = operation as { query?: unknown };
  if (typeof query !== 'string') {
    throw new ServiceError('malformed_body', 'query: must be the text of a GraphQL document', { parameter: 'query' });
  }
  if (query.length > DOCUMENT_LIMIT_CHARS) {
    const sentence = `query: is longer than ${DOCUMENT_LIMIT_CHARS} characters; lists belong into variables`;
    throw new ServiceError('body_too_large', sentence, { parameter: 'query' });
  }
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError('malformed_body', 'the body is not JSON');
  }
}
