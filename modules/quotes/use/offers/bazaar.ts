import { parseResource } from '../../../kernel/hosts/host.ts';
import { bazaarOf } from '../../rules/bazaar.ts';
import { routeTemplateOf } from '../../rules/routeTemplate.ts';
import type { OfferExtension } from './extensions.ts';

/** How catalogues of x402 file the page. */
export const bazaar: OfferExtension = (_deps, { quote: { resource, slug } }) =>
  bazaarOf(slug, routeTemplateOf(parseResource(resource)?.path ?? '', slug));
