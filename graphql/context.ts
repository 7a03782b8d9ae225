import type { KeyState } from '../domain/access.ts';
import type { ReadingDatabase } from '../services/graph/deps.ts';
import type { HostDoor } from '../services/hosts/deps.ts';
import type { Owner, OwnerDeps } from '../services/owners/authenticate.ts';
import type { PublisherDeps } from '../services/publisher.ts';
import type { Log } from '../services/settlement/deps.ts';
import type { EndpointDeps } from '../services/webhooks/endpoints.ts';

/** What the GraphQL door runs with. `database` is the pool of the service: credentials and mutations go there. */
export interface GraphqlDeps extends PublisherDeps, Omit<EndpointDeps, 'database'>, Pick<OwnerDeps, 'oidc'> {
  readonly log: Log;
  /** Host verification. */
  readonly hosts: HostDoor;
  /** Most imported pages of a site (services/licences/offering.ts). */
  readonly sitePages?: number;
  /** A pool of its own, with a limit on each statement, for everything that only reads: analysts cannot slow settlement. */
  readonly reading: ReadingDatabase;
  /** Where Temporal shows its workflows; null where nobody said. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
}

/** What every resolver sees: who asks, exactly one of `key` and `owner`, and what the door runs with. */
export interface GraphqlContext {
  readonly deps: GraphqlDeps;
  readonly requestId: string;
  /** The publisher key of the call, as Postgres had it when the call began; scopes and plan are asked for per field. */
  readonly key: KeyState | null;
  readonly owner: Owner | null;
}
