import { chooseFees, requiredBalance } from '../../../platform/chain/gas/fees.ts';
import type { Network } from '../../../platform/chain/network.ts';

/** Gas of a settlement of a few payments. */
const SETTLEMENT_GAS = 300_000n;
/** A key with less is to be sent coin: half an hour of a settlement every two seconds. The alert RelayerGasLow has the same figure. */
export const LEAST_SETTLEMENTS = 1_000n;

/** What a key must hold for one settlement at the fees of the moment, wei of the network's own coin: with less, payments wait. */
export function settlementCost(network: Network, baseFeeWei: bigint): bigint {
  return requiredBalance(SETTLEMENT_GAS, chooseFees(network, baseFeeWei));
}

/** How many settlements a balance pays for at the fees of the moment, of whichever coin; each carries one payment at least. */
export function settlementsOf(network: Network, baseFeeWei: bigint, wei: bigint): number {
  const cost = settlementCost(network, baseFeeWei);
  return cost === 0n ? Number.MAX_SAFE_INTEGER : Number(wei / cost);
}
