import type { Outbound } from '../../../../platform/outbound/outbound.ts';
import type { AgentCard } from '../../rules/webbotauth/card.ts';
import { joinCards, readCard } from '../../rules/webbotauth/card.ts';
import type { KeySource } from '../../rules/webbotauth/source.ts';
import { cardAddressOf } from '../../rules/webbotauth/source.ts';
import type { PublicJwk } from './keys.ts';
import { readKeySet } from './keys.ts';

/** What a directory answered. Only an answer is evidence: one that fails changes nothing of what is known. */
export type DirectoryAnswer =
  | {
      readonly ok: true;
      readonly keys: ReadonlyMap<string, PublicJwk>;
      readonly card: AgentCard;
      /** For how long it is fresh, by its own word within our bounds. */
      readonly lifeMs: number;
    }
  | { readonly ok: false; readonly reason: 'directory_unreachable' | 'directory_invalid' };

/** One look at a directory: bytes, time, and how deep JSON may go. Addresses and redirects are bounded by the client itself. */
const MAX_BYTES = 64 * 1_024;
const TIMEOUT_MS = 4_000;
const CARD_TIMEOUT_MS = 2_000;
const MAX_DEPTH = 16;

const LEAST_LIFE_MS = 60_000;
const USUAL_LIFE_MS = 300_000;
const MOST_LIFE_MS = 86_400_000;

const DIRECTORY_TYPE = 'application/http-message-signatures-directory+json';
const JSON_TYPE = /^application\/([a-z0-9.+-]+\+)?json$/;

type Sender = Pick<Outbound, 'send'>;

/** Asks a source for its keys: one request, two where a card names another address for them. Never rejects. */
export async function readDirectory(outbound: Sender, source: KeySource, nowMs: number): Promise<DirectoryAnswer> {
  const first = await getJson(outbound, source.address, { type: source.type === 'directory' ? DIRECTORY_TYPE : null });
  if (!first.ok) return first;
  const card = readCard(first.json);
  const keyAddress = source.type === 'cimd' ? addressOfKeys(first.json) : null;
  const answer = keyAddress === null ? first : await getJson(outbound, keyAddress, { type: null });
  if (!answer.ok) return answer;
  const set = source.type === 'cimd' && keyAddress === null ? (first.json as { jwks?: unknown } | null)?.jwks : answer.json;
  const keys = readKeySet(set, { isDirectory: source.type === 'directory', now: nowMs / 1_000 });
  return keys ? { ok: true, keys, card, lifeMs: lifeMsOf(answer.cacheControl) } : { ok: false, reason: 'directory_invalid' };
}

/** What the agent of a directory says of itself there and in its card; a card that is not available is none. Never rejects. */
export async function readOwnCard(outbound: Sender, source: KeySource, shown: AgentCard): Promise<AgentCard> {
  const address = cardAddressOf(source);
  if (address === null || (shown.operator !== null && shown.purpose !== null)) return shown;
  const answer = await getJson(outbound, address, { type: null, timeoutMs: CARD_TIMEOUT_MS });
  return answer.ok ? joinCards(shown, readCard(answer.json)) : shown;
}

type JsonAnswer =
  | { readonly ok: true; readonly json: unknown; readonly cacheControl: string }
  | { readonly ok: false; readonly reason: 'directory_unreachable' | 'directory_invalid' };

async function getJson(
  outbound: Sender,
  url: string,
  { type, timeoutMs = TIMEOUT_MS }: { readonly type: string | null; readonly timeoutMs?: number },
): Promise<JsonAnswer> {
  const headers = { accept: type ?? 'application/json', 'user-agent': 'svc-agents/1.0' };
  const answer = await outbound.send({ url, headers, timeoutMs, maxBodyBytes: MAX_BYTES });
  if (!answer.ok) return { ok: false, reason: answer.reason === 'too_large' ? 'directory_invalid' : 'directory_unreachable' };
  // Any other status is a failure, a redirect too: it says nothing about the keys.
  if (answer.status !== 200) return { ok: false, reason: 'directory_unreachable' };
  const shown = (answer.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === null ? !JSON_TYPE.test(shown) : shown !== type) return { ok: false, reason: 'directory_invalid' };
  try {
    const json: unknown = JSON.parse(Buffer.from(answer.body).toString('utf8'));
    if (!isShallow(json, 0)) return { ok: false, reason: 'directory_invalid' };
    return { ok: true, json, cacheControl: answer.headers['cache-control'] ?? '' };
  } catch {
    return { ok: false, reason: 'directory_invalid' };
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth < MAX_DEPTH && Object.values(value).every((member) => isShallow(member, depth + 1));
}

function addressOfKeys(card: unknown): string | null {
  const { jwks, jwks_uri: address } = (typeof card === 'object' && card !== null ? card : {}) as Record<string, unknown>;
  return jwks === undefined && typeof address === 'string' ? address : null;
}

function lifeMsOf(cacheControl: string): number {
  const seconds = /(?:^|[\s,])max-age=(\d{1,9})(?:$|[\s,])/i.exec(cacheControl)?.[1];
  if (/(?:^|[\s,])no-(?:store|cache)(?:$|[\s,])/i.test(cacheControl)) return LEAST_LIFE_MS;
  return Math.min(Math.max(seconds === undefined ? USUAL_LIFE_MS : Number(seconds) * 1_000, LEAST_LIFE_MS), MOST_LIFE_MS);
}
