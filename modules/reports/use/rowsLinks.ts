import type { Database } from '../../../db/database.ts';
import { MAX_JWS_CHARS } from '../../../platform/tokens/jws.ts';
import type { Owner } from '../../identity/use/owners/authenticate.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import type { LinkDeps, LinkMaker, LinkReader } from './linkTokens.ts';
import { readLink, requireOrigin, signLink } from './linkTokens.ts';

/** How long a link to rows is valid unless told, and at most, in hours: proxies on its way log it. */
export const ROWS_LINK_HOURS = 24;
export const MAX_ROWS_LINK_HOURS = 168;
/** Characters of the query and its variables together, as JSON: they are in the link. */
export const MAX_ROWS_QUERY_CHARS = 2_000;
const HOUR_SECONDS = 3_600;

/** What a token is signed as. */
const SIGNED_AS = 'rows';

/** A query of one site whose rows a link gives. */
export interface LinkedRows extends LinkMaker {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What links are made with. */
export interface RowsLinkDeps extends LinkDeps {
  readonly database: Database;
}

interface Said {
  readonly svc: LinkedRows;
}

/**
 * The token of a link that gives the rows of one query, and nothing else, until it ends; nothing is stored, so that it lasts through restarts and
 * at every process. The audit log says who made it. Again: another one, and the former goes on. Throws invalid_parameter for a query that is too
 * long, as it is or in the token, or hours that are none; scope_missing where nobody made it who can be asked for later; signing_key_unavailable,
 * and what `changeSite` throws.
 */
export async function makeRowsLink(
  deps: RowsLinkDeps,
  call: SiteCall & Pick<Owner, 'origin'>,
  { query, variables, hours = ROWS_LINK_HOURS }: Pick<LinkedRows, 'query' | 'variables'> & { readonly hours?: number },
): Promise<{ readonly token: string; readonly expiresAtMs: number }> {
  if (!Number.isInteger(hours) || hours < 1 || hours > MAX_ROWS_LINK_HOURS) {
    throw new ServiceError('invalid_parameter', `hours: must be 1 to ${MAX_ROWS_LINK_HOURS}`, { parameter: 'hours' });
  }
  if (JSON.stringify([query, variables]).length > MAX_ROWS_QUERY_CHARS) {
    const sentence = `query: with its variables it must not be longer than ${MAX_ROWS_QUERY_CHARS} characters`;
    throw new ServiceError('invalid_parameter', sentence, { parameter: 'query' });
  }
  const says: Said = { svc: { tenantId: call.tenantId, query, variables, origin: requireOrigin(call) } };
  const { token, expiresAtMs } = await signLink(deps, SIGNED_AS, says, hours * HOUR_SECONDS);
  if (token.length > MAX_JWS_CHARS) {
    const sentence =
      'query: with its variables it is too long for a link; letters beyond ASCII take up to three times the room of others';
    throw new ServiceError('invalid_parameter', sentence, { parameter: 'query' });
  }
  await changeSite(deps, call, {
    action: 'rows.link',
    target: null,
    look: async (_sql, made) => made && { query, expiresAt: new Date(expiresAtMs).toISOString() },
    make: () => Promise.resolve(true),
  });
  return { token, expiresAtMs };
}

/**
 * The query that a link's token is for. Throws not_found for one that is not ours, or has ended by its time; looks at nothing but the token, and the
 * caller asks whether its maker could still make it (`siteOfLink`).
 */
export async function linkedRows(deps: LinkReader, token: string): Promise<LinkedRows> {
  const said = await readLink<Said>(deps, SIGNED_AS, token);
  if (said === null) throw linkEnded();
  return said.svc;
}

/** The answer to a link that gives no rows any more, whyever. */
export function linkEnded(): ServiceError {
  return new ServiceError('not_found', 'this link has ended, or is not complete: make another with `makeRowsLink`');
}
