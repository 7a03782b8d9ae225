import { Problem } from './problem.ts';
import { BASE } from './router.ts';

/** No answer of ours takes longer: queries end after 15 seconds. */
const ANSWER_MS = 30_000;

/** An answer as JSON, with what support needs to find it. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly requestId: string | null;
}

/**
 * Calls the console's own endpoints, and nothing else. Throws `Problem` `network` where no answer came, and `bad_answer` where it
 * was no JSON; every status is answered.
 */
export async function call(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { body, csrf }: { readonly body?: unknown; readonly csrf?: string | null } = {},
): Promise<Answer> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined || method !== 'GET') headers['content-type'] = 'application/json';
  if (csrf) headers['x-csrf-token'] = csrf;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${BASE}${path}`, {
    method,
    headers,
    ...sent,
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => {
    throw new Problem('network', 'The service cannot be reached. Look at your connection and try again.');
  });
  const requestId = response.headers.get('x-request-id');
  const text = await response.text().catch(() => '');
  try {
    return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown), requestId };
  } catch {
    throw new Problem('bad_answer', `The service answered with status ${response.status} and no JSON.`, { requestId });
  }
}
