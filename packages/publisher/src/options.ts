/** What a site says to the gate, and what holds where it says nothing. */
import type { DocumentOptions } from './documents.ts';
import type { PublisherFailure } from './telling/failures.ts';
import type { WellKnownRow } from './wellKnown.ts';

/** What became of a request, for the site's own records. */
export interface PublisherDecision {
  readonly act: 'serve' | 'offer' | 'settle' | 'refuse' | 'discover';
  /** For `serve`, how: `free`, `licensed`, `away`, or `open` for a page without a price. */
  readonly as?: string;
  readonly who: string;
  /** Why the reader counts as what it does. */
  readonly reason: string;
  readonly method: string;
  /** The page's public address; null where none was needed. */
  readonly resource: string | null;
  readonly priceMicro?: number;
  /** Why a page is free: `no_credits`, `free_slug`, `out_of_scope`, `no_price`, `free_rule`. */
  readonly because?: string;
}

/** Options of the gate; `Request` is that of the server in use. Nothing but address and key is needed. */
export interface PublisherOptions<Request = unknown> {
  /** Of the service. `SVC_URL` of the environment unless told. */
  readonly serviceUrl?: string | undefined;
  /** The site's key with the scope `tenant.read`. `SVC_API_KEY` of the environment unless told. */
  readonly apiKey?: string | undefined;
  /** The site's public address. Unless told, that host of the site which a request names, else its first. */
  readonly origin?: string | undefined;
  /** The site's own knowledge of a reader, which wins over User-Agents and lists; undefined leaves it to them. */
  readonly classify?: (request: Request) => 'human' | 'agent' | 'search' | undefined;
  /**
   * Proxies in front of the site, as ranges (CIDR): `X-Forwarded-For` is read from them alone, and says whether Googlebot comes from Google. `[]`:
   * nobody is in front. `SVC_TRUSTED_PROXIES` of the environment, with commas, unless told. Where neither is, whoever writes an address of
   * Google into such a header is believed.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /** The address of who asks, where the site knows it better than the connection; undefined leaves it to that. */
  readonly address?: (request: Request) => string | undefined;
  /** `everyone`: people pay, too. Search engines and whom the owner lets in read free all the same. `agents` unless told. */
  readonly charge?: 'agents' | 'everyone';
  /** Hears of everything that went wrong, each time. */
  readonly onFailure?: (failure: PublisherFailure) => void;
  /** Hears of every request that was decided, but for those of readers who are served untouched. */
  readonly onDecision?: (decision: PublisherDecision) => void;
  /** What is reported to the service: agents (unless told), everybody in scope, or nobody. */
  readonly report?: 'agents' | 'all' | 'none';
  /** What is sold: a read (unless told), or the right to cite. */
  readonly kind?: (request: Request) => 'read' | 'citation';
  /** Sends the calls to the service, and those of Next's proxy to its own site. The platform's unless told. */
  readonly fetch?: typeof fetch;
  /** The time in epoch milliseconds. */
  readonly now?: () => number;
  /** Bytes of a page that are kept until it is paid; of a longer one the rest is sent as it is made. 8 MiB unless told. */
  readonly maxPageBytes?: number;
  /**
   * Documents about the site that are served at it where it has none of its own. `/robots.txt` and `/llms.txt` speak in the publisher's name: they are
   * served only if set to true. Any other can be set to false; `false`: none is served.
   */
  readonly documents?: DocumentOptions;
  /** More paths that are answered here, before the package's own. */
  readonly wellKnown?: readonly WellKnownRow[];
  /**
   * Receipts of what is sold. `name: 'host'`: they are signed in the site's own name, for sites where everybody gets this package's
   * `/.well-known/did.json`; else in the service's. `bodies: false`: neither the hash of a page that was sold nor how its
   * answer ended is told, and a sale whose answer was lost is not served again after its licence.
   * `offers: true`: offers are signed, too, which takes the service a signature for each quote.
   */
  readonly receipts?: { readonly name?: 'host' | 'service'; readonly bodies?: boolean; readonly offers?: boolean };
  /** Takes a line about a failure, one of a kind in five minutes. `console.warn` unless told. */
  readonly log?: (line: string) => void;
}

/** Options with what the environment says, checked. Throws TypeError, which names what is wrong. */
export function readOptions<Request>(options: PublisherOptions<Request>) {
  const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
  const serviceUrl = options.serviceUrl ?? environment['SVC_URL'] ?? '';
  const apiKey = options.apiKey ?? environment['SVC_API_KEY'] ?? '';
  if (!/^https?:\/\//.test(serviceUrl) || !URL.canParse(serviceUrl)) {
    throw new TypeError('content-settlement: serviceUrl (or SVC_URL) must be the http(s) address of the service');
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("content-settlement: apiKey (or SVC_API_KEY) must be the site's key");
  const { origin } = options;
  if (origin !== undefined && !(URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol))) {
    throw new TypeError("content-settlement: origin must be the site's public address, as https://site.example");
  }
  const trustedProxies = options.trustedProxies ?? listOf(environment['SVC_TRUSTED_PROXIES']);
  return {
    ...options,
    trustedProxies,
    serviceUrl,
    apiKey,
    origin: origin === undefined ? undefined : new URL(origin).origin,
    charge: options.charge ?? 'agents',
    report: options.report ?? 'agents',
    now: options.now ?? Date.now,
    // biome-ignore lint/suspicious/noConsole: where a site that says nothing else looks for warnings
    log: options.log ?? ((line: string) => globalThis.console.warn(line)),
    maxPageBytes: options.maxPageBytes ?? 8 * 1_024 * 1_024,
  } as const;
}

/** What stands between commas; undefined for a variable that is not set. */
function listOf(text: string | undefined): readonly string[] | undefined {
  return text === undefined ? undefined : text.split(',').flatMap((one) => one.trim() || []);
}
