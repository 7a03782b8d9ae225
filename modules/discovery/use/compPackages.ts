import { ServiceError } from '../../kernel/errors.ts';
import { parseResource } from '../../kernel/hosts/host.ts';
import { documentUrl } from '../../kernel/pages/documents.ts';
import { canonicalPath } from '../../kernel/pages/scope.ts';
import type { CompPackage } from '../../pricing/rules/compPackages.ts';
import { packagesOf } from '../../pricing/rules/compPackages.ts';
import type { PublisherDeps } from '../../quotes/use/deps.ts';
import { findLiveSite } from './site.ts';

/** What an AI system asks for. */
export interface CompRequest {
  /** The site, where the request says it besides its URIs. */
  readonly host: string | null;
  readonly uris: readonly string[];
  /** By number in the standard's list; empty: none is said. */
  readonly functions: readonly number[];
}

/**
 * The packages of a site that a request concerns; none where all of it is refused. Throws invalid_parameter (400) for URIs of several hosts or
 * none, not_found (404), the same for every host that does not sell here, and database_unavailable (503).
 */
export async function findPackages(deps: PublisherDeps, request: CompRequest): Promise<readonly CompPackage[]> {
  const pages = request.uris.map((uri, index) => {
    const page = parseResource(uri);
    if (page) return page;
    throw refuse(`aisystem.aisysuse.uri.${index}`, 'must be an http or https URL');
  });
  const hosts = new Set([...pages.map(({ host }) => host), ...(request.host === null ? [] : [request.host.toLowerCase()])]);
  const [host] = hosts;
  if (host === undefined) throw refuse('aisystem.aisysuse.uri', 'a uri or ?host= is needed');
  if (hosts.size > 1) throw refuse('aisystem.aisysuse.uri', 'all must name the same host');
  const site = await findLiveSite(deps, host);
  if (!site) throw new ServiceError('not_found', 'this host sells nothing here');
  return packagesOf({
    host: site.host,
    classes: site.pricing.classes(deps.clock()),
    paths: pages.map(({ path }) => canonicalPath(path)),
    functions: request.functions,
    licenseUrl: documentUrl(deps.baseUrl, site.host, 'license.xml'),
    reportUrl: `${deps.baseUrl}/_svc/usage`,
    packager: new URL(deps.baseUrl).hostname,
  });
}

function refuse(parameter: string, sentence: string): ServiceError {
  return new ServiceError('invalid_parameter', `${parameter}: ${sentence}`, { parameter });
}
