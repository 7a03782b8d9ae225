import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { COSTS, queryPoints } from '../../modules/kernel/rate.ts';
import { linkedRows } from '../../modules/reports/use/rowsLinks.ts';
import { describeTenant } from '../../modules/tenants/use/self.ts';
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

/** Opens what answers `GET ?rows=<token>`: the rows of a link's query as NDJSON, one file of a site at a time. */
export function openRows(deps: GraphqlDeps, ask: Engine) {
  const busy = new Set<string>();
  return async (request: IncomingMessage, response: ServerResponse, token: string, after: string | null): Promise<void> => {
    const { tenantId, query, variables } = await linkedRows(deps, token);
    const { status } = await describeTenant(deps, tenantId);
    if (status !== 'active') throw new ServiceError('not_found', 'the site of this link is closed or suspended');
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
      const { text, way } = pagedQuery(schema, query, variables);
      const pages = pagesOf({ deps, ask, gone: goneOf(request) }, { tenantId, text, variables, way, after });
      await send(response, pages);
    } finally {
      busy.delete(tenantId);
    }
  };
}

async function send(response: ServerResponse, pages: AsyncIterable<Page>): Promise<void> {
  const endsAt = performance.now() + MAX_MS;
  let rows = 0;
  let isMore: string | null = null;
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
    if (response.destroyed) return;
    if (!goesOn) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    isMore = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    if (rows >= MAX_ROWS || performance.now() > endsAt) break;
  }
  response.end(isMore === null ? '' : `${JSON.stringify({ rowsAfter: isMore })}\n`);
}

interface Asked {
  readonly tenantId: string;
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly way: readonly string[];
  readonly after: string | null;
}

/**
 * The pages of a query, each a question of its own: in turn with the site's others, within every limit of one, and counted at its cost. Throws
 * invalid_parameter with what the first page is refused for.
 */
async function* pagesOf(
  { deps, ask, gone }: { readonly deps: GraphqlDeps; readonly ask: Engine; readonly gone: AbortSignal },
  { tenantId, text, variables, way, after }: Asked,
): AsyncGenerator<Page> {
  // What may be read was asked for by an owner when the link was signed: the query, of this site.
  const owner = { userId: 'rows link', via: 'token', tenantIds: [tenantId] } as const;
  const visitor: Visitor = { requestId: '', key: null, owner, account: null };
  const holder = questionsOf(visitor);
  for (let cursor = after, goesOn = true; goesOn && !gone.aborted; ) {
    const body = new TextEncoder().encode(JSON.stringify({ query: text, variables: { ...variables, [CURSOR]: cursor } }));
    const leave = await deps.heavy.enter({ kind: 'questions', who: `rows of ${tenantId}`, of: siteName(tenantId) }, gone);
    const answer = await ask({ ...visitor, accept: 'application/json', body }).finally(leave);
    const { data, errors } = JSON.parse(Buffer.from(answer.body).toString()) as {
      data?: unknown;
      errors?: readonly { readonly message: string }[];
    };
    if (errors?.[0]) throw new ServiceError('invalid_parameter', errors[0].message);
    const page = way.reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | null)?.[name] ?? null,
      data,
    ) as Page | null;
    if (page === null) return;
    yield page;
    ({ hasNextPage: goesOn } = page.pageInfo);
    cursor = page.pageInfo.endCursor;
    const waitMs = deps.rates?.queue(holder, Math.max(COSTS.heavy, queryPoints(answer.cost ?? 0)), Number.POSITIVE_INFINITY) ?? 0;
    if (goesOn && waitMs > 0) await sleep(waitMs, undefined, { signal: gone }).catch(() => undefined);
  }
}
