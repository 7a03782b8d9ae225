import { ownDidDocument } from '../../modules/receipts/use/did.ts';
import type { PublicRoute } from '../route.ts';
import { DidDocument } from './schemas.ts';

/** GET /.well-known/did.json: the keys that sign receipts in our name (did:web). */
export const didRoute: PublicRoute = {
  method: 'get',
  path: '/.well-known/did.json',
  access: 'public',
  isForPages: true,
  operation: {
    operationId: 'getDidDocument',
    tags: ['Receipts'],
    summary: 'Keys that sign receipts',
    security: [],
    responses: {
      '200': { description: 'The document of our did:web', content: { 'application/did+json': { schema: DidDocument } } },
    },
  },
  handle: async ({ deps }) => ({
    status: 200,
    headers: { 'cache-control': 'public, max-age=300', 'content-type': 'application/did+json' },
    body: ownDidDocument(deps),
  }),
};
