/** The extension by which catalogues of x402 file a page. */

/** Clients echo it in a header of theirs: no more than what says that this is a page that is got. */
const SCHEMA = {
  type: 'object',
  properties: {
    input: { properties: { type: { const: 'http' }, method: { const: 'GET' } }, required: ['type', 'method'] },
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
