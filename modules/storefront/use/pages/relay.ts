import { findRelay } from '../../../discovery/store/relay.ts';
import { isServiceError } from '../../../kernel/errors.ts';
import type { PageAsking, PageDeps, PageReason, PageText, SitePage } from './fetch.ts';
import { askForPage, requireSitePage } from './fetch.ts';
import { noteTokens } from './tokens.ts';

/** How the holder of a licence reads the page directly. */
export interface ReadInstructions {
  readonly method: 'GET';
  readonly url: string;
  readonly headers: { readonly Authorization: string };
}

/** The text of a page, or why it is not handed on; the licence is as good either way. */
export type Relayed =
  | { readonly relayed: true; readonly page: PageText; readonly instructions: ReadInstructions }
  | {
      readonly relayed: false;
      readonly reason: PageReason | 'not_allowed' | 'unavailable';
      readonly says: string;
      readonly instructions: ReadInstructions;
    };

/**
 * Fetches a page with a licence for it and hands its text on, where its site allows that in this very call. Spends nothing and uses nothing up: a
 * second call asks the site again. Throws invalid_resource and not_found as `requireSitePage`; whatever else goes wrong is told in the answer,
 * with what to do instead, since the licence was paid for.
 */
export async function relayPage(
  deps: PageDeps,
  { url, licence, who }: { readonly url: string; readonly licence: string } & Pick<PageAsking, 'who'>,
): Promise<Relayed> {
  const instructions = readInstructions(url, licence);
  const not = (reason: Extract<Relayed, { relayed: false }>['reason'], says: string): Relayed => ({
    relayed: false,
    reason,
    says,
    instructions,
  });
  try {
    const place = await requireSitePage(deps, url);
    if (!(await mayRelay(deps, place))) return not('not_allowed', 'the owner of this site does not let its text be handed on');
    const answer = await askForPage(deps, place, {
      who,
      isTextWanted: true,
      headers: { authorization: `License ${licence}` },
    });
    if (answer.ok && answer.page) {
      noteTokens(place.resource, answer.page);
      return { relayed: true, page: answer.page, instructions };
    }
    if (answer.ok) return not('answered_otherwise', `the site answered ${answer.status} to the licence`);
    return not(answer.reason, `the page is not available from its site: ${answer.reason}`);
  } catch (error) {
    if (isServiceError(error) && error.kind === 'unavailable') return not('unavailable', 'its text cannot be fetched right now');
    throw error;
  }
}

/** Whether the owner of a site lets the text of its pages be handed on. Read in the call. */
export function mayRelay({ database }: Pick<PageDeps, 'database'>, { site }: SitePage): Promise<boolean> {
  return findRelay(database, site.tenant.tenantId);
}

/** How to read a page with a licence at its site. */
export function readInstructions(url: string, licence: string): ReadInstructions {
  return { method: 'GET', url, headers: { Authorization: `License ${licence}` } };
}
