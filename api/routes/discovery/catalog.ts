import { z } from 'zod';
import { serviceCatalog } from '../../../modules/discovery/rules/catalog.ts';
import { LINKSET_TYPE } from '../../../modules/kernel/pages/documents.ts';
import type { PublicRoute } from '../../route.ts';

/** GET /.well-known/api-catalog: what of this service may be called, and where that is described (RFC 9727). */
export const serviceCatalogRoute: PublicRoute = {
  method: 'get',
  path: '/.well-known/api-catalog',
  access: 'public',
  isForPages: true,
  operation: {
    operationId: 'getApiCatalog',
    tags: ['Discovery'],
    summary: 'Links of this service',
    security: [],
    responses: {
      '200': {
        description: 'A linkset (RFC 9264)',
        content: {
          'application/linkset+json': { schema: z.object({ linkset: z.array(z.looseObject({ anchor: z.string() })) }) },
        },
      },
    },
  },
  handle: async ({ deps }) => ({
    status: 200,
    headers: { 'cache-control': 'public, max-age=300', 'content-type': LINKSET_TYPE },
    body: serviceCatalog(deps.baseUrl),
  }),
};
