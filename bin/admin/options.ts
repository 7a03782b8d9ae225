import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import type { MintableScope, Plan } from '../../domain/access.ts';
import { MINTABLE_SCOPES, PLANS } from '../../domain/access.ts';

/** Reads options of the command line; each throws InvalidArgumentError with what would do. */

/** One of the plans. */
export function parsePlan(text: string): Plan {
  const plan = PLANS.find((known) => known === text);
  if (!plan) throw new InvalidArgumentError(`One of ${PLANS.join(', ')}.`);
  return plan;
}

/** Scopes divided by commas; `all` is every one that a key may be minted with. */
export function parseScopes(text: string): readonly MintableScope[] {
  if (text === 'all') return MINTABLE_SCOPES;
  return text.split(',').map((part) => {
    const scope = MINTABLE_SCOPES.find((known) => known === part.trim());
    if (!scope) throw new InvalidArgumentError(`Some of ${MINTABLE_SCOPES.join(', ')}, divided by commas, or all.`);
    return scope;
  });
}

/** A number of days, above 0. */
export function parseDays(text: string): number {
  const days = Number(text);
  if (!(days > 0 && days <= 3_660)) throw new InvalidArgumentError('A number of days, above 0.');
  return days;
}

/** A day of the calendar, YYYY-MM-DD. */
export function parseDay(text: string): string {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text) throw new InvalidArgumentError('A day, YYYY-MM-DD.');
  return text;
}

/** A wallet, lower case. */
export function parseWallet(text: string): `0x${string}` {
  if (!/^0x[0-9a-f]{40}$/i.test(text)) throw new InvalidArgumentError('0x and 40 hex digits.');
  return text.toLowerCase() as `0x${string}`;
}

/** A UUID. */
export function parseId(text: string): string {
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw new InvalidArgumentError('A UUID.');
  return text.toLowerCase();
}

/** The JSON object in a file. */
export function parseJsonFile(path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below, without what stands in the file.
  }
  throw new InvalidArgumentError('A file that holds a JSON object.');
}

/** Collects an option that may be given several times. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
