import { createHash } from 'node:crypto';
import type { Answer, Call } from './route.ts';

/** A strong entity tag of a text (RFC 9110 §8.8.3): the same bytes, the same tag. */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url')}"`;
}

/** 200 with an ETag, or 304 without a body when the caller has these bytes already (RFC 9110 §13.1.2). */
export function answerTagged(header: Call['header'], text: string, cacheControl: string): Answer {
  return answerOfTag(header, { etag: etagOf(text), body: text }, cacheControl);
}

/** The same for bytes whose tag is known. */
export function answerOfTag(
  header: Call['header'],
  { etag, body }: { readonly etag: string; readonly body: string | Uint8Array },
  cacheControl: string,
): Answer {
  const headers = { etag, 'cache-control': cacheControl };
  const known = (header('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) return { status: 304, headers };
  return { status: 200, headers, body };
}
