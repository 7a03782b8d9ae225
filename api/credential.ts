import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { publisherHash } from '../modules/identity/use/keys/keys.ts';
import { readBearer } from '../modules/kernel/access/bearer.ts';
import type { CredentialHash } from '../platform/tokens/pepper.ts';
import type { HandlerDeps } from './route.ts';

const MOST_CHARS = 4_096;

/** The bearer credential of a request; null when there is none (`readBearer`). */
export function bearerOf({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  return readBearer(headers.authorization, MOST_CHARS);
}

/** What the publisher key of a request is looked up by; null when it bears none that could have been issued. */
export type KeyReader = (request: IncomingMessage) => CredentialHash | null;

/**
 * Reads what the publisher key of a request is looked up by; null when it bears none that could have been issued. A connection
 * keeps to one key as a rule, so the last one of each is remembered as long as it is open.
 */
export function createKeyReader(deps: Pick<HandlerDeps, 'pepper' | 'testKeysEnabled'>): KeyReader {
  const last = new WeakMap<Socket, { readonly authorization: string | undefined; readonly keyHash: CredentialHash | null }>();
  return (request) => {
    const { authorization } = request.headers;
    const known = last.get(request.socket);
    if (known && known.authorization === authorization) return known.keyHash;
    const token = bearerOf(request);
    const keyHash = token === null ? null : publisherHash(deps.pepper, token, deps.testKeysEnabled);
    last.set(request.socket, { authorization, keyHash });
    return keyHash;
  };
}
