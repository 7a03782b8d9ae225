import { createHash } from 'node:crypto';
import type { Site } from './site.ts';

/** What a report, or a group of one, answers: the same for the same question of the same site, whichever page it is met on. */
export interface OfQuestion {
  readonly questionId: string;
}

/** Names a question by the site and the arguments that were given. */
export function questionId(report: string, { tenantId }: Pick<Site, 'tenantId'>, args: object): string {
  return hashOf([report, tenantId, ...Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

/** What the `id` of a report is. */
export const REPORT_ID =
  'Names the question: the report, its site and its arguments. Caches put pages of one report together by it; `node` does not take it.';
/** What the `id` of a group is. */
export const GROUP_ID = 'Names the group within the question, whichever page it is on: caches go by it; `node` does not take it.';

/** Names a group within its question. */
export function groupId({ questionId: of, key }: OfQuestion & { readonly key: string }): string {
  return hashOf([of, key]);
}

function hashOf(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
  return createHash('sha256').update(text).digest('base64url').slice(0, 27);
}

/** What `value` of a group is. */
export const GROUP_VALUE =
  'The group as arguments and filters take it: `READ`, `LICENCE`, `SERVED_FREE`, `RETURNING`; of anything but an enum the same as `key`.';

/** What groups of these are of: words of the API, which are enums here. */
const OF_ENUMS: ReadonlySet<string> = new Set(['kind', 'purpose', 'payer-history', 'verdict']);

/** A key of a group as filters take it. */
export function filterValue(groupBy: string | null, key: string): string {
  return groupBy !== null && OF_ENUMS.has(groupBy) ? key.toUpperCase().replaceAll('-', '_') : key;
}
