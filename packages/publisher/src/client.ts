/** The service's REST interface as a publisher's server calls it. Nothing here rejects: what went wrong is an answer, too. */

/** Who gets what of one payment, in micro-USDC. */
export interface Leg {
  readonly toAddress: string;
  readonly amountMicro: number;
}

/** An offer ready to be sent with a 402: the header of version 2, and the body of version 1. */
export interface Offer {
  readonly header: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Further headers of the 402 by their names; absent in answers of an older service. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a page costs, and who gets it. Times are epoch milliseconds. */
export interface Quote {
  readonly price: number;
  readonly kind: 'read' | 'citation';
  readonly slug: string;
  readonly title?: string;
  readonly resource: string;
  readonly payees: readonly { readonly authorId: string; readonly share: number }[];
  readonly legs: readonly Leg[];
  readonly expiresAt: number;
  readonly quoteToken: string;
  readonly x402: Offer;
}

/** Telemetry of the reader; never decides about access. */
export interface ObservedAgent {
  readonly ua?: string;
  readonly classifyReason?: string;
  readonly verified?: boolean;
  readonly verifiedAgent?: string;
  /** A signature that is not its agent's. */
  readonly sigInvalid?: boolean;
}

/** The public key of an agent. */
export interface AgentKey {
  readonly kty: string;
  readonly [member: string]: string;
}

/** What the service knows of an agent by its signature. */
export type AgentVerdict =
  | {
      readonly outcome: 'verified';
      readonly agent: { readonly host: string; readonly key: AgentKey };
      readonly observed: ObservedAgent;
      /** For how long its key may be relied upon, in seconds. */
      readonly cacheSeconds: number;
    }
  | { readonly outcome: 'invalid' | 'unverified'; readonly observed: ObservedAgent; readonly retryAfter?: number };

/** One report of what the gate decided. */
export interface Report {
  readonly resource: string;
  readonly verdict: 'served-free' | 'agent-reread' | 'denied' | 'blocked' | 'unservable';
  readonly classifiedAs: 'human' | 'agent';
  readonly kind?: 'read' | 'citation';
  readonly priceMicro?: number;
  readonly at?: number;
  readonly agent?: ObservedAgent;
}

/** What the gate decides by; `enforcement` is the service's own, with more members than are read here. */
export interface EnforceConfig {
  readonly enforcement: {
    readonly articlePrefixes: readonly string[];
    readonly gateScope:
      | { readonly mode: 'prefixes' }
      | { readonly mode: 'site'; readonly excludePrefixes: readonly string[]; readonly includeExtensions?: readonly string[] };
    /** What other addresses of an article add to its own; absent in answers of an older service. */
    readonly forms?: readonly string[];
    readonly seoAllowlist: readonly string[];
    readonly crawlerPolicy: {
      readonly allow: readonly string[];
      readonly charge: readonly string[];
      readonly block: readonly string[];
    };
    /** What becomes of each class of visitors: `read`, `charge` or `block`. */
    readonly visitorClasses?: Readonly<Record<string, string>>;
    readonly licenseIdentity: string;
  };
  readonly manifest: { readonly resources: readonly string[] };
  readonly version: number;
  /** The addresses that operators of robots publish, where they were asked for; absent in answers of an older service. */
  readonly addresses?: unknown;
}

/** A settled payment. */
export interface Receipt {
  readonly ok: true;
  readonly payer: string;
  readonly licenseJws: string;
  readonly chargedMicro: string;
  readonly settlementRef?: string;
  /** Names the payment's public record; a test key's has none. */
  readonly receiptId?: string;
}

/** How an answer ended: all of it was handed to the connection, or its reader was gone before that. */
export type Outcome = 'delivered' | 'lost';

/** What was sent for a payment: SHA-256 in lower-case hex, and how many bytes; and how the answer that was given at `at` ended. */
export interface ServedBody {
  readonly receiptId: string;
  readonly sha256?: string;
  readonly bytes?: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly outcome?: Outcome;
}

/** Who enforces on a host, and whether somebody must act. */
export interface HostStatus {
  readonly host: string;
  readonly mode: string | null;
  readonly nextAction: string;
  readonly attention: boolean;
  readonly keyRejectedAt: string | null;
  readonly tracks: Readonly<Record<string, string>>;
}

/** The proof task of a host. */
export interface HostChallenge {
  readonly host: string;
  readonly token: string;
  readonly method: 'well-known' | 'meta-tag' | 'dns-txt';
  readonly verifiedAt: string | null;
}

/** The site of the key, its money as decimals beside what the description of the API says. */
export interface Site {
  readonly id: string;
  readonly hosts: readonly string[];
  readonly article_prefixes: readonly string[] | null;
  readonly price_usdc: number;
  readonly status: string;
}

/** A public key set (RFC 7517). */
export interface KeySet {
  readonly keys: readonly { readonly kid?: string; readonly kty?: string; readonly [member: string]: unknown }[];
}

/** An answer with the status that was asked for; `body` null where that status has none. */
export interface Success<Body> {
  readonly ok: true;
  readonly status: number;
  readonly body: Body;
  readonly headers: Headers;
}

/** No such answer: too late, nobody there, or another status, with the service's own code and sentence for it. */
export interface Failure {
  readonly ok: false;
  readonly why: 'timeout' | 'unreachable' | 'status';
  readonly status?: number;
  /** `x-svc-error-code`. */
  readonly code?: string;
  readonly error?: string;
  /** Seconds. */
  readonly retryAfter?: number;
  readonly headers?: Headers;
  /** The JSON of the answer. */
  readonly body?: unknown;
}

/** What to do about a refusal: `fund`, `sign_again`, `wait`, `fix_clock` and others, with what that takes. */
export interface NextStep {
  readonly action: string;
  readonly [member: string]: unknown;
}

/** What a call came to. */
export type Result<Body> = Success<Body> | Failure;

/** Where the service is, and whose key is used. */
export interface ClientOptions {
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly fetch?: typeof fetch;
  /** Hears the version of the site's settings that an answer names: those of enforce-config are older where theirs is lower. */
  readonly onSiteVersion?: (version: number) => void;
  /** For everything but verify, reports included. 2,000 unless told. */
  readonly quoteTimeoutMs?: number;
  /** Verify answers after 20 s at the latest. 25,000 unless told. */
  readonly verifyTimeoutMs?: number;
}

/** What an agent says it reads for. */
export type AgentCategory = 'train' | 'search' | 'assistant' | 'agent';

/** What a quote is asked for. */
export interface QuoteRequest {
  readonly resource: string;
  readonly kind?: 'read' | 'citation';
  /** Host that the asking agent was proven to be of; left out for one that nobody verified. */
  readonly agent?: string;
  /** The offer is signed: in the service's name, or in the host's. */
  readonly sign?: '1' | 'host';
  /** What the agent says it reads for. */
  readonly category?: AgentCategory;
  /** Words of use that it asks for, between commas. */
  readonly terms?: string;
  /** Stands in the offer as the reason of a refusal. */
  readonly error?: string;
  /** The offer then says what a wallet that bought the page may sign; set by gates that forward SIGN-IN-WITH-X (`prove`). */
  readonly signIn?: '1';
}

/** What verify is asked. */
export interface VerifyRequest {
  /** The value of PAYMENT-SIGNATURE or X-PAYMENT, as it came. */
  readonly payment: string;
  readonly quote: Quote;
  readonly resource: string;
  readonly agent?: ObservedAgent;
  /** `host`: the site itself shows the service's keys (`/.well-known/did.json`), and the receipt is signed in its name. */
  readonly receiptName?: 'host' | 'service';
}

/** What a licence is checked against. */
export interface CheckRequest {
  readonly license: string;
  readonly resource: string;
  readonly slug: string;
  readonly kind?: 'read' | 'citation';
  /** The holder's, for licences that are bound to one. */
  readonly proof?: string;
}

/** Which wallet shows itself for which page. */
export interface ProofRequest {
  /** The value of SIGN-IN-WITH-X, as it came. */
  readonly signInWithX: string;
  readonly resource: string;
  readonly slug: string;
  readonly kind?: 'read' | 'citation';
}

/** The calls a publisher makes. */
export interface Client {
  /**
   * The site's settings; 304 with a null body when `etag` names what is there. `addresses`: with the addresses that operators of robots publish, those
   * alone that are newer than this version (0 asks for all).
   */
  config(etag?: string, addresses?: number): Promise<Result<EnforceConfig | null>>;
  /** What a page costs, with an offer; 204 with a null body when it is free (`x-svc-free-because` says why). */
  quote(request: QuoteRequest): Promise<Result<Quote | null>>;
  /** Settles a payment. The same payment again gets its first outcome, charged once. */
  verify(request: VerifyRequest): Promise<Result<Receipt>>;
  /** Whether a licence entitles to a page. */
  check(request: CheckRequest): Promise<Result<{ readonly entitled: boolean }>>;
  /**
   * Takes up to twice as long as a quote, since a wallet with code is asked on chain. The licence of a wallet that bought a page; without
   * `error` and licence it is who it says, and holds nothing.
   */
  prove(
    request: ProofRequest,
  ): Promise<Result<{ readonly entitled: boolean; readonly license?: string; readonly error?: string }>>;
  /** Sends 1 to 50 reports: all are written, or none. */
  observe(reports: readonly Report[]): Promise<Result<{ readonly accepted: number }>>;
  /** Says what was sent for 1 to 50 payments, and how that ended; the first word about each page stands. */
  noteBodies(bodies: readonly ServedBody[]): Promise<Result<{ readonly noted: number }>>;
  /** Which agent signed a request; `headers` by names in lower case, with all that the signature covers. */
  verifyAgent(request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  }): Promise<Result<AgentVerdict>>;
  /** Who enforces on each host. */
  status(): Promise<Result<{ readonly hosts: readonly HostStatus[]; readonly attention: boolean }>>;
  /** The site of the key, and the networks of the service. */
  self(): Promise<Result<{ readonly tenants: readonly Site[]; readonly chainsEnabled: readonly string[] }>>;
  /** The keys that licences are signed with. */
  jwks(): Promise<Result<KeySet>>;
  /** A public document about a host of the site, as it stands; 304 with a null body when `etag` names what is there. */
  document(host: string, name: string, etag?: string): Promise<Result<string | null>>;
  /** Opens the proof task of a host, or returns it: needs the scope `domain.manage`. */
  openHost(host: string, method?: HostChallenge['method']): Promise<Result<{ readonly challenge: HostChallenge }>>;
  /** The proof tasks of the site's hosts. */
  hosts(): Promise<Result<{ readonly challenges: readonly HostChallenge[] }>>;
  /** Has a host checked now. */
  checkHost(host: string): Promise<Result<{ readonly verified: boolean; readonly host?: string }>>;
}

