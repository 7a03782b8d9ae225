import type { Outbound } from '../../adapters/outbound.ts';

/** What a credits API said about a page: its credits as sent, or that it is free. */
export type CreditsAnswer = { readonly kind: 'credits'; readonly entry: unknown } | { readonly kind: 'free' };

const MAX_BYTES = 256 * 1024;
const TIMEOUT_MS = 3_000;

/**
 * Asks `GET {apiUrl}/credits/{slug}` once. 200 with JSON: credits; 404: free. Everything else, a slug that is no path segment
 * included, rejects with an `Error` that names a reason code and nothing of what came back.
 */
export async function fetchCredits(outbound: Outbound, apiUrl: string, slug: string): Promise<CreditsAnswer> {
  const base = apiUrl.replace(/\/+$/, '');
  const url = `${base}/credits/${encodeURIComponent(slug)}`;
  if (slug === '.' || slug === '..' || !URL.canParse(url)) throw new Error('invalid_url');
  const answer = await outbound.send({
    url,
    headers: { accept: 'application/json', 'user-agent': 'svc-credits/1.0' },
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_BYTES,
  });
  if (!answer.ok) throw new Error(answer.reason);
  if (answer.status === 404) return { kind: 'free' };
  if (answer.status !== 200) throw new Error(`status_${answer.status}`);
  try {
    return { kind: 'credits', entry: JSON.parse(Buffer.from(answer.body).toString('utf8')) };
  } catch {
    throw new Error('bad_json');
  }
}
