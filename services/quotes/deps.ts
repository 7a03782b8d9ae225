import type { Keyring } from '../../adapters/tokens/jws.ts';
import type { CreditsBook } from '../credits/book.ts';
import type { CallerDeps } from '../publisher.ts';
import type { NetworkDeps } from '../tenants/networks.ts';

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
