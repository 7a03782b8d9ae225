import { openTurns } from '../../../../platform/pacing/fairQueue.ts';
import { openSlices } from '../../../../platform/pacing/slices.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { SearchedPage } from '../../store/pages.ts';
import { searchPages } from '../../store/pages.ts';
import { findLiveSite } from '../site.ts';
import type { FindDeps, FoundPage } from './found.ts';
import { foundPageOf } from './found.ts';

export type { FindDeps, FoundPage } from './found.ts';

/** What is looked for. */
export interface FindRequest {
  /** Words of the title, the address or the authors' names; a page has all of them. */
  readonly query: string;
  /** Only pages of these hosts; left out: of all. */
  readonly hosts?: readonly string[];
  /** Only pages that can be read or cited for at most this. */
  readonly maxPriceMicro?: bigint;
  /** 1 to 50. */
  readonly limit: number;
}

/** Pages that were found. */
export interface FoundPages {
  readonly pages: readonly FoundPage[];
  /** True when there is more that was asked for, or may be: more pages have the words than were looked at. */
  readonly isPartial: boolean;
}

/** Most pages of an answer, characters of a question, words of it and hosts. */
export const MAX_FOUND = 50;
export const MAX_QUERY_CHARS = 200;
const MAX_WORDS = 12;
export const MAX_HOSTS = 20;
/** Pages that are priced for an answer, whatever is filtered. */
const MAX_LOOKED_AT = 200;

/** Searches of a process at the same time; each holds a connection for milliseconds. */
const turns = openTurns({ atOnce: 4, mostWaiting: 100, waitMs: 2_000 });

/**
 * Pages of sites that want to be found, best first, with what they cost now. Words are taken as they are: there are no operators. Throws
 * invalid_parameter (400), throttled (429) when too many search at once, and database_unavailable (503). Reads only; a call is worth what a heavy
 * one is worth (modules/kernel/rate.ts).
 *
 * What bounds the cost: twelve words of 200 characters, 500 candidates and 200 priced pages whatever the words are, in slices, four searches at once.
 */
export async function findPages(deps: FindDeps, request: FindRequest): Promise<FoundPages> {
  const words = readWords(request.query);
  const { hosts = null, maxPriceMicro = null, limit } = request;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_FOUND) refuse('limit', `a whole number from 1 to ${MAX_FOUND}`);
  if (hosts !== null && (hosts.length === 0 || hosts.length > MAX_HOSTS)) refuse('hosts', `1 to ${MAX_HOSTS} host names`);
  const sites = hosts && (await Promise.all(hosts.map((host) => findLiveSite(deps, host)))).filter((site) => site !== null);
  const tenantIds = sites && [...new Set(sites.map(({ tenant }) => tenant.tenantId))];
  if (words === '' || tenantIds?.length === 0) return { pages: [], isPartial: false };
  const leave = await turns.enter(['search']);
  let found: readonly SearchedPage[];
  try {
    found = await searchPages(deps.database, { words, tenantIds, limit: MAX_LOOKED_AT + 1 });
  } finally {
    leave();
  }
  const named = new Set(sites?.map(({ host }) => host));
  const pages = new Map<string, FoundPage>();
  const pause = openSlices();
  let isMore = found.length > MAX_LOOKED_AT;
  for (const row of found.slice(0, MAX_LOOKED_AT)) {
    await pause();
    const page = await foundPageOf(deps, row, named);
    const isAskedFor = page && (maxPriceMicro === null || page.kinds.some(({ priceMicro }) => priceMicro <= maxPriceMicro));
    if (!isAskedFor || pages.has(page.url)) continue;
    isMore ||= pages.size === limit;
    if (isMore && pages.size === limit) break;
    pages.set(page.url, page);
  }
  return { pages: [...pages.values()], isPartial: isMore };
}

/** The words of a question, a few of them; control characters part words, as no text of a page has them. */
function readWords(query: string): string {
  if (query.length > MAX_QUERY_CHARS) refuse('query', `at most ${MAX_QUERY_CHARS} characters`);
  const words = query.toWellFormed().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return [...new Set(words)].slice(0, MAX_WORDS).join(' ');
}

function refuse(parameter: string, sentence: string): never {
  throw new ServiceError('invalid_parameter', `${parameter}: ${sentence}`, { parameter });
}
