import type { Database } from '../../../../db/database.ts';
import type { Rpc } from '../../../../platform/chain/rpc/rpc.ts';
import type { Keyring } from '../../../../platform/tokens/jws.ts';
import type { Pepper } from '../../../../platform/tokens/pepper.ts';
import type { NetworkDeps } from '../../../tenants/use/networks.ts';
import type { Rehash } from '../keys/rehash.ts';
import type { CodeWallets } from './codeWallets.ts';

/** What letting the bearer of an account's credential in needs. */
export interface BearerDeps {
  readonly database: Database;
  readonly keyring: Keyring;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly pepper: Pepper;
  /** Moves credentials found under the previous pepper. */
  readonly rehash?: Pick<Rehash, 'note'>;
  /** Our own address, without a trailing slash. */
  readonly baseUrl: string;
}

/** What signing accounts in needs, by bearer or by wallet. */
export interface AccountDeps extends BearerDeps, NetworkDeps {
  /** The connection of the first network: holders with code are asked about their proofs. */
  readonly rpc: Rpc;
  /** The turns in which wallets with code are asked whether they sign in. */
  readonly codeWallets: CodeWallets;
}
