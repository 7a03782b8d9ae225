import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '../../modules/kernel/errors.ts';
import { ERROR_CODES, isServiceError, ServiceError } from '../../modules/kernel/errors.ts';
import { COSTS, queryPoints } from '../../modules/kernel/rate.ts';
import { siteOfLink } from '../../modules/reports/use/linkTokens.ts';
import type { LinkedRows } from '../../modules/reports/use/rowsLinks.ts';
import { linkEnded, linkedRows } from '../../modules/reports/use/rowsLinks.ts';
import { goneOf } from '../../platform/pacing/disconnected.ts';
import { siteName } from '../../platform/pacing/heavy.ts';
import type { GraphqlDeps, Visitor } from '../request/context.ts';
import { questionsOf } from '../request/context.ts';
import type { Engine } from '../request/engine.ts';
import { schema } from '../schema/schema.ts';
import { CURSOR, pagedQuery } from './document.ts';

/** What one file holds at most, and how long it takes at most; a longer list goes on by the cursor of its last line. */
export const MAX_ROWS = 100_000;
const MAX_MS = 600_000;
/** How long a file waits for another of its site. */
const RETRY_SECONDS = 30;

/** Rows as they come, a JSON text a line. */
interface Page {
  readonly nodes: readonly object[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/**
 * Opens what answers `GET ?rows=<token>`: the rows of a link's query as NDJSON, one file of a site at a time, each for `mostMs` milliseconds at
 * most, however slowly it is read.
 */
export function openRows(deps: GraphqlDeps, ask: Engine, mostMs = MAX_MS) {
  const busy = new Set<string>();
  return async (request: IncomingMessage, response: ServerResponse, token: string, after: string | null): Promise<void> => {
    const link = await linkedRows(deps, token);
    const { tenantId, query, variables } = link;
    if (busy.has(tenantId)) {
      throw new ServiceError(
        'throttled',
        'the rows of another link of this site are on their way; ask again when they have come',
        {
          retryAfterSeconds: RETRY_SECONDS,
        },
      );
    }
    busy.add(tenantId);
    try {
      const owner = ownerOfRows(link);
      deps.rates?.count([questionsOf({ key: null, owner, account: null })], 0); // who is in debt is asked nothing about
      await siteOfLink(deps, link, linkEnded());
      const { text, way } = pagedQuery(schema, query, variables);
      const pages = pagesOf({ deps, ask, gone: goneOf(request) }, { owner, tenantId, text, variables, way, after });
      await send(response, pages, performance.now() + mostMs);
    } finally {
      busy.delete(tenantId);
    }
  };
}

/** Who asks for a link's rows: what may be read was asked for by an owner when it was signed, the query, of this site. */
function ownerOfRows({ tenantId }: LinkedRows) {
  return { userId: 'rows link', via: 'token', tenantIds: [tenantId] } as const;
}

/** Sends pages until `endsAt`, by `performance.now()`; a reader who has not taken what was written by then is cut. */
async function send(response: ServerResponse, pages: AsyncIterable<Page>, endsAt: number): Promise<void> {
  let rows = 0;
  let isMore: string | null = null;
  try {
    for await (const { nodes, pageInfo } of pages) {
      if (!response.headersSent) {
        response.writeHead(200, {
          'content-type': 'application/x-ndjson; charset=utf-8',
          'content-disposition': 'attachment; filename="rows.ndjson"',
          'cache-control': 'private, no-store',
        });
      }
      rows += nodes.length;
      const goesOn = response.write(nodes.map((node) => `${JSON.stringify(node)}\n`).join(''));
      if (!goesOn && !response.destroyed) await drained(response, endsAt);
      if (response.destroyed) return;
      isMore = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      if (rows >= MAX_ROWS || performance.now() > endsAt) break;
    }
  } catch (error) {
    // What passes by itself ends this file, and the next one goes on from here.
    const passes = isServiceError(error) && (error.kind === 'throttled' || error.kind === 'unavailable');
    if (isMore === null || !passes) throw error;
  }
  response.end(isMore === null ? '' : `${JSON.stringify({ rowsAfter: isMore })}\n`);
}

/** Waits until the reader has taken what was written, or is gone; cuts one who has not by `endsAt`. */
async function drained(response: ServerResponse, endsAt: number): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const timer = setTimeout(() => response.destroy(), Math.max(0, endsAt - performance.now()));
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  } finally {
    clearTimeout(timer);
    waiting.abort();
  }
}

interface Asked {
  readonly owner: ReturnType<typeof ownerOfRows>;
  readonly tenantId: string;
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly way: readonly string[];
  readonly after: string | null;
}

/**
 * The pages of a query, each a question of its own: in turn with the site's others, within every limit of one, and counted at its cost before it is
 * given, so that a reader who cuts a file off owes for the part it has. Throws what a page is refused for, and not_found where the list is not there.
 */
async function* pagesOf(
  { deps, ask, gone }: { readonly deps: GraphqlDeps; readonly ask: Engine; readonly gone: AbortSignal },
  { owner, tenantId, text, variables, way, after }: Asked,
): AsyncGenerator<Page> {
  const visitor: Visitor = { requestId: '', key: null, owner, account: null };
  const holder = questionsOf(visitor);
  for (let cursor = after, goesOn = true; goesOn && !gone.aborted; ) {
    const body = new TextEncoder().encode(JSON.stringify({ query: text, variables: { ...variables, [CURSOR]: cursor } }));
    const leave = await deps.heavy.enter({ kind: 'questions', who: `rows of ${tenantId}`, of: siteName(tenantId) }, gone);
    const answer = await ask({ ...visitor, accept: 'application/json', body }).finally(leave);
    const waitMs = deps.rates?.queue(holder, Math.max(COSTS.heavy, queryPoints(answer.cost ?? 0)), Number.POSITIVE_INFINITY) ?? 0;
    const { data, errors } = JSON.parse(Buffer.from(answer.body).toString()) as {
      data?: unknown;
      errors?: readonly Failure[];
    };
    if (errors?.[0]) throw refusalOf(errors[0]);
    const page = way.reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | null)?.[name] ?? null,
      data,
    ) as Page | null;
    if (page === null) throw new ServiceError('not_found', 'what the query of this link asks for is not there');
    yield page;
    ({ hasNextPage: goesOn } = page.pageInfo);
    cursor = page.pageInfo.endCursor;
    if (goesOn && waitMs > 0) await sleep(waitMs, undefined, { signal: gone }).catch(() => undefined);
  }
}

/** An error of an answer. */
interface Failure {
  readonly message: string;
  readonly extensions?: { readonly code?: string; readonly reason?: string; readonly retryAfterSeconds?: number };
}

/** What the link's reader is told of a page's error: its own code where it has one; too long a read is to be asked for again. */
function refusalOf({ message, extensions: { code, reason, retryAfterSeconds } = {} }: Failure): ServiceError {
  const known = ERROR_CODES.find((one) => one === reason) as ErrorCode | undefined;
  const said =
    code === 'TIMEOUT' || code === 'UNAVAILABLE' ? 'overloaded' : code === 'INTERNAL' ? 'internal' : 'invalid_parameter';
  const isOwn = known !== undefined && code !== 'TIMEOUT'; // a query's time has the reason of its other limits, which stay as they are
  return new ServiceError(isOwn ? known : said, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
