import type { DocumentName } from '../../domain/discovery/documents.ts';
import { documentUrl, SITE_DOCUMENTS } from '../../domain/discovery/documents.ts';
import type { OfferExtension } from './extensions.ts';

const SCHEMA = {
  type: 'object',
  properties: { format: { type: 'string', const: 'uri' }, terms: { type: 'string' } },
  required: ['format', 'terms'],
};
const TERMS = 'license.xml';

/** Under which terms the page is given: the licence document of its host, where there is one. */
export const terms: OfferExtension = ({ baseUrl }, { quote: { host } }) => {
  if (!Object.hasOwn(SITE_DOCUMENTS, TERMS)) return null;
  return { info: { format: 'uri', terms: documentUrl(baseUrl, host, TERMS as DocumentName) }, schema: SCHEMA };
};
