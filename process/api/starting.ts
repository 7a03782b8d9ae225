import type { RequestListener } from 'node:http';
import { VERSION } from '../version.ts';
import type { Part } from '../whileAway.ts';

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'retry-after': '1',
  'cache-control': 'no-store',
  connection: 'close',
};

/**
 * Answers while the API opens, which waits for the part that `awaited` names, if any: /healthz says that the process lives, /readyz what it
 * waits for, and everything else is 503 with Retry-After.
 */
export function answerWhileStarting(awaited: () => Part | null): RequestListener {
  return (request, response) => {
    const part = awaited();
    const path = (request.url ?? '').split('?')[0];
    if (path === '/healthz') {
      response.writeHead(200, HEADERS).end(JSON.stringify({ ok: true, version: VERSION }));
      return;
    }
    if (path === '/readyz') {
      const checks = { process: 'failed', ...(part === null ? {} : { [part]: 'failed' }) };
      response.writeHead(503, HEADERS).end(JSON.stringify({ ok: false, checks }));
      return;
    }
    const code = part === 'database' ? 'database_unavailable' : 'overloaded';
    const error = `${code}: the service starts; nothing was changed, ask again`;
    response.writeHead(503, { ...HEADERS, 'x-svc-error-code': code }).end(JSON.stringify({ ok: false, error }));
  };
}
