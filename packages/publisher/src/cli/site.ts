/** Addresses, and what the service knows of the key's site, read from its answers. */
import type { GateScope, Scope } from '../core/page.ts';
import { isRecord, listOf } from './offer.ts';

/** What the gate of the site decides by. */
export interface GateConfig extends Scope {
  readonly seoAllowlist: readonly string[];
  readonly policy: Readonly<Record<'allow' | 'charge' | 'block', readonly string[]>>;
  /** What other addresses of an article add to its own. */
  readonly forms: readonly string[];
  /** What becomes of classes of visitors; empty from a service that knows none. */
  readonly visitorClasses: Readonly<Record<string, string>>;
}

/** An address taken apart; null for a text that is none. */
export function urlOf(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

/** A row of enforce-status. */
export interface HostRow {
  readonly host: string;
  readonly mode: string;
  readonly confidence: string;
  readonly basedOn: readonly string[];
  readonly nextAction: string;
  readonly attention: boolean;
  readonly keyRejectedAt: string | null;
  readonly recordToFix: string | null;
  readonly failedOpenAt: string | null;
}

/** The site as its owner configured it. */
export interface SelfRow {
  readonly hosts: readonly string[];
  readonly status: string;
  readonly plan: string | null;
  /** The price of a read that the owner sees, in USD. */
  readonly priceUsdc: number | null;
}

/** A proof of a host that was asked for. */
export interface Challenge {
  readonly host: string;
  readonly token: string;
  readonly method: string;
  readonly isVerified: boolean;
}

/** Reads the body of enforce-config; null when it is none. */
export function readConfig(body: unknown): GateConfig | null {
  const enforcement = isRecord(body) ? body['enforcement'] : null;
  if (!isRecord(enforcement)) return null;
  const policy = isRecord(enforcement['crawlerPolicy']) ? enforcement['crawlerPolicy'] : {};
  return {
    articlePrefixes: textsOf(enforcement['articlePrefixes']),
    gateScope: scopeOf(enforcement['gateScope']),
    forms: textsOf(enforcement['forms']),
    seoAllowlist: textsOf(enforcement['seoAllowlist']),
    policy: { allow: textsOf(policy['allow']), charge: textsOf(policy['charge']), block: textsOf(policy['block']) },
    visitorClasses: Object.fromEntries(
      Object.entries(isRecord(enforcement['visitorClasses']) ? enforcement['visitorClasses'] : {}).map(([name, policy]) => [
        name,
        String(policy),
      ]),
    ),
  };
}

function scopeOf(scope: unknown): GateScope {
  if (!isRecord(scope) || scope['mode'] !== 'site') return { mode: 'prefixes' };
  const [excludePrefixes, extensions] = [textsOf(scope['excludePrefixes']), textsOf(scope['includeExtensions'])];
  return { mode: 'site', excludePrefixes, ...(extensions.length > 0 ? { includeExtensions: extensions } : {}) };
}

/** Reads the rows of enforce-status; null when the body is none. */
export function readStatus(body: unknown): { readonly hosts: readonly HostRow[]; readonly attention: boolean } | null {
  if (!isRecord(body) || typeof body['attention'] !== 'boolean') return null;
  const hosts = listOf(body['hosts']).map((row) => {
    const tracks = isRecord(row['tracks']) ? row['tracks'] : {};
    return {
      host: String(row['host']),
      mode: textOf(row['mode']) ?? 'unknown',
      confidence: textOf(row['confidence']) ?? 'unknown',
      basedOn: textsOf(row['basedOn']),
      nextAction: textOf(row['nextAction']) ?? 'none',
      attention: row['attention'] === true,
      keyRejectedAt: textOf(row['keyRejectedAt']),
      recordToFix: textOf(row['recordToFix']),
      failedOpenAt: textOf(tracks['failedOpenAt']),
    };
  });
  return { hosts, attention: body['attention'] };
}

/** Reads the site of tenants/self; null when the body has none. */
export function readSelf(body: unknown): SelfRow | null {
  const row = isRecord(body) ? listOf(body['tenants'])[0] : undefined;
  if (!row) return null;
  const { price_usdc: price } = row;
  return {
    hosts: textsOf(row['hosts']),
    status: textOf(row['status']) ?? 'unknown',
    plan: textOf(row['plan']),
    priceUsdc: typeof price === 'number' ? price : null,
  };
}

/** Reads the list of verify-host; null when the body is none. */
export function readChallenges(body: unknown): readonly Challenge[] | null {
  if (!isRecord(body) || !Array.isArray(body['challenges'])) return null;
  return listOf(body['challenges']).map((challenge) => ({
    host: String(challenge['host']),
    token: String(challenge['token']),
    method: String(challenge['method']),
    isVerified: typeof challenge['verifiedAt'] === 'string',
  }));
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((part) => typeof part === 'string') : [];
}
