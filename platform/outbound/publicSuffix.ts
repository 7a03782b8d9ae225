import { parse } from 'tldts';

/**
 * True for a name under which strangers register their own (`co.uk`, `github.io`): the owner of such a name is no publisher. From the
 * public suffix list, its private part included; a name below no suffix of the list counts as registered under its last label.
 */
export function isPublicSuffix(host: string): boolean {
  const { domain, publicSuffix } = parse(host, { allowPrivateDomains: true });
  return domain === null || publicSuffix === host;
}

/** The name that was registered for a host (`a.b.example.co.uk` → `example.co.uk`); the host itself where none was. */
export function registeredDomain(host: string): string {
  return parse(host, { allowPrivateDomains: true }).domain ?? host;
}
