/** Domains the sandbox plays the internet for; everything below them too. */
const DOMAINS: readonly string[] = ['sandbox.example', 'alpha.example', 'beta.example'];

/** True for a name that leads to the sandbox's own web where there is one. */
export function isSandboxName(name: string): boolean {
  return DOMAINS.some((domain) => name === domain || name.endsWith(`.${domain}`));
}

/** Where a request for such a name goes instead: the same path on the sandbox's web, which tells its sites apart by `Host`. */
export function sandboxUrl(url: URL, webUrl: string): URL {
  const target = new URL(webUrl);
  target.pathname = url.pathname;
  target.search = url.search;
  return target;
}
