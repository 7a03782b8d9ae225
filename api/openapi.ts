import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { createDocument } from 'zod-openapi';
import { API_VERSION } from './door.ts';
import { answerTagged } from './etag.ts';
import { illustrate, illustrateParameters } from './examples/index.ts';
import type { Call, PublicRoute, Route } from './route.ts';
import { describeWebhooks } from './schemas/webhooks.ts';

/** The API description (OpenAPI 3.1.0), made from the schemas that also validate. */
export function describeApi(routes: readonly Route[], baseUrl: string): object {
  const paths: Record<string, ZodOpenApiPathItemObject> = {};
  for (const { path, method, operation } of routes) {
    const described = path.replaceAll(/:(\w+)/g, '{$1}');
    if (operation) paths[described] = { ...paths[described], [method]: illustrate(operation) };
  }
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Content-access pricing and settlement service',
      version: API_VERSION,
      description: 'Prices machine reads, settles payments to authors, issues licences. Money is an integer of micro-USDC.',
    },
    servers: [{ url: baseUrl }],
    tags: ['Enforce', 'Licences', 'Config', 'Earnings', 'Audit', 'Members', 'Webhooks'].map((name) => ({ name })),
    paths,
    webhooks: describeWebhooks(),
    components: {
      securitySchemes: {
        buyerAccount: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token of a buyer account (accounts/token, oauth/token) or its key, svc_buyer_…; or a SIGN-IN-WITH-X header.',
        },
        publisherKey: { type: 'http', scheme: 'bearer', description: 'A publisher key, svc_live_…, bound to one site.' },
      },
    },
  });
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of [item.get, item.post]) if (operation) illustrateParameters(operation);
  }
  return document;
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
