import { DOCUMENTS, documentUrl } from '../../kernel/pages/documents.ts';

const JSON_TYPE = 'application/json';

/** What of the service is for everybody: how it is called, and the keys that sign its licences. */
function serviceLinks(baseUrl: string): object {
  return {
    'service-desc': [{ href: `${baseUrl}/_svc/openapi.json`, type: JSON_TYPE }],
    'service-meta': [
      { href: `${baseUrl}/.well-known/oauth-authorization-server`, type: JSON_TYPE },
      { href: `${baseUrl}/.well-known/jwks.json`, type: 'application/jwk-set+json' },
    ],
    item: [{ href: `${baseUrl}/discovery/resources`, type: JSON_TYPE }],
  };
}

/** The catalogue of what may be called about a host (RFC 9727), as a linkset (RFC 9264). */
export function catalogOf(baseUrl: string, host: string): object {
  const documents = Object.entries(DOCUMENTS).flatMap(([name, { rel, contentType }]) => {
    if (rel === null || rel === 'api-catalog') return [];
    const [type] = contentType.split(';');
    return [[rel, { href: documentUrl(baseUrl, host, name as keyof typeof DOCUMENTS), type }] as const];
  });
  const byRel = Object.fromEntries(
    [...Map.groupBy(documents, ([rel]) => rel)].map(([rel, all]) => [rel, all.map(([, one]) => one)]),
  );
  return { linkset: [{ anchor: `https://${host}/`, ...byRel, ...serviceLinks(baseUrl) }] };
}

/** The catalogue of the service itself. */
export function serviceCatalog(baseUrl: string): object {
  return { linkset: [{ anchor: `${baseUrl}/`, ...serviceLinks(baseUrl) }] };
}
