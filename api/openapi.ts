import type { ZodOpenApiPathItemObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { createDocument } from 'zod-openapi';
import { withHeaders } from './described.ts';
import { answerTagged } from './etag.ts';
import { illustrate, illustrateParameters } from './examples/index.ts';
import { API_VERSION } from './handler.ts';
import type { Call, PublicRoute, Route } from './route.ts';
import { jsonResponse } from './routes/responses.ts';
import { creditsComponents } from './schemas/credits.ts';
import { ErrorBody } from './schemas/shared.ts';
import { describeWebhooks } from './schemas/webhooks.ts';

const TAGS = [
  ['Enforce', 'What a publisher’s gate calls: prices, settlement, reports of what it did, and proof of hosts.'],
  ['Licences', 'What buyers call: quotes, purchases, and tokens for what they hold.'],
  ['Accounts', 'How buyers sign in.'],
  ['Discovery', 'Public information about sites that sell: their documents, and the list of sites that opted in.'],
  ['Config', 'A site’s settings.'],
  ['Earnings', 'What a site has earned, and who was paid.'],
  ['Audit', 'Who requested pages, and the outcome.'],
  ['Members', 'The authors of a site.'],
  ['Receipts', 'What anyone can verify about a payment.'],
  ['Webhooks', 'What the service sends to a site’s endpoints.'],
] as const;

/** The API description (OpenAPI 3.1.0), made from the schemas that also validate. */
export function describeApi(routes: readonly Route[], baseUrl: string): object {
  const paths: Record<string, ZodOpenApiPathItemObject> = {};
  for (const route of routes) {
    const { path, method } = route;
    const described = path.replaceAll(/:(\w+)/g, '{$1}');
    const operation = withHeaders(withThrottled(route));
    if (operation) paths[described] = { ...paths[described], [method]: illustrate(operation) };
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Content-access pricing and settlement service',
        version: API_VERSION,
        description: 'Prices machine reads, settles payments to authors, issues licences. Money is an integer of micro-USDC.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: baseUrl }],
      tags: TAGS.map(([name, description]) => ({ name, description })),
      paths,
      webhooks: describeWebhooks(),
      components: {
        schemas: creditsComponents(),
        securitySchemes: {
          buyerAccount: {
            type: 'http',
            scheme: 'bearer',
            description: 'A token of a buyer account (accounts/token, oauth/token) or its key, svc_buyer_….',
          },
          signInWithX: {
            type: 'apiKey',
            in: 'header',
            name: 'SIGN-IN-WITH-X',
            description: 'A signed sign-in message of a wallet, valid for one call; replaces a token.',
          },
          publisherKey: { type: 'http', scheme: 'bearer', description: 'A publisher key, svc_live_…, bound to one site.' },
        },
      },
    },
    { override: ({ jsonSchema, io }) => leaveRoom(jsonSchema, io) },
  );
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of [item.get, item.post]) if (operation) illustrateParameters(operation);
  }
  return document;
}

/** What we answer may get members within a version (they are only added), so that no client may refuse one it does not know. */
function leaveRoom(schema: { additionalProperties?: unknown }, io: 'input' | 'output'): void {
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
}

/** The route with the answer to a caller that calls too often, in the shape of its other refusals. */
function withThrottled<R extends Route>(route: R): R {
  if (!route.operation) return route;
  const { '401': refused, '429': own, ...others } = route.operation.responses as ZodOpenApiResponsesObject;
  const throttled = own ?? { ...(refused ?? jsonResponse('', ErrorBody)), description: 'Too many calls; see Retry-After' };
  const responses = { ...others, ...(refused && { '401': refused }), '429': throttled };
  return { ...route, operation: { ...route.operation, responses } };
}

/** GET /_svc/openapi.json over these routes and itself; made at the first call, then the same bytes with an ETag. */
export function openApiRoute(routes: readonly Route[]): PublicRoute {
  let text: string | null = null;
  const route: PublicRoute = {
    method: 'get',
    path: '/_svc/openapi.json',
    access: 'public',
    operation: {
      operationId: 'getOpenApi',
      summary: 'This description',
      security: [],
      responses: {
        '200': { description: 'OpenAPI 3.1', content: { 'application/json': { schema: { type: 'object' } } } },
        '304': { description: 'Not changed since the given ETag' },
      },
    },
    handle: async ({ deps, header }: Call) => {
      text ??= JSON.stringify(describeApi([...routes, route], deps.baseUrl));
      return answerTagged(header, text, 'public, max-age=300');
    },
  };
  return route;
}
