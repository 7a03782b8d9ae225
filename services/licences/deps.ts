import type { Keyring } from '../../adapters/tokens/jws.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import type { Database } from '../../db/database.ts';
import type { Metrics } from '../../domain/metrics.ts';
import type { CodeWallets } from '../accounts/codeWallets.ts';
import type { Pepper } from '../credentials/pepper.ts';
import type { Rehash } from '../credentials/rehash.ts';
import type { NetworkDeps } from '../tenants/networks.ts';
import type { Snapshots } from '../tenants/snapshots.ts';
import type { Scopes } from './scopes.ts';

/** What the buyer's side of the service runs with. */
export interface BuyerDeps extends NetworkDeps {
  readonly database: Database;
  readonly snapshots: Snapshots;
  readonly keyring: Keyring;
  /** The connection of the first network: holders with code are asked about their proofs. */
  readonly rpc: Rpc;
  /** The turns in which wallets with code are asked whether they sign in. */
  readonly codeWallets: CodeWallets;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly pepper: Pepper;
  /** Moves credentials found under the previous pepper. */
  readonly rehash?: Pick<Rehash, 'note'>;
  /** Our own address, without a trailing slash. */
  readonly baseUrl: string;
  /** Life of an access token, in seconds. */
  readonly licenceLifeSeconds: number;
  /** Where scopes are priced and narrowed. */
  readonly scopes: Scopes;
  readonly metrics?: Metrics;
}
