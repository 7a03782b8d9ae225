import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { AgentDeps } from '../modules/gate/use/agents/verify.ts';
import type { Observer } from '../modules/gate/use/observe.ts';
import type { HostService } from '../modules/hosts/use/deps.ts';
import type { AccountCaller } from '../modules/identity/use/accounts/authenticate.ts';
import type { Who } from '../modules/identity/use/authenticate.ts';
import type { Caller, KeyAccess } from '../modules/identity/use/keys/authenticate.ts';
import type { OwnerDeps } from '../modules/identity/use/owners/authenticate.ts';
import type { Log } from '../modules/kernel/log.ts';
import type { Cost } from '../modules/kernel/rate.ts';
import type { ReportDeps } from '../modules/reports/use/request.ts';
import type { VerifyDeps } from '../modules/settlement/use/accept/verify.ts';
import type { BuyerDeps } from '../modules/storefront/use/licences/deps.ts';
import type { PageDeps } from '../modules/storefront/use/pages/fetch.ts';
import type { EndpointDeps } from '../modules/webhooks/use/endpoints.ts';
import type { ExportSlots } from '../platform/pacing/exportSlots.ts';
import type { HeavyWork } from '../platform/pacing/heavy.ts';
import type { Rates } from '../platform/pacing/rates.ts';
import type { AddressReader } from './address.ts';

/** What the REST API runs with. */
export interface ApiDeps extends VerifyDeps, BuyerDeps, Pick<PageDeps, 'outbound'> {
  /** What reports are read with: connections of their own, so that no report keeps a payment waiting for one. */
  readonly reports: ReportDeps;
  /** Whose users own sites besides those with tokens: links they made end with their ownership. */
  readonly oidc: Pick<NonNullable<OwnerDeps['oidc']>, 'issuer'> | null;
  readonly log: Log;
  /** Host verification. */
  readonly hosts: HostService;
  /** Agents that sign their requests. */
  readonly agents: AgentDeps;
  /** Where accounts are told of their budgets: what seals secrets, and the rules for addresses of others. */
  readonly receivers: Pick<EndpointDeps, 'secretBox' | 'outbound'>;
  /** What must answer for this process to be ready; each rejects when its part does not. */
  readonly readiness: Readonly<Record<'database' | 'temporal' | 'chain', () => Promise<void>>> & {
    readonly clock?: () => Promise<void>;
  };
  /** By network: rejects when none of its nodes answers. Readiness tells it where there are several; one that answers is enough. */
  readonly networkChecks?: Readonly<Record<string, () => Promise<void>>>;
  /** The release that runs; none in tests. */
  readonly version?: string;
  /** Room for heavy work in this process, where other APIs share it; else this handler has its own. */
  readonly heavy?: HeavyWork;
  /** How often each caller may call; none: nothing is counted. */
  readonly rates?: Rates;
  /** Where requests come from; without one no proxy in front is believed. */
  readonly addressOf?: AddressReader;
}

/** What handlers run with: the deps, and what the handler opened for itself. */
export interface HandlerDeps extends ApiDeps {
  readonly observer: Observer;
  /** Room for heavy work in this process. */
  readonly heavy: HeavyWork;
  /** Room for exports of buyer accounts: they hold nothing but a page of rows, and take none from sites. */
  readonly accountExports: ExportSlots;
  readonly addressOf: AddressReader;
}

/** One request after authentication and body reading. */
export interface Call {
  readonly deps: HandlerDeps;
  /** The query as it stands in the request, without its `?`. */
  readonly search: string;
  /** Query parameters; a known one that is repeated was refused with 400. */
  readonly query: ReadonlyMap<string, string>;
  /** Parts of the path by their names (`:jti`). */
  readonly params: Readonly<Record<string, string>>;
  /** The address that the request came from, as callers are told apart by (api/address.ts). */
  readonly address: string;
  /** Aborted when the caller goes away. */
  readonly gone: () => AbortSignal;
  /** The parsed body; undefined where a route takes none. */
  readonly body: unknown;
  /** A request header, lower-case name; null when absent. */
  header(name: string): string | null;
}

/** A call of a caller that was let in. */
export interface KeyCall extends Call {
  readonly caller: Caller;
}

/** A call of a buyer account that was let in. */
export interface AccountCall extends Call {
  readonly account: AccountCaller;
}

