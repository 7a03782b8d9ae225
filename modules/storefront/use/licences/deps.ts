import type { AccountDeps } from '../../../identity/use/accounts/deps.ts';
import type { Snapshots } from '../../../identity/use/tenantSnapshots.ts';
import type { Metrics } from '../../../kernel/metrics.ts';
import type { Scopes } from './scopes.ts';

/** What the buyer's side of the service runs with. */
export interface BuyerDeps extends AccountDeps {
  readonly snapshots: Snapshots;
  /** Life of an access token, in seconds. */
  readonly licenceLifeSeconds: number;
  /** Where scopes are priced and narrowed. */
  readonly scopes: Scopes;
  readonly metrics?: Metrics;
}