const MAX_ANSWER_BYTES = 1_024 * 1_024;

interface Call {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Reads the answer as the text that it is; as JSON unless told. */
  readonly read?: (text: string) => unknown;
}

/** Opens the client; nothing is asked before its first call. No call follows a redirect, so that the key goes nowhere else. */
export function createClient(options: ClientOptions): Client {
  const { quoteTimeoutMs = 2_000, verifyTimeoutMs = 25_000 } = options;
  const base = options.serviceUrl.replace(/\/+$/, '');
  const send = options.fetch ?? ((input, init) => fetch(input, init));

  async function call<Body>({ path, body, headers, timeoutMs, read = parsed }: Call): Promise<Result<Body>> {
    const given = { authorization: `Bearer ${options.apiKey}`, ...headers };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await send(`${base}${path}`, {
        ...sent,
        headers: { ...given, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        redirect: 'manual',
        signal,
      });
      const version = Number(answer.headers.get('x-svc-site-version') ?? Number.NaN);
      if (Number.isSafeInteger(version)) options.onSiteVersion?.(version);
      return resultOf<Body>(answer, await textOf(answer), read);
    } catch {
      return { ok: false, why: signal.aborted ? 'timeout' : 'unreachable' };
    }
  }
  const ask = <Body>(path: string, body?: object): Promise<Result<Body>> =>
    call({ path, timeoutMs: quoteTimeoutMs, ...(body === undefined ? {} : { body }) });

  return {
    config: (etag, addresses) =>
      call({
        path: `/_svc/enforce-config${addresses === undefined ? '' : `?addresses=${addresses}`}`,
        headers: etag ? { 'if-none-match': etag } : {},
        timeoutMs: quoteTimeoutMs,
      }),
    quote: (request) => ask(`/_svc/quote?${new URLSearchParams({ build: '402', ...request })}`),
    verify: ({ quote, ...rest }) => {
      const { x402: _, ...verbatim } = quote;
      return call({ path: '/_svc/verify', body: { ...rest, quote: verbatim, legs: quote.legs }, timeoutMs: verifyTimeoutMs });
    },
    check: (request) => ask('/_svc/license/check', request),
    prove: (body) => call({ path: '/_svc/license/proof', body, timeoutMs: 2 * quoteTimeoutMs }),
    verifyAgent: (request) => ask('/_svc/agents/verify', { request }),
    observe: (reports) => ask('/_svc/observe', reports),
    noteBodies: (bodies) => ask('/_svc/receipts/bodies', bodies),
    status: () => ask('/_svc/enforce-status'),
    self: () => ask('/_svc/tenants/self'),
    jwks: () => ask('/.well-known/jwks.json'),
    document: (host, name, etag) =>
      call({
        path: `/_svc/discovery/${encodeURIComponent(host)}/${encodeURIComponent(name)}`,
        headers: etag ? { 'if-none-match': etag } : {},
        timeoutMs: quoteTimeoutMs,
        read: (text) => text,
      }),
    openHost: (host, method = 'well-known') => ask('/_svc/verify-host', { host, method }),
    hosts: () => ask('/_svc/verify-host'),
    checkHost: (host) => ask('/_svc/verify-host/check', { host }),
  };
}

/** The text of an answer; null for one that is longer than any of the service's, of which no more is read than that. */
async function textOf({ body }: Response): Promise<string | null> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  let bytes = 0;
  let text = '';
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    bytes += part.value.length;
    if (bytes > MAX_ANSWER_BYTES) {
      await reader?.cancel().catch(() => undefined);
      return null;
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}

/** A text that is no JSON where JSON belongs is no answer of the service: something else stands in between. */
function resultOf<Body>({ status, headers, ok }: Response, text: string | null, read: (text: string) => unknown): Result<Body> {
  const body = text === '' ? null : text === null ? undefined : (ok ? read : parsed)(text);
  if ((ok && body !== undefined) || status === 304) return { ok: true, status, body: (body ?? null) as Body, headers };
  const code = headers.get('x-svc-error-code');
  const error = (body as { error?: unknown } | null | undefined)?.error;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return {
    ok: false,
    why: 'status',
    status: ok ? 502 : status,
    headers,
    body,
    ...(code === null ? {} : { code }),
    ...(typeof error === 'string' ? { error } : {}),
    ...(Number.isFinite(seconds) && seconds >= 0 ? { retryAfter: seconds } : {}),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
