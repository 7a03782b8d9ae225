import { listResources, searchResources } from '../../../modules/discovery/use/list.ts';
import { ServiceError } from '../../../modules/kernel/errors.ts';
import type { PublicRoute } from '../../route.ts';
import { ResourcesBody, ResourcesQuery, readCursor, SearchBody, SearchQuery, writeCursor } from '../../schemas/discovery.ts';
import { parseWith } from '../../schemas/parse.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';

const HEADERS = { 'cache-control': 'public, max-age=60' };
const USUAL_LIMIT = 20;

/** GET /discovery/resources: the sites that want to be found, as catalogues of x402 read them. */
export const listResourcesRoute: PublicRoute = {
  method: 'get',
  path: '/discovery/resources',
  access: 'public',
  cost: 'heavy',
  isForPages: true,
  operation: {
    operationId: 'listResources',
    tags: ['Discovery'],
    summary: 'What is sold here',
    description:
      'Sites whose owners opted in, one entry for each article prefix of each host. `total` counts them before any filter.',
    security: [],
    requestParams: { query: ResourcesQuery },
    responses: {
      '200': jsonResponse('A page of the list', ResourcesBody),
      '400': jsonResponse('Malformed request', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, query }) => {
    const {
      limit = USUAL_LIMIT,
      offset = 0,
      ...filter
    } = parseWith(ResourcesQuery, Object.fromEntries(query), 'invalid_parameter');
    const { entries, total } = await listResources(deps, { filter, offset, limit });
    return { status: 200, headers: HEADERS, body: { x402Version: 2, items: entries, pagination: { limit, offset, total } } };
  },
};

/** GET /discovery/search: the same list by words. */
export const searchResourcesRoute: PublicRoute = {
  method: 'get',
  path: '/discovery/search',
  access: 'public',
  cost: 'heavy',
  isForPages: true,
  operation: {
    operationId: 'searchResources',
    tags: ['Discovery'],
    summary: 'Find sites by words',
    description:
      'Entries of sites whose description contains all the words, or that have this host. At most 200 places are examined per answer.',
    security: [],
    requestParams: { query: SearchQuery },
    responses: {
      '200': jsonResponse('Entries, and a cursor for the next page', SearchBody),
      '400': jsonResponse('Malformed request', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, query }) => {
    const asked = parseWith(SearchQuery, Object.fromEntries(query), 'invalid_parameter');
    const { limit = USUAL_LIMIT, cursor, query: words, ...filter } = asked;
    const after = cursor === undefined ? null : readCursor(cursor);
    if (cursor !== undefined && !after) {
      throw new ServiceError('invalid_parameter', 'cursor does not belong to this list', { parameter: 'cursor' });
    }
    const { entries, next } = await searchResources(deps, { query: words, filter, after, limit });
    const pagination = { limit, cursor: next && writeCursor(next) };
    return {
      status: 200,
      headers: HEADERS,
      body: { x402Version: 2, resources: entries, partialResults: next !== null, pagination },
    };
  },
};
