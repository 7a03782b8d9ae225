import { timingSafeEqual } from 'node:crypto';
import { macOf } from '../../../platform/tokens/mac.ts';
import type { IssuedQuote } from '../../pricing/rules/quote.ts';
import { parseTokenText, tokenText } from '../../pricing/rules/quote.ts';

/** Tells this use of a secret from any other. */
const PURPOSE = 'svc quote token 1\n';
/** Longest token that is looked at: 50 authors fit several times over. */
const MAX_TOKEN_CHARS = 32_768;

/** A quote token: the signed text and its HMAC-SHA256 under the newest secret, both base64url. */
export function signQuoteToken(secrets: readonly string[], base: string, quoteId: string, expiresAtMs: number): string {
  const text = tokenText(base, quoteId, expiresAtMs);
  return `${Buffer.from(text).toString('base64url')}.${macOf(secrets[0] ?? '', PURPOSE + text).digest('base64url')}`;
}

/** The quote a token was issued for, whatever its age; null when none of our secrets signed it. */
export function readQuoteToken(secrets: readonly string[], token: string): IssuedQuote | null {
  if (token.length > MAX_TOKEN_CHARS || !/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/.test(token)) return null;
  const [body = '', mac = ''] = token.split('.');
  const text = Buffer.from(body, 'base64url').toString('utf8');
  const given = Buffer.from(mac, 'base64url');
  const isOurs = secrets.some((secret) => timingSafeEqual(macOf(secret, PURPOSE + text).digest(), given));
  return isOurs ? parseTokenText(text) : null;
}
