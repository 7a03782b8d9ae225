import type { DocumentName } from '../../../kernel/pages/documents.ts';
import { DOCUMENTS, documentUrl } from '../../../kernel/pages/documents.ts';
import { EXTENSION_SCHEMA } from './build.ts';
import type { OfferExtension } from './extensions.ts';

const TERMS = 'license.xml';

/** Under which terms the page is given: the licence document of its host, where there is one. */
export const terms: OfferExtension = ({ baseUrl }, { quote: { host } }) => {
  if (!Object.hasOwn(DOCUMENTS, TERMS)) return null;
  return { info: { format: 'uri', terms: documentUrl(baseUrl, host, TERMS as DocumentName) }, schema: EXTENSION_SCHEMA };
};
