import { createHash } from 'node:crypto';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { createDocument } from 'zod-openapi';
import { API_VERSION } from './door.ts';
import type { Call, PublicRoute, Route } from './route.ts';

/** The API description (OpenAPI 3.1.0), made from the schemas that also validate. */
export function describeApi(routes: readonly Route[], baseUrl: string): object {
  const paths: Record<string, ZodOpenApiPathItemObject> = {};
  for (const { path, method, operation } of routes) {
    if (operation) paths[path] = { ...paths[path], [method]: operation };
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Content-access pricing and settlement service',
      version: API_VERSION,
      description: 'Prices machine reads, settles payments to authors, issues licences. Money is an integer of micro-USDC.',
    },
    servers: [{ url: baseUrl }],
    tags: [{ name: 'Enforce' }, { name: 'Licences' }],
    paths,
    components: {
      securitySchemes: {
        publisherKey: { type: 'http', scheme: 'bearer', description: 'A publisher key, svc_live_…, bound to one site.' },
      },
    },
  });
}

/** GET /_svc/openapi.json over these routes and itself; made at the first call, then the same bytes with an ETag. */
export function openApiRoute(routes: readonly Route[]): PublicRoute {
  let made: { readonly text: string; readonly etag: string } | null = null;
  const route: PublicRoute = {
    method: 'get',
    path: '/_svc/openapi.json',
    access: 'public',
    operation: {
      operationId: 'getOpenApi',
      summary: 'This description',
      security: [],
      responses: { '200': { description: 'OpenAPI 3.1', content: { 'application/json': { schema: { type: 'object' } } } } },
    },
    handle: async ({ deps, header }: Call) => {
      if (!made) {
        const text = JSON.stringify(describeApi([...routes, route], deps.baseUrl));
        made = { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
      }
      const headers = { etag: made.etag, 'cache-control': 'public, max-age=300' };
      const known = (header('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
      if (known.includes(made.etag) || known.includes('*')) return { status: 304, headers };
      return { status: 200, headers, body: made.text };
    },
  };
  return route;
}
