import { ServiceError } from '../../modules/kernel/errors.ts';
import { API_VERSION } from '../handler.ts';
import type { Answer, AnybodyCall, AnybodyRoute } from '../route.ts';
import { openMcp } from './server.ts';

/** Headers of a call that the protocol reads. */
const READ = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];
const mcp = openMcp(API_VERSION);

/**
 * POST /_svc/mcp: the Model Context Protocol, one message a call, answered whole. Nothing is kept between calls.
 *
 * What bounds a call: the rate of its caller, for the call and again for the tool; 64 KiB; one message (a list of them is refused, as the protocol does
 * since 2025-06-18); no stream stays open. The time is that of the service behind the tool, which waits for a payment as POST verify does.
 */
export const mcpRoute: AnybodyRoute = {
  method: 'post',
  path: '/_svc/mcp',
  access: 'anybody',
  cost: 'light',
  bodyLimitBytes: 65_536,
  isForPages: true,
  handle: async (call) => {
    if (Array.isArray(call.body)) throw new ServiceError('malformed_body', 'send one message per call: batches are not accepted');
    return answerOf(await mcp.fetch(requestOf(call), { parsedBody: call.body, authInfo: authInfoOf(call) }));
  },
};

/** How the call travels to the server that is made for it; who calls was decided before, and no token goes along. */
function authInfoOf(call: AnybodyCall) {
  return { token: '', clientId: call.who.kind, scopes: [], extra: { call } };
}

function requestOf({ header, deps }: AnybodyCall): Request {
  const headers = new Headers();
  for (const name of READ) {
    const value = header(name);
    if (value !== null) headers.set(name, value);
  }
  // Who takes anything takes both (RFC 9110 §12.5.1); the SDK looks for the two names.
  if (/^$|\*\/\*/.test(header('accept') ?? '')) headers.set('accept', 'application/json, text/event-stream');
  return new Request(`${deps.baseUrl}/_svc/mcp`, { method: 'POST', headers });
}

async function answerOf(response: Response): Promise<Answer> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  for (const [name, value] of response.headers) headers[name] = value;
  const body = await response.text();
  return { status: response.status, headers, ...(body === '' ? {} : { body }) };
}
