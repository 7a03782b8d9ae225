import type { Outbound } from '../../../../platform/outbound/outbound.ts';

/** What a credits API said about a page: an entry as sent, or that it names nobody. */
export type CreditsAnswer = { readonly kind: 'entry'; readonly entry: unknown } | { readonly kind: 'none' };

const MAX_BYTES = 256 * 1024;
const TIMEOUT_MS = 3_000;

/** What is asked: a page of a site's credits API, with the token it wants, if any. */
export interface CreditsQuestion {
  readonly apiUrl: string;
  readonly slug: string;
  readonly token: string | null;
}

/**
 * Asks `GET {apiUrl}/credits/{slug}` once, with the bearer token that the API wants; a redirect is a failure, so that no other origin sees
 * it. 200 with JSON: an entry; 404: none. Everything else, a slug that is no path segment included, rejects with an `Error` that names a
 * reason code and nothing of what came back.
 */
export async function fetchCredits(outbound: Outbound, { apiUrl, slug, token }: CreditsQuestion): Promise<CreditsAnswer> {
  const base = apiUrl.replace(/\/+$/, '');
  const url = `${base}/credits/${encodeURIComponent(slug)}`;
  if (slug === '.' || slug === '..' || !URL.canParse(url)) throw new Error('invalid_url');
  const answer = await outbound.send({
    url,
    headers: {
      accept: 'application/json',
      'user-agent': 'svc-credits/1.0',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_BYTES,
  });
  if (!answer.ok) throw new Error(answer.reason);
  if (answer.status === 404) return { kind: 'none' };
  if (answer.status !== 200) throw new Error(`status_${answer.status}`);
  try {
    return { kind: 'entry', entry: JSON.parse(Buffer.from(answer.body).toString('utf8')) };
  } catch {
    throw new Error('bad_json');
  }
}
