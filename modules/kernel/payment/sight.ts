import type { FailureReason } from '../errors.ts';
import type { EvidenceRef } from './state.ts';

/**
 * Where the chain shows that an authorization's nonce went. A `transfer` is the log right behind `AuthorizationUsed` in the same
 * transaction, moved from the payer (safety 1); whether it pays the payment is for `judge` to say.
 */
export type Spending =
  | {
      readonly kind: 'transfer';
      readonly to: string;
      readonly valueMicro: bigint;
      readonly transfer: EvidenceRef;
      /** Time of its block, epoch seconds. */
      readonly timeSeconds: bigint;
    }
  | { readonly kind: 'cancelled' | 'used_without_transfer'; readonly blockNumber: bigint };

/** Why one node's word of a spending, or of a transaction of ours without one, does not count yet. */
export type Doubt = 'unconfirmed' | 'disputed';

/** What became of the bytes of ours that carry a payment, once their nonce can carry nothing else. */
export interface Carrier {
  readonly batchId: string;
  /** Payments that went out in it. */
  readonly size: number;
  /**
   * `executed`: mined, status 1. `reverted`: mined, status 0. `voided`: the self-transfer that replaced it was mined. `overtaken`: at
   * the safe block its nonce is used, and not by bytes of ours.
   */
  readonly fate: 'executed' | 'reverted' | 'voided' | 'overtaken';
  /** The block that it was mined in; left out for `overtaken`. */
  readonly blockNumber?: bigint;
}

/** What executing the authorization on the state of `head` would do. */
export type Simulation =
  | { readonly kind: 'passed' }
  | { readonly kind: 'refused'; readonly reason: FailureReason; readonly raw: string }
  /** The token refuses an author, not the payer. */
  | { readonly kind: 'payee_blocked' };

/**
 * What a rail says besides the chain. A rail that moves money under an id of its own never uses the nonce: while such an id is
 * `moving`, an unused or spent nonce decides nothing.
 */
export type RailWord =
  | { readonly kind: 'moving' }
  | { readonly kind: 'moved' | 'gone'; readonly id: string }
  /** `believed` names the reason to fail for when the chain itself would still take the payment. */
  | { readonly kind: 'refused'; readonly believed: { readonly reason: FailureReason; readonly raw: string } | null };

/** Everything that was seen of one payment's authorization, of one moment of one node. */
export interface Sight {
  /** The newest block of the node that answered. */
  readonly head: bigint;
  /** State of the nonce at `head`. */
  readonly nonce: 'unused' | 'used';
  /** The safe block, and whether the nonce is used there, or not known to be unused; null where nobody asked. */
  readonly safe: { readonly blockNumber: bigint; readonly timeSeconds: bigint; readonly nonce: 'unused' | 'used' } | null;
  /** Null while no log shows where the nonce went. */
  readonly spending: Spending | null;
  /**
   * What other nodes say of `spending`, or of a transaction of ours that shows none, where one node's word is too little (`needsSecondSource`): `unconfirmed` while no other shows the
   * same, `disputed` when one shows something else, or denies that an unused authorization's time is over. Left out where nobody had to be
   * asked, or others agree.
   */
  readonly doubt?: Doubt;
  /** Null while bytes of ours may still be mined, and for payments without any. */
  readonly carrier: Carrier | null;
  /** Null where nobody simulated. */
  readonly simulation: Simulation | null;
  /** Null where the rail says nothing. */
  readonly rail: RailWord | null;
}
