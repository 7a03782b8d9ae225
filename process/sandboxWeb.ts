import type { HostDns } from '../platform/outbound/hostDns.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';

/** Domains the sandbox plays the internet for; everything below them too. */
const DOMAINS: readonly string[] = ['sandbox.example', 'alpha.example', 'beta.example'];

/**
 * Where a request for a name of the sandbox goes instead: the same path on the sandbox's web, which tells its sites apart by `Host`.
 * Null for every other name. The configuration refuses such a web in production.
 */
export function rerouteToSandbox(webUrl: string): (url: URL) => URL | null {
  return (url) => {
    if (!isSandboxName(url.hostname)) return null;
    const target = new URL(webUrl);
    target.pathname = url.pathname;
    target.search = url.search;
    return target;
  };
}

/** DNS that knows the sandbox's own names from its web, asked through `outbound`, and every other name from `dns`. */
export function withSandboxNames(dns: HostDns, webUrl: string, outbound: Outbound): HostDns {
  const records = async (name: string): Promise<Records> => {
    const answer = await outbound.send({ url: `${webUrl}/control/dns?name=${encodeURIComponent(name)}` });
    if (!answer.ok || answer.status !== 200) throw new Error('the web of the sandbox does not answer');
    return JSON.parse(Buffer.from(answer.body).toString('utf8')) as Records;
  };
  return {
    texts: async (name) => (isSandboxName(name) ? [(await records(name)).txt] : await dns.texts(name)),
    alias: async (name) => (isSandboxName(name) ? (await records(name)).cname : await dns.alias(name)),
  };
}

interface Records {
  readonly txt: readonly string[];
  readonly cname: string | null;
}

/** True for a name that the sandbox plays. */
export function isSandboxName(name: string): boolean {
  return DOMAINS.some((domain) => name === domain || name.endsWith(`.${domain}`));
}
