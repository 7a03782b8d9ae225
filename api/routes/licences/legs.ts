import { z } from 'zod';
import { legsOfOffer } from '../../../modules/storefront/use/licences/offerLegs.ts';
import type { PublicRoute } from '../../route.ts';
import { OfferLegs } from '../../schemas/licences.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';

/** GET /_svc/licenses/offers/{offerId}/legs: from these a careful buyer recomputes the recipient of its payment. */
export const licencesLegsRoute: PublicRoute = {
  method: 'get',
  path: '/_svc/licenses/offers/:offerId/legs',
  access: 'public',
  cost: 'medium',
  isForPages: true,
  operation: {
    operationId: 'getOfferLegs',
    tags: ['Licences'],
    summary: 'Legs of an offer',
    security: [],
    requestParams: { path: z.object({ offerId: z.string() }) },
    responses: {
      '200': jsonResponse('The legs behind payTo', OfferLegs),
      '404': jsonResponse('No such offer', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, params }) => ({
    status: 200,
    headers: { 'cache-control': 'public, max-age=300' },
    body: await legsOfOffer(deps, params['offerId'] ?? ''),
  }),
};