/** A call that shows a buyer account, or no credential at all: then what it carries must show its right. */
export interface OptionalAccountCall extends Call {
  readonly account: AccountCaller | null;
}

/** Who calls where everybody may: a buyer account, a site by its key, or somebody who shows no credential. */
export type Somebody = { readonly kind: 'anyone' } | Who<{ account: true; publisher: KeyAccess }>;

/** A call by anybody, with what the caller may do. */
export interface AnybodyCall extends Call {
  readonly who: Somebody;
  /** Counts what a call costs besides, for the same caller as the call itself. Throws throttled (429). */
  count(cost: number): void;
  /** Counts what it turned out to have cost, when it is too late to refuse it: its next calls wait for it. */
  owe(cost: number): void;
}

/** What a handler answers; a body is sent as JSON (bytes as they are), its absence as no body. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body that is made while it is sent, instead of `body`. */
  readonly stream?: AnswerStream;
}

/** Chunks are taken at the client's pace; `close` is called however the answer ends, and a second call does nothing. */
export interface AnswerStream {
  readonly chunks: AsyncIterable<string | Uint8Array>;
  /** Aborted when it must end now, whatever its client reads: the connection is cut. */
  readonly cut: AbortSignal;
  close(): Promise<void>;
}

/** Where metadata of a protected resource stand: this, then the path of the resource (RFC 9728 §3.1). */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Error bodies: `{error}`, or `{ok: false, error}` on verify and observe. */
export type ErrorShape = 'plain' | 'ok';

interface RouteBase {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  readonly errorShape?: ErrorShape;
  /** Most bytes of the body; absent: the route takes no body. */
  readonly bodyLimitBytes?: number;
  /** How the body is written: JSON unless said, JSON that may be left out, or a form (RFC 6749 §4.4.2). */
  readonly bodyType?: 'json' | 'optional' | 'form';
  /** What a call counts for its caller's rate: `light` unless told. */
  readonly cost?: Cost;
  /**
   * True for what balancers and probes ask. Only callers that a proxy names count: a flood of them must not have the proxy's own
   * question refused, which would take the process out.
   */
  readonly isForProbes?: true;
  /** True for what lists or sums by its parameters: a name that it does not know is refused, since the answer would cover more than was asked for. */
  readonly isFiltered?: true;
  /** True for what buyers call: web pages of any origin may call it and read its answers. */
  readonly isForPages?: true;
  /** Its part of the API description; absent: not described. */
  readonly operation?: ZodOpenApiOperationObject;
}

/** A route for holders of a publisher key. */
export interface KeyRoute extends RouteBase {
  /** `orLost`: a key that lost the scope when its host was verified is let in too; the handler looks at what it has left. */
  readonly access: KeyAccess;
  readonly handle: (call: KeyCall) => Promise<Answer>;
  /** Whether a call above its key's rate is let in all the same; absent: never. */
  readonly letInAboveRate?: (call: KeyCall) => Promise<boolean>;
  /** True for what reads a window of a site: it is heavy, and waits for its turn. */
  readonly isReport?: true;
  /**
   * Answers, from memory and at once, what `handle` would answer; null leaves the call to it. Only for routes of snapshot
   * freshness without a body; asked when memory alone lets the caller in.
   */
  readonly cached?: (call: Pick<KeyCall, 'deps' | 'caller' | 'search'>) => Answer | null;
}

/** A route for buyer accounts. */
export interface AccountRoute extends RouteBase {
  readonly access: 'account';
  readonly handle: (call: AccountCall) => Promise<Answer>;
}

/** A route for buyer accounts, and for callers who show a right in the body; without a credential a call counts for its address. */
export interface OptionalAccountRoute extends RouteBase {
  readonly access: 'account if any';
  readonly handle: (call: OptionalAccountCall) => Promise<Answer>;
}

/** A route for everybody; a credential, if shown, must be valid, and the call counts for it. */
export interface AnybodyRoute extends RouteBase {
  readonly access: 'anybody';
  readonly handle: (call: AnybodyCall) => Promise<Answer>;
}

/** A route for everyone. */
export interface PublicRoute extends RouteBase {
  readonly access: 'public';
  readonly handle: (call: Call) => Promise<Answer>;
}

/** One endpoint. */
export type Route = KeyRoute | AccountRoute | OptionalAccountRoute | AnybodyRoute | PublicRoute;
