import { ServiceError } from '../../../kernel/errors.ts';
import { isOfferedHere } from '../../rules/offerSeen.ts';
import type { PageAsking, PageDeps, PageReason, PageText, SitePage } from './fetch.ts';
import { askForPage, requireSitePage } from './fetch.ts';
import { mayRelay } from './relay.ts';

/** What a page answers to who has not paid. */
export type Probed = SitePage &
  (
    | { readonly kind: 'priced' } // 402 with our offer for it: it is there, and it is sold
    | { readonly kind: 'free'; readonly page: PageText | null } // 200; null: its text is not handed on
    | { readonly kind: 'absent'; readonly reason: PageReason; readonly says: string } // nothing is to be charged
  );

/** Our gates answer those who read HTML with a page about the offer, and everybody else with the offer itself, which has all of its legs. */
const ACCEPT = 'text/*, application/json;q=0.9, */*;q=0.1';

/**
 * Asks a page without a payment, before any money is asked for: page first, money second. Whatever answers neither 200 nor a 402 with our offer for
 * this page is absent, and nothing may be charged for it. The text of a page that its site gives away is read where its owner lets it be handed on; of
 * other answers the offer alone is read. Changes nothing; a second call asks the site again. Throws as `requireSitePage`; never for what the site does.
 */
export async function probePage(
  deps: PageDeps,
  { url, who }: { readonly url: string } & Pick<PageAsking, 'who'>,
): Promise<Probed> {
  const place = await requireSitePage(deps, url);
  const isTextWanted = await mayRelay(deps, place);
  const answer = await askForPage(deps, place, { who, isTextWanted, headers: { accept: ACCEPT } });
  if (answer.ok && answer.offer && isOfferedHere(answer.offer, place.resource)) return { ...place, kind: 'priced' };
  const isFree = answer.ok ? answer.status === 200 : answer.reason === 'not_text';
  if (isFree) return { ...place, kind: 'free', page: answer.ok ? answer.page : null };
  const reason = answer.ok ? 'answered_otherwise' : answer.reason;
  const how = answer.ok && answer.offer ? ', without an offer of this service for it' : '';
  const says = answer.ok
    ? `the site answered ${answer.status} for this page${how}`
    : `the page is not available from its site: ${reason}`;
  return { ...place, kind: 'absent', reason, says };
}

/** What a caller is told of a page that is absent: 404, or 503 where asking again may help. */
export function absentError({ reason, says }: Extract<Probed, { kind: 'absent' }>): ServiceError {
  const sentence = `${says}; nothing was charged`;
  if (reason === 'busy') return new ServiceError('overloaded', sentence, { retryAfterSeconds: 5 });
  return new ServiceError('not_found', sentence);
}
