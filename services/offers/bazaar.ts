import { routeTemplateOf } from '../../domain/discovery/routeTemplate.ts';
import { parseResource } from '../../domain/hosts/host.ts';
import type { OfferExtension } from './extensions.ts';

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

/** How catalogues of x402 file the page. Nothing in it may differ from request to request: servers compare what clients echo. */
export const bazaar: OfferExtension = (_deps, { quote: { resource, slug } }) => {
  const path = parseResource(resource)?.path ?? '';
  const routeTemplate = routeTemplateOf(path, slug);
  const input = { type: 'http', method: 'GET', pathParams: { slug } };
  return {
    info: { input, output: { type: 'html' } },
    schema: SCHEMA,
    ...(routeTemplate === null ? {} : { routeTemplate }),
  };
};
