/** The credits of the pages that a site imported, in memory. */

import { LRUCache } from 'lru-cache';
import type { Database } from '../../../../db/database.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PageCredits } from '../../../kernel/money/credits.ts';
import { flattenCredits } from '../../../kernel/money/credits.ts';
import { PRICING_GRACE_MS } from '../../../pricing/rules/pricing.ts';
import { findImportedCredits } from '../../store/importedCredits.ts';
import { openFlights } from './flights.ts';

/** Which page; `catalogueVersion` as of CreditsSource, null: no page of the site was imported with credits. */
export interface ImportedPath {
  readonly tenantId: string;
  readonly path: string;
  readonly catalogueVersion: number | null;
}

/** The credits of an imported page, `none` where it names nobody or is not there, `failed` where nobody can say it now. */
export type ImportedKnown = PageCredits | 'none' | 'failed';

/** What imports say of pages. Nothing is asked twice for one version of a tenant, since every import moves it. */
export interface Imports {
  /** From memory; undefined: ask `load` first. */
  find(page: ImportedPath): ImportedKnown | undefined;
  /** What it was before its last change, for ten minutes; undefined: it has not changed. */
  findPrevious(page: ImportedPath): ImportedKnown | undefined;
  /**
   * Reads the row of a page that memory lacks; calls at once share one read, before which `takeTurn` may throw. Otherwise never rejects: while the
   * database is away, the page is `failed` for `pauseMs`.
   */
  load(page: ImportedPath, takeTurn: () => void): Promise<void>;
}

interface Held {
  readonly known: ImportedKnown;
  /** When a failure ends; null: it is none. */
  readonly untilMs: number | null;
  readonly former: { readonly known: ImportedKnown; readonly endedAtMs: number } | null;
}

/** Of the pages that memory holds, so many more may be paths that name nobody: anybody may invent those. */
const NAMELESS = 0.1;

/** Opens the memory of this process for so many pages, and a tenth as many paths that name nobody, which take no place of a page. */
export function openImports(deps: {
  readonly database: Database;
  readonly clock: () => number;
  readonly log: Log;
  readonly pauseMs: number;
  readonly mostHeld: number;
}): Imports {
  const { database, clock, log, pauseMs, mostHeld } = deps;
  const pages = new LRUCache<string, Held>({ max: mostHeld });
  const nameless = new LRUCache<string, Held>({ max: Math.ceil(NAMELESS * mostHeld) });
  const heldOf = (page: ImportedPath): Held | undefined => pages.get(nameOf(page)) ?? nameless.get(nameOf(page));
  const hold = (name: string, found: Held): void => {
    const isPage = found.former !== null || typeof found.known === 'object';
    (isPage ? pages : nameless).set(name, found);
  };
  const reads = openFlights<void>();
  const read = async ({ tenantId, path }: ImportedPath): Promise<Held> => {
    try {
      const { credits, title, former } = await findImportedCredits(database, tenantId, path);
      const before = former && { known: readStored(former.credits, null), endedAtMs: former.endedAt.getTime() };
      return { known: readStored(credits, title), untilMs: null, former: before };
    } catch (error) {
      log.warn({ tenantId, path, error: String(error) }, 'imported credits could not be read');
      return { known: 'failed', untilMs: clock() + pauseMs, former: null };
    }
  };
  const find = (page: ImportedPath): ImportedKnown | undefined => {
    if (page.catalogueVersion === null) return 'none';
    const found = heldOf(page);
    return found && (found.untilMs === null || clock() < found.untilMs) ? found.known : undefined;
  };
  return {
    find,
    findPrevious: (page) => {
      const former = page.catalogueVersion === null ? null : heldOf(page)?.former;
      return former && clock() - former.endedAtMs <= PRICING_GRACE_MS ? former.known : undefined;
    },
    load: async (page, takeTurn) => {
      if (find(page) !== undefined) return;
      const name = nameOf(page);
      await reads(name, () => {
        takeTurn();
        return read(page).then((found) => hold(name, found));
      });
    },
  };
}

/** Credits as they were taken at the import; what cannot be read makes its page neither free nor anybody else's. */
function readStored(credits: unknown, title: string | null): ImportedKnown {
  if (credits === null) return 'none';
  try {
    return { ...(title === null ? {} : { title }), ...flattenCredits(credits, 'credits') };
  } catch {
    return 'failed';
  }
}

function nameOf({ tenantId, catalogueVersion, path }: ImportedPath): string {
  return `${tenantId} ${catalogueVersion} ${path}`;
}
