import { bazaarOf } from '../../domain/discovery/bazaar.ts';
import { routeTemplateOf } from '../../domain/discovery/routeTemplate.ts';
import { parseResource } from '../../domain/hosts/host.ts';
import type { OfferExtension } from './extensions.ts';

/** How catalogues of x402 file the page. */
export const bazaar: OfferExtension = (_deps, { quote: { resource, slug } }) =>
  bazaarOf(slug, routeTemplateOf(parseResource(resource)?.path ?? '', slug));
