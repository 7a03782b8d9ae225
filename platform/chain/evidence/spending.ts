import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Spending } from '../../../modules/kernel/payment/sight.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { ChainEvidence } from './evidence.ts';

/** One authorization, as the token keys it. */
export interface NonceKey {
  readonly payer: Address;
  readonly nonce: Hex;
}

/**
 * Where the logs of a mined transaction show that an authorization's nonce went: the transfer right behind its use, a cancellation, or
 * a use without a transfer of its own. Null when they say nothing of it. `timeSeconds` is the time of their block. Pure.
 */
export function spendingIn(evidence: ChainEvidence, { payer, nonce }: NonceKey, timeSeconds: bigint): Spending | null {
  const is = (one: NonceKey): boolean => one.payer === payer && one.nonce === nonce;
  const moved = evidence.authorizations.find(is);
  if (moved) {
    const transfer = { txHash: moved.txHash, logIndex: moved.position, blockNumber: moved.blockNumber };
    return { kind: 'transfer', to: moved.to, valueMicro: moved.value, transfer, timeSeconds };
  }
  const cancelled = evidence.cancelled.find(is);
  if (cancelled) return { kind: 'cancelled', blockNumber: cancelled.blockNumber };
  const bare = evidence.unpaired.find(is);
  return bare ? { kind: 'used_without_transfer', blockNumber: bare.blockNumber } : null;
}
