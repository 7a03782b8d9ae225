import type { IncomingMessage } from 'node:http';
import { getOperationAST, parse } from 'graphql';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { BODY_LIMIT_BYTES, DOCUMENT_LIMIT_CHARS, LINE_LIMIT, TOKEN_LIMIT } from '../limits/limits.ts';
import { requireBounded } from '../limits/variables.ts';

/**
 * The bytes of a request's body, sent as `application/json` (a form of another site cannot send that). Throws malformed_body, and
 * body_too_large before more than the limit was taken in.
 */
export async function readBody(request: IncomingMessage): Promise<Uint8Array> {
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
  return new Uint8Array(Buffer.concat(chunks)); // of its own memory: it may be handed to another thread
}

/** A body that may be executed. */
interface Operation {
  readonly query: string;
  readonly operationName?: unknown;
}

/** The one operation of a body. Throws malformed_body, body_too_large for a document over its limit, query_limit for such variables. */
export function operationOf(body: Uint8Array): Operation {
  const operation = jsonOf(body);
  if (operation === null || typeof operation !== 'object' || Array.isArray(operation)) {
    throw new ServiceError('malformed_body', 'the body must be one JSON object; batches are not accepted');
  }
  const { query, variables } = operation as { query?: unknown; variables?: unknown };
  if (typeof query !== 'string') {
    throw new ServiceError('malformed_body', 'query: must be the text of a GraphQL document', { parameter: 'query' });
  }
  if (query.length > DOCUMENT_LIMIT_CHARS) {
    const sentence = `query: is longer than ${DOCUMENT_LIMIT_CHARS} characters; put lists into variables`;
    throw new ServiceError('body_too_large', sentence, { parameter: 'query' });
  }
  if (query.split(/[\r\n]/, LINE_LIMIT + 1).length > LINE_LIMIT) {
    throw new ServiceError('body_too_large', `query: has more than ${LINE_LIMIT} lines`, { parameter: 'query' });
  }
  requireBounded(variables);
  return operation as Operation;
}

/** True for a change. Anything that cannot be read is none: where questions are answered it is said what is wrong with it. */
export function isChange(body: Uint8Array): boolean {
  try {
    const { query, operationName } = operationOf(body);
    const document = parse(query, { maxTokens: TOKEN_LIMIT, noLocation: true });
    return getOperationAST(document, typeof operationName === 'string' ? operationName : null)?.operation === 'mutation';
  } catch {
    return false;
  }
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  } catch {
    throw new ServiceError('malformed_body', 'the body is not JSON');
  }
}
