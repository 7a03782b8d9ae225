/** The extension by which catalogues of x402 file a page. */

/** Clients echo it in a header of theirs: as small as catalogues read it. */
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    input: {
      type: 'object',
      properties: {
        type: { type: 'string', const: 'http' },
        method: { type: 'string', enum: ['GET'] },
        pathParams: { type: 'object' },
      },
      required: ['type', 'method'],
    },
    output: { type: 'object' },
  },
  required: ['input'],
};

/** The extension; `slug` of one page, null for all of a route. Nothing in it may differ from request to request: servers compare what clients echo. */
export function bazaarOf(slug: string | null, routeTemplate: string | null): object {
  const input = { type: 'http', method: 'GET', ...(slug === null ? {} : { pathParams: { slug } }) };
  return {
    info: { input, output: { type: 'html' } },
    schema: SCHEMA,
    ...(routeTemplate === null ? {} : { routeTemplate }),
  };
}
