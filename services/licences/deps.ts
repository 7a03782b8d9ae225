import type { Metrics } from '../../domain/metrics.ts';
import type { AccountDeps } from '../accounts/deps.ts';
import type { Snapshots } from '../tenants/snapshots.ts';
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
