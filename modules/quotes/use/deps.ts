import type { Keyring } from '../../../platform/tokens/jws.ts';
import type { CallerDeps } from '../../identity/use/keys/authenticate.ts';
import type { NetworkDeps } from '../../tenants/use/networks.ts';
import type { CreditsBook } from './credits/book.ts';

/** What the publisher's side of the service runs with. */
export interface PublisherDeps extends CallerDeps, NetworkDeps {
  readonly keyring: Keyring;
  /** Authors behind tenants' credits APIs. */
  readonly credits: CreditsBook;
  /** Newest first: the first signs quote tokens, all verify. */
  readonly quoteTokenSecrets: readonly string[];
  readonly priceFloorMicro: bigint;
  /** Our own address, without a trailing slash; the issuer of licences of tenants that name none. */
  readonly baseUrl: string;
}
