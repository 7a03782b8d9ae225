import type { Database } from '../../../db/database.ts';
import { monthNamed } from '../../../platform/calendar.ts';
import { MAX_JWS_CHARS } from '../../../platform/tokens/jws.ts';
import type { Owner } from '../../identity/use/owners/authenticate.ts';
import type { Plan } from '../../kernel/access/key.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { Span } from '../../kernel/time/window.ts';
import { readableWindow } from '../../kernel/time/window.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import { fileZone } from './exportCsv.ts';
import type { LinkDeps, LinkMaker, LinkReader } from './linkTokens.ts';
import { readLink, requireOrigin, signLink } from './linkTokens.ts';
import { requireKnown } from './statement/read.ts';

/** Where a link leads: a page that hands its token over by a click, since what looks through e-mails opens links, too. */
export const STATEMENT_LINK_PATH = '/_svc/statement';

/** Longest token of a link, in characters. */
export const MAX_LINK_CHARS = MAX_JWS_CHARS;
/** How long a link is valid unless told, and at most. */
export const LINK_DAYS = 30;
export const MAX_LINK_DAYS = 90;
const DAY_SECONDS = 86_400;

/** What a token is signed as. */
const SIGNED_AS = 'statement';

/** Which statement: of one author in one month, by the calendar of a zone. */
export interface LinkedStatement extends LinkMaker {
  readonly authorId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly timeZone: string;
}

/** What links are made with. */
export interface StatementLinkDeps extends LinkDeps {
  readonly database: Database;
}

interface Said {
  readonly sub: string;
  readonly svc: LinkMaker & { readonly host: string | null; readonly month: string; readonly timeZone: string };
}

/**
 * A link by which an author gets their own statement of a month (2026-10), and nothing else, until it ends, by its time or with the token or the ownership
 * of its maker; the audit log says who made it. Again: another link, and the former goes on. The site's plan is asked here and not when the link is opened, so that it shows the same whenever that is. Throws
 * invalid_parameter for a month, a zone or a number of days that is none, and for a month that the plan does not read from its first day on;
 * scope_missing where nobody made it who can be asked for later; not_found for an author the site does not know, signing_key_unavailable, and what
 * `changeSite` throws.
 */
export async function makeStatementLink(
  deps: StatementLinkDeps,
  call: SiteCall & Pick<Owner, 'origin'>,
  asked: {
    readonly authorId: string;
    readonly month: string;
    readonly timeZone: string;
    readonly host: string | null;
    /** The site's. */
    readonly plan: Plan | null;
    readonly days?: number;
  },
): Promise<{ readonly url: string; readonly expiresAtMs: number }> {
  const { authorId, month, host, days = LINK_DAYS } = asked;
  const { tenantId } = call;
  const timeZone = fileZone(asked.timeZone);
  const nowMs = deps.clock();
  const span = requireMonth(month, timeZone);
  requireReadable(span, asked.plan, nowMs);
  if (!Number.isInteger(days) || days < 1 || days > MAX_LINK_DAYS) {
    throw new ServiceError('invalid_parameter', `days: must be 1 to ${MAX_LINK_DAYS}`, { parameter: 'days' });
  }
  const says: Said = { sub: authorId, svc: { tenantId, origin: requireOrigin(call), host, month, timeZone } };
  const { token, expiresAtMs } = await signLink(deps, SIGNED_AS, says, days * DAY_SECONDS);
  await changeSite(deps, call, {
    action: 'statement.link',
    target: authorId,
    look: async (_sql, made) => made && { month, timeZone, expiresAt: new Date(expiresAtMs).toISOString() },
    make: async (database) => {
      await database.transaction((sql) => requireKnown(sql, tenantId, authorId, span));
      return true;
    },
  });
  return { url: `${deps.baseUrl}${STATEMENT_LINK_PATH}#${token}`, expiresAtMs };
}

/**
 * The statement that a link's token is for. Throws not_found for one that is not ours, or has ended by its time; looks at nothing but the token, and the
 * caller asks whether its maker could still make it (`siteOfLink`).
 */
export async function linkedStatement(deps: LinkReader, token: string): Promise<LinkedStatement> {
  const said = await readLink<Said>(deps, SIGNED_AS, token);
  if (said === null) throw statementLinkEnded();
  const { tenantId, origin, month, timeZone } = said.svc;
  return { tenantId, origin, authorId: said.sub, timeZone, ...requireMonth(month, timeZone) };
}

/** The answer to a link that shows no statement any more, for any reason. */
export function statementLinkEnded(): ServiceError {
  return new ServiceError('not_found', 'this link has ended, or is not complete: ask the publisher for a new one');
}

function requireReadable(month: Span, plan: Plan | null, nowMs: number): void {
  const { clampedToMs } = readableWindow(month, plan, nowMs);
  if (clampedToMs === null) return;
  const since = new Date(clampedToMs).toISOString().slice(0, 10);
  throw new ServiceError(
    'invalid_parameter',
    `month: the site’s plan reads figures since ${since}, and a link shows a whole month`,
    {
      parameter: 'month',
    },
  );
}

function requireMonth(month: string, timeZone: string) {
  const span = monthNamed(month, timeZone);
  if (span === null)
    throw new ServiceError('invalid_parameter', 'month: must be a month such as 2026-10', { parameter: 'month' });
  return span;
}
