import { z } from 'zod';
import { introspectToken } from '../../modules/storefront/use/olp/introspect.ts';
import type { KeyRoute } from '../route.ts';
import { jsonResponse, keyErrors } from '../routes/responses.ts';
import { parseWith } from '../schemas/parse.ts';
import { kind } from '../schemas/shared.ts';

const FORM = z.looseObject({
  token: z.string('must be text').min(1, 'must not be empty'),
  resource: z.exactOptional(z.string()),
  slug: z.exactOptional(z.string()),
  kind: z.exactOptional(kind),
  proof: z.exactOptional(z.string()),
});
const RESULT = z
  .object({
    active: z.boolean(),
    permitted: z.boolean().meta({ description: 'Whether it opens the page that `resource` names.' }),
    token_type: z.exactOptional(z.literal('License')),
    iss: z.exactOptional(z.string()),
    aud: z.exactOptional(z.string()),
    sub: z.exactOptional(z.string()),
    jti: z.exactOptional(z.string()),
    iat: z.exactOptional(z.int()),
    nbf: z.exactOptional(z.int()),
    exp: z.exactOptional(z.int()),
  })
  .meta({ id: 'Introspection' });

/** POST /_svc/olp/introspect: what a licence token is worth on the site of the key (RFC 7662); a bad one is `active: false`, not an error. */
export const olpIntrospectRoute: KeyRoute = {
  method: 'post',
  path: '/_svc/olp/introspect',
  access: { scope: 'tenant.read', freshness: 'epoch' },
  bodyLimitBytes: 65_536,
  bodyType: 'form',
  operation: {
    operationId: 'introspectLicenceToken',
    tags: ['Enforce'],
    summary: 'Introspect a licence token (RSL 1.0, OLP)',
    security: [{ publisherKey: [] }],
    requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: FORM } } },
    responses: { '200': jsonResponse('RFC 7662, and whether it opens the page', RESULT), ...keyErrors() },
  },
  handle: async ({ deps, caller, body }) => {
    const question = parseWith(FORM, Object.fromEntries(body as ReadonlyMap<string, string>));
    const { token, resource, slug, kind: asked, proof } = question;
    const result = await introspectToken(deps, caller, {
      token,
      ...(resource === undefined ? {} : { resource }),
      ...(slug === undefined ? {} : { slug }),
      ...(asked === undefined ? {} : { kind: asked }),
      ...(proof === undefined ? {} : { proof }),
    });
    return { status: 200, headers: { 'cache-control': 'private, no-store' }, body: result };
  },
};
