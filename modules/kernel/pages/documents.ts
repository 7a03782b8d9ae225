/** Documents about a site that everybody may read: made here, served by us and at the site's own address. */

/** One document. */
interface DocumentRow {
  readonly contentType: string;
  /** The relation under which a 402 names it (RFC 8288); null: no 402 does. */
  readonly rel: string | null;
}

const JSON_TYPE = 'application/json; charset=utf-8';
/** RFC 9727 §4: links of services, as RFC 9264 writes them. */
export const LINKSET_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/** Every document by its name, which is the end of its address; a 402 names them in this order, as many as its headers have room for. One line each. */
export const DOCUMENTS = {
  'license.xml': { contentType: 'application/rsl+xml; charset=utf-8', rel: 'license' },
  'x402.json': { contentType: JSON_TYPE, rel: 'payment' },
  x402: { contentType: JSON_TYPE, rel: null },
  'api-catalog': { contentType: LINKSET_TYPE, rel: 'api-catalog' },
  'llms.txt': { contentType: 'text/plain; charset=utf-8', rel: null },
  'robots.txt': { contentType: 'text/plain; charset=utf-8', rel: null },
  'did.json': { contentType: 'application/did+json', rel: null },
} as const satisfies Readonly<Record<string, DocumentRow>>;

/** The name of a document. */
export type DocumentName = keyof typeof DOCUMENTS;

/** The document of that name; null when there is none. */
export function findDocument(name: string): (DocumentRow & { readonly name: DocumentName }) | null {
  if (!Object.hasOwn(DOCUMENTS, name)) return null;
  const known = name as DocumentName;
  return { name: known, ...DOCUMENTS[known] };
}

/** Where we serve a document of a host; `baseUrl` without its closing slash. */
export function documentUrl(baseUrl: string, host: string, name: DocumentName): string {
  return `${baseUrl}/_svc/discovery/${host}/${name}`;
}

/** The value of `Link` on a 402 of a page of this host: the documents that say what else may be bought and how. */
export function linksOf(baseUrl: string, host: string): string {
  const links = Object.entries(DOCUMENTS).flatMap(([name, { rel, contentType }]) => {
    if (rel === null) return [];
    const [type] = contentType.split(';');
    return [`<${documentUrl(baseUrl, host, name as DocumentName)}>; rel="${rel}"; type="${type}"`];
  });
  return links.join(', ');
}

/** The media type that a document is shown as: browsers save one that they do not know, and show XML. */
export function shownAs(contentType: string, accept: string | null): string {
  const isForReader = /\btext\/html\b/i.test(accept ?? '') && !/\brsl\+xml\b/i.test(accept ?? '');
  return isForReader ? contentType.replace('application/rsl+xml', 'application/xml') : contentType;
}
