/**
 * From which nonce of its queue on the bytes go out so that a batch can be mined: lower ones that the node does not know come first
 * (safety 8). Null when nothing must be sent: it is done, and no reorg took the chain's count below it. Pure.
 */
export function resendFrom(
  batch: { readonly nonce: bigint; readonly state: 'open' | 'mined' | 'safe' },
  counts: { readonly latest: bigint; readonly pending: bigint },
): bigint | null {
  if (batch.state !== 'open' && batch.nonce < counts.latest) return null;
  return counts.pending < batch.nonce ? counts.latest : batch.nonce;
}
