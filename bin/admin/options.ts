import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { MintableScope, Plan, TenantStatus } from '../../modules/kernel/access/key.ts';
import { MINTABLE_SCOPES, PLANS } from '../../modules/kernel/access/key.ts';
import { hasControlCharacter } from '../../modules/kernel/hosts/host.ts';
import type { PaymentState } from '../../modules/kernel/payment/state.ts';
import { PAYMENT_STATES } from '../../modules/kernel/payment/state.ts';
import type { Month } from '../../modules/kernel/time/months.ts';
import { monthOf } from '../../modules/kernel/time/months.ts';
import type { PageAsked } from '../../modules/operations/use/search.ts';
import { MOST_ROWS } from '../../modules/operations/use/search.ts';
import type { DefaultPayee } from '../../modules/pricing/rules/pricing.ts';
import { requireWallet } from '../../modules/tenants/use/payees.ts';

const STATUSES: readonly TenantStatus[] = ['pending', 'active', 'suspended', 'closed'];

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

/** A month of the calendar, YYYY-MM. */
export function parseMonth(text: string): Month {
  const month = monthOf(text);
  if (!month) throw new InvalidArgumentError('A month, YYYY-MM.');
  return month;
}

/** A wallet, lower case; mixed case must carry the right checksum. */
export function parseWallet(text: string): `0x${string}` {
  try {
    return requireWallet(text, 'wallet');
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
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

/** A name for the audit log. */
export function parseOperator(text: string): string {
  if (text.trim() === '' || text.length > 100 || hasControlCharacter(text)) {
    throw new InvalidArgumentError('A name of 1 to 100 characters.');
  }
  return text;
}

/** How many rows a page has. */
export function parseLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_ROWS) throw new InvalidArgumentError(`1 to ${MOST_ROWS}.`);
  return limit;
}

/** A moment: a day (its beginning in UTC), or a time of ISO 8601 with its zone. */
export function parseMoment(text: string): Date {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${parseDay(text)}T00:00:00Z`) : new Date(text);
  const isWhole = /^\d{4}-\d{2}-\d{2}(T.+(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  if (!isWhole || Number.isNaN(at.getTime())) throw new InvalidArgumentError('YYYY-MM-DD, or YYYY-MM-DDThh:mm:ssZ.');
  return at;
}

/** A state of a payment. */
export function parseState(text: string): PaymentState {
  const state = PAYMENT_STATES.find((known) => known === text);
  if (!state) throw new InvalidArgumentError(`One of ${PAYMENT_STATES.join(', ')}.`);
  return state;
}

/** An author and his wallet, `ann=0x…`, or `none`. */
export function parsePayee(text: string): DefaultPayee | 'none' {
  if (text === 'none') return text;
  const at = text.lastIndexOf('=');
  if (at < 1) throw new InvalidArgumentError('An author and their wallet, like ann=0x…, or none.');
  return { authorId: text.slice(0, at), wallet: text.slice(at + 1) };
}

/** A status of a site. */
export function parseStatus(text: string): TenantStatus {
  const status = STATUSES.find((known) => known === text);
  if (!status) throw new InvalidArgumentError(`One of ${STATUSES.join(', ')}.`);
  return status;
}

/** A transaction of a chain in lower case, or the id a facilitator gave as it is. */
export function parseTransaction(text: string): string {
  if (text === '' || text.length > 200 || hasControlCharacter(text)) throw new InvalidArgumentError('A transaction, or an id.');
  if (/^0x/i.test(text) && !/^0x[0-9a-f]{64}$/i.test(text))
    throw new InvalidArgumentError('A transaction is 0x and 64 hex digits.');
  return /^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : text;
}

/** A number of seconds, from 0. */
export function parseSeconds(text: string): number {
  if (!/^\d{1,8}$/.test(text)) throw new InvalidArgumentError('A whole number of seconds, from 0.');
  return Number(text);
}

/** Whole days, from 1. */
export function parseWholeDays(text: string): number {
  const days = parseDays(text);
  if (!Number.isInteger(days)) throw new InvalidArgumentError('A whole number of days, from 1.');
  return days;
}

/** The option of a list that has no next page. */
export function limited(command: Command): Command {
  return command.option('--limit <rows>', `rows, ${MOST_ROWS} at most`, parseLimit, 50);
}

/** Options of every list with pages: how much, and from where. */
export function paged(command: Command): Command {
  return limited(command).option('--after <next>', 'the "next" of the previous page');
}

/** The page that options ask for. */
export function pageOf({ limit, after }: { limit: number; after?: string }): PageAsked {
  return { limit, after: after ?? null };
}
