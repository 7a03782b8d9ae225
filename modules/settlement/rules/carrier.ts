import type { Carrier } from '../../kernel/payment/sight.ts';

/** What became of bytes of ours that are mined; `void` is the self-transfer that replaced a batch's. Pure. */
export function fateOf(kind: 'settle' | 'flush' | 'void', status: 'success' | 'reverted'): Carrier['fate'] {
  if (kind === 'void') return 'voided';
  return status === 'success' ? 'executed' : 'reverted';
}

/**
 * True when a batch's bytes, none of which is mined, can never be: at the safe block the relayer's count is past their nonce, so that
 * something else used it. Pure.
 */
export function isOvertaken(nonce: bigint, safeCount: bigint): boolean {
  return safeCount > nonce;
}
