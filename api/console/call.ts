/** One call of the console, and who makes it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ProviderDeps } from '../../modules/identity/use/console/providerSignIn.ts';
import type { ConsoleSession, SessionDeps } from '../../modules/identity/use/console/sessions.ts';
import { resumeSession } from '../../modules/identity/use/console/sessions.ts';
import type { Owner } from '../../modules/identity/use/owners/authenticate.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { Log } from '../../modules/kernel/log.ts';
import type { ConnectDeps } from '../../modules/operations/use/connectSite.ts';
import type { ReportDeps } from '../../modules/reports/use/request.ts';
import type { HeavyWork } from '../../platform/pacing/heavy.ts';
import type { Rates } from '../../platform/pacing/rates.ts';
import type { AddressReader } from '../address.ts';
import type { ConsoleFiles } from './assets.ts';
import type { Cookie } from './cookies.ts';
import { requireCsrf, requireOwnChange } from './ownPage.ts';

/** What the console runs with. */
export interface ConsoleHandlerDeps
  extends SessionDeps,
    Pick<ConnectDeps, 'hosts' | 'networks' | 'secretBox' | 'testKeysEnabled'> {
  readonly log: Log;
  readonly rates: Rates;
  readonly addressOf: AddressReader;
  /** Our own address, without a trailing slash: whose pages may change something. */
  readonly baseUrl: string;
  /** What browsers get. */
  readonly files: () => ConsoleFiles;
  /** What reports are read with, and the room for heavy work that REST shares. */
  readonly reports: ReportDeps;
  readonly heavy: HeavyWork;
  readonly priceFloorMicro: bigint;
  /** The owner's token that the demo signs in with, in a sandbox; null: there is no demo. */
  readonly demoToken: string | null;
  /** Signs people in at the identity provider; null where we are no client of one. */
  readonly login: ProviderDeps['login'] | null;
  /** Whether this owner may add a site by himself. */
  readonly mayCreateSite: (owner: Owner) => boolean;
  /** The GraphQL endpoint, for an owner whom a session let in. */
  readonly answerGraphql: (request: IncomingMessage, response: ServerResponse, owner: Owner) => Promise<void>;
}

/** One call of the console. */
export interface ConsoleCall {
  readonly deps: ConsoleHandlerDeps;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly address: string;
  /** The session's. */
  readonly cookie: Cookie;
  /** That of a sign-in at the identity provider. */
  readonly flow: Cookie;
}

/**
 * The session of a call's cookie, counted: a living one for itself, as an owner's token is; any other for what its address may get
 * wrong. Throws missing_credential, unknown_credential, throttled, database_unavailable.
 */
export async function letSessionIn({ deps, request, cookie, address }: ConsoleCall, cost: number): Promise<ConsoleSession> {
  const id = cookie.read(request);
  if (id === null) throw new ServiceError('missing_credential', 'nobody is signed in');
  return deps.rates.present(
    { token: id, address, cost },
    () => resumeSession(deps, id),
    (_, name) => [['key', name]],
  );
}

/** The session of a call that a page of ours sent, with its token. Throws like `letSessionIn`, and cross_site. */
export async function letChangeIn(call: ConsoleCall, cost: number): Promise<ConsoleSession> {
  requireOwnChange(call.request, call.deps.baseUrl);
  const session = await letSessionIn(call, cost);
  requireCsrf(call.request, session.csrf);
  return session;
}

/** What is not there in this installation. Throws not_found. */
export function missing(sentence: string): never {
  throw new ServiceError('not_found', sentence);
}
