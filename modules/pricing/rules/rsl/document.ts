import { printXml, xml } from '../../../kernel/xml.ts';
import type { RslContent } from './contents.ts';
import { RSL_NAMESPACE } from './contents.ts';

/** Days after which a client has to look again. */
const MAX_AGE_DAYS = 1;

/** A site's `license.xml`: the same contents and moment give the same bytes. `changedAtMs`: when its terms changed last. */
export function rslDocument(contents: readonly RslContent[], server: string, changedAtMs: number): string {
  const lastmod = `${new Date(changedAtMs).toISOString().slice(0, 19)}Z`;
  const elements = contents.map(({ url, isSold, licences }) =>
    xml(
      'content',
      { url, server: isSold ? server : null, lastmod },
      licences.map(({ element }) => element),
    ),
  );
  const root = xml('rsl', { xmlns: RSL_NAMESPACE, 'max-age': String(MAX_AGE_DAYS) }, elements);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${printXml(root)}\n`;
}
