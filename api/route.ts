import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { Scope } from '../domain/access.ts';
import type { Observer } from '../services/observe.ts';
import type { Caller, Freshness } from '../services/publisher.ts';
import type { Log } from '../services/settlement/deps.ts';
import type { VerifyDeps } from '../services/verify.ts';

/** What the REST door runs with. */
export interface ApiDeps extends VerifyDeps {
  readonly log: Log;
  /** What must answer for this process to be ready; each rejects when its part does not. */
  readonly readiness: Readonly<Record<'database' | 'temporal' | 'chain', () => Promise<void>>>;
}

/** What handlers run with: the deps, and what the door opened for itself. */
export interface HandlerDeps extends ApiDeps {
  readonly observer: Observer;
}

/** One request after authentication and body reading. */
export interface Call {
  readonly deps: HandlerDeps;
  /** Query parameters; a repeated one was refused with 400. */
  readonly query: ReadonlyMap<string, string>;
  /** The parsed JSON body; undefined where a route takes none. */
  readonly body: unknown;
  /** A request header, lower-case name; null when absent. */
  header(name: string): string | null;
}

/** A call of a caller that was let in. */
export interface KeyCall extends Call {
  readonly caller: Caller;
}

/** What a handler answers; a body is sent as JSON, its absence as no body. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Error bodies: `{error}`, or `{ok: false, error}` on verify and observe (specification, Errors). */
export type ErrorShape = 'plain' | 'ok';

interface RouteBase {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly errorShape?: ErrorShape;
  /** Most bytes of the body; absent: the route takes no body. */
  readonly bodyLimitBytes?: number;
  /** Its part of the API description; absent: not described. */
  readonly operation?: ZodOpenApiOperationObject;
}

/** A route for holders of a publisher key. */
export interface KeyRoute extends RouteBase {
  readonly access: { readonly scope: Scope; readonly freshness: Freshness };
  readonly handle: (call: KeyCall) => Promise<Answer>;
}

/** A route for everyone. */
export interface PublicRoute extends RouteBase {
  readonly access: 'public';
  readonly handle: (call: Call) => Promise<Answer>;
}

/** One endpoint. */
export type Route = KeyRoute | PublicRoute;
