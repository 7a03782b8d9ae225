import { z } from 'zod';
import { findPackages } from '../../../modules/discovery/use/compPackages.ts';
import type { PublicRoute } from '../../route.ts';
import { CompPackages, CompRequestBody } from '../../schemas/comp.ts';
import { parseWith } from '../../schemas/parse.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';

/** POST /_svc/comp/packages: what a site sells, as packages of IAB CoMP. Shows what anybody may see. */
export const compPackagesRoute: PublicRoute = {
  method: 'post',
  path: '/_svc/comp/packages',
  access: 'public',
  cost: 'medium',
  isForPages: true,
  bodyLimitBytes: 65_536,
  operation: {
    operationId: 'findCompPackages',
    tags: ['Discovery'],
    summary: 'Packages of IAB CoMP',
    description:
      'Prices are those quoted to an unverified agent. `package` is the first of `packages`; neither includes refused pages.',
    security: [],
    requestParams: {
      query: z.object({ host: z.exactOptional(z.string().meta({ description: 'The site, if the request has no `uri`.' })) }),
    },
    requestBody: { required: true, content: { 'application/json': { schema: CompRequestBody } } },
    responses: {
      '200': jsonResponse('What is for sale, the most specific first', CompPackages),
      '400': jsonResponse('Malformed request, or URLs of several hosts', ErrorBody),
      '404': jsonResponse('This host sells nothing here', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, query, body }) => {
    const { uri = [], function: functions = [] } = parseWith(CompRequestBody, body).aisystem.aisysuse;
    const packages = await findPackages(deps, { host: query.get('host') ?? null, uris: uri, functions });
    const [first] = packages;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      body: { ...(first ? { package: first } : {}), packages },
    };
  },
};
