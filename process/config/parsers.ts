import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { urlsOfHosts } from '../../db/primary.ts';

/** Readers of one variable's text. Every message is a constant of ours: none repeats the text, which may be a secret. */

/** Text of at least one character, surrounding white space removed. */
export const text = z.string().trim().min(1, 'is empty');

/** A whole number between `min` and `max`, both allowed. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): z.ZodType<number, string> {
  const message = `must be a whole number from ${min} to ${max}`;
  return text
    .regex(/^\d{1,16}$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message));
}

/** `true` or `false`, nothing else: a flag that opens something must not be opened by a typing error. */
export const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');

/** A file in PEM, read when the process starts. */
export const pemFile = text.transform((path, context): Buffer => {
  const content = readOrNull(path);
  const problem = content === null ? 'names a file that cannot be read' : 'names a file that is not PEM';
  if (content?.includes('-----BEGIN ')) return content;
  context.addIssue(problem);
  return z.NEVER;
});

function readOrNull(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

/** A URL with one of the schemes; returned as written, without a trailing slash. */
export function url(...schemes: readonly string[]): z.ZodType<string, string> {
  const message = `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return text
    .refine((value) => URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1)), message)
    .transform((value) => value.replace(/\/+$/, ''));
}

const withoutSlash = (value: string): string => value.replace(/\/+$/, '');
const postgresHosts = text.refine((value) => {
  const urls = urlsOfHosts(value);
  return urls.length > 0 && urls.every((one) => URL.canParse(one) && (urls.length === 1 || new URL(one).hostname !== ''));
}, 'must be a URL that starts with postgres:// or postgresql://');

/** A URL of standbys of Postgres, which are only read. As written. */
export const standbyUrl = postgresHosts.transform(withoutSlash);

/** A URL of Postgres: of one host, or of a primary and its standbys, of which the one that takes writes is meant. As written. */
export const postgresUrl = postgresHosts
  .refine(
    (value) => /^(read-write|primary|)$/.test(/[?&]target_session_attrs=([^&]*)/.exec(value)?.[1] ?? ''),
    'target_session_attrs must be read-write: what is written to a standby is lost',
  )
  .transform(withoutSlash);

/** The address of this service as others see it: https, or http on a loopback host. */
export const publicUrl = url('https', 'http').refine(
  (value) => value.startsWith('https:') || /^http:\/\/(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/.test(value),
  'must be https, or http on a loopback host',
);

/** An issuer, kept to the letter since tokens repeat it: https, or http on a loopback host, without query and fragment. */
export const issuer = text.refine(
  (value) =>
    URL.canParse(value) &&
    /^(https:\/\/[^?#\s]+|http:\/\/(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?(\/[^?#\s]*)?)$/.test(value),
  'must be an https URL without query and fragment, or http on a loopback host',
);

/** Comma-separated secrets, newest first, each at least 32 bytes: the first signs, all verify. */
export const secretList = text
  .transform((value) => value.split(',').map((part) => part.trim()))
  .refine((parts) => parts.every((part) => Buffer.byteLength(part) >= 32), 'every secret must be at least 32 bytes long');

/** One secret of at least 32 bytes. */
export const secret = text.refine((value) => Buffer.byteLength(value) >= 32, 'must be at least 32 bytes long');

/** Comma-separated addresses of name servers, each with or without a port. */
export const nameServers = text
  .transform((value) => value.split(',').map((part) => part.trim()))
  .refine(
    (parts) => parts.every((part) => /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:]+\])(:\d{1,5})?$/.test(part)),
    'must be addresses, those of IPv6 in brackets, with a port or without',
  );

/** Comma-separated ranges of addresses: `10.0.0.0/8`, `fd00::/8`. */
export const cidrList = text
  .transform((value) => value.split(',').map((part) => part.trim()))
  .refine(
    (parts) =>
      parts.every((part) => {
        const [, address = '', bits = ''] = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(part) ?? [];
        const version = isIP(address);
        return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
      }),
    'must be ranges of addresses such as 10.0.0.0/8, separated by commas',
  );

/** Exactly 32 bytes in base64url. */
export const key32 = text
  .regex(/^[A-Za-z0-9_-]{43}=?$/, 'must be 32 bytes in base64url (43 characters)')
  .transform((value): Uint8Array => Buffer.from(value, 'base64url'));

/** JSON text handed on to `schema`; a syntax error says only that it is not JSON. */
export function json<T>(schema: z.ZodType<T>): z.ZodType<T, string> {
  return text
    .transform((value, context): unknown => {
      try {
        return JSON.parse(value);
      } catch {
        context.addIssue({ code: 'custom', message: 'is not valid JSON' });
        return z.NEVER;
      }
    })
    .pipe(schema as z.ZodType<T, unknown>);
}
