/** Pages by their words: the service's own tool, asked as any client of the Model Context Protocol asks it. */
import { bodyOf } from '../body.ts';
import { AgentError } from '../errors.ts';
import { nextStepOf, saysOf } from '../nextStep.ts';
import type { Service } from './service.ts';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 1024 * 1024;

/** What find_pages of the service answers. Its titles are texts of strangers. */
export async function findPages(
  service: Service,
  asked: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'find_pages', arguments: asked } };
  const response = await service
    .send(`${service.url}/_svc/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(call),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    .catch(() => null);
  if (!response) throw new AgentError('service_failed', 'The service does not answer.');
  const body = await bodyOf(response, MAX_BYTES).catch(() => null);
  if (body === null) throw new AgentError('service_failed', 'The service breaks off, or answers more than 1 MB.');
  const { result } = (messageIn(body.toString('utf8')) ?? {}) as {
    result?: { isError?: boolean; content?: readonly { text?: string }[]; structuredContent?: unknown };
  };
  const facts = result?.structuredContent ?? parsed(result?.content?.[0]?.text ?? '');
  if (!response.ok || result?.isError === true || typeof facts !== 'object' || facts === null)
    throw refused(response.status, facts);
  return facts as Readonly<Record<string, unknown>>;
}

function refused(status: number, facts: unknown): AgentError {
  const next = nextStepOf(facts);
  const says = `The service found nothing for this query: it answers ${status}.${next ? saysOf(next) : ''}`;
  return new AgentError('service_failed', says, { status, ...(next ? { next } : {}) });
}

/** The message of an answer: JSON, or the data of its only event. */
function messageIn(text: string): unknown {
  const data = /^data: ?(.*)$/m.exec(text)?.[1];
  return parsed(text) ?? (data === undefined ? null : parsed(data));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
