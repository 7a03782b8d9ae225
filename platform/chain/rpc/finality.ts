import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Finality } from '../network.ts';

/** The block parameter of a finality below a head; the first block where no head is known. */
export function finalityTag(finality: Finality, head: bigint | null): string {
  if (typeof finality === 'string') return finality;
  const block = (head ?? 0n) - BigInt(finality);
  return quantity(block > 0n ? block : 0n);
}

/** Hex quantity of a number for RPC parameters. */
export function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}
