/** Whether a call comes from a page of ours: what stands between a stolen click at another site and a change. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { isLoopbackName } from '../../modules/kernel/hosts/host.ts';

/** True for a host name that only this machine's own programs reach; another name that leads here is none. */
export function isLoopback(host: string | undefined): boolean {
  return isLoopbackName((host ?? '').replace(/:\d{1,5}$/, ''));
}

/** True for an origin that is ours. Where we are on this machine's loopback, each of its names is. */
export function isOwnOrigin(origin: string, baseUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const [given, own] = [new URL(origin), new URL(baseUrl)];
  if (given.origin !== origin) return false;
  if (given.origin === own.origin) return true;
  return given.protocol === own.protocol && given.port === own.port && isLoopback(given.hostname) && isLoopback(own.hostname);
}

/**
 * Lets through what a page of ours may have asked for, or who typed the address himself: a browser says otherwise in `Sec-Fetch-Site`.
 * Throws cross_site (403). For what changes nothing; a cookie that is `Strict` does not come with other sites' calls anyway.
 */
export function requireOwnReading({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') refuse();
}

/**
 * Lets a change through that a page of ours asked for: `Sec-Fetch-Site`, which no page can write, says so, and `Origin`, where the browser names
 * one, is ours. A page that tells no referrer names none; then only `Sec-Fetch-Site` can vouch for it. Throws cross_site (403).
 */
export function requireOwnChange({ headers }: Pick<IncomingMessage, 'headers'>, baseUrl: string): void {
  const { 'sec-fetch-site': site, origin } = headers;
  const isNamed = origin !== undefined && origin !== 'null';
  if (isNamed && !isOwnOrigin(origin, baseUrl)) refuse();
  if (site === undefined ? !isNamed : site !== 'same-origin') refuse();
}

/** Asks for the token of the session, which only our own page can have read. Throws cross_site (403). */
export function requireCsrf({ headers }: Pick<IncomingMessage, 'headers'>, expected: string): void {
  const given = Buffer.from(String(headers['x-csrf-token'] ?? ''));
  const wanted = Buffer.from(expected);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) refuse();
}

function refuse(): never {
  throw new ServiceError('cross_site', 'this call must come from a page of the console itself');
}
