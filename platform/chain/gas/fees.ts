/** Fees of EIP-1559 transactions: choice and replacement, capped. Pure. */
import type { Network } from '../network.ts';
import { DEFAULT_NATIVE_PRICE_MICRO } from '../network.ts';

/** What a transaction offers for gas, in wei. */
export interface Fees {
  readonly maxFeePerGasWei: bigint;
  readonly maxPriorityFeePerGasWei: bigint;
}

type FeeSettings = Pick<Network, 'maxFeePerGasWei' | 'priorityFeePerGasWei'>;

/** Twice the base fee plus the tip (a base fee doubles in six full blocks at the earliest), never above the network's cap. */
export function chooseFees(network: FeeSettings, baseFeeWei: bigint): Fees {
  const cap = network.maxFeePerGasWei;
  const maxFeePerGasWei = least(2n * baseFeeWei + network.priorityFeePerGasWei, cap);
  return { maxFeePerGasWei, maxPriorityFeePerGasWei: least(network.priorityFeePerGasWei, maxFeePerGasWei) };
}

/** True when a block takes nothing that may be offered: what is signed now could not be mined before the base fee falls. */
export function isFeeAboveCap({ maxFeePerGasWei, priorityFeePerGasWei }: FeeSettings, baseFeeWei: bigint): boolean {
  return baseFeeWei + priorityFeePerGasWei > maxFeePerGasWei;
}

/**
 * Fees that replace a stuck transaction at the same nonce: both × 1.25 (nodes ask for at least 10 %), and enough for today's
 * base fee, capped. Null when the cap leaves less than 10 % for either: then nothing can replace it, and a person must look.
 */
export function replaceFees(network: FeeSettings, previous: Fees, baseFeeWei = 0n): Fees | null {
  const today = chooseFees(network, baseFeeWei);
  const maxFeePerGasWei = least(most(raise(previous.maxFeePerGasWei), today.maxFeePerGasWei), network.maxFeePerGasWei);
  const tip = most(raise(previous.maxPriorityFeePerGasWei), today.maxPriorityFeePerGasWei);
  const maxPriorityFeePerGasWei = least(tip, maxFeePerGasWei);
  const enough =
    10n * maxFeePerGasWei >= 11n * previous.maxFeePerGasWei &&
    10n * maxPriorityFeePerGasWei >= 11n * previous.maxPriorityFeePerGasWei;
  return enough ? { maxFeePerGasWei, maxPriorityFeePerGasWei } : null;
}

/**
 * Fees of the transfer to the key itself that takes the nonce of these bytes from them: nodes ask for 10 % more, above the network's cap
 * where the bytes are at it already. It costs less all the same: its gas is 21,000.
 */
export function voidFees(network: FeeSettings, previous: Fees, baseFeeWei: bigint): Fees {
  const today = chooseFees(network, baseFeeWei);
  return {
    maxFeePerGasWei: most(raise(previous.maxFeePerGasWei), today.maxFeePerGasWei),
    maxPriorityFeePerGasWei: most(raise(previous.maxPriorityFeePerGasWei), today.maxPriorityFeePerGasWei),
  };
}

/** Wei the relayer must hold for a transaction to be taken: the whole limit at the highest price, and what its bytes may cost. */
export function requiredBalance(gasLimit: bigint, fees: Fees, dataFeeWei = 0n): bigint {
  return gasLimit * fees.maxFeePerGasWei + dataFeeWei;
}

/** Wei that the bytes of a transaction may cost besides gas, on a chain that writes them to another one (OP stack); 0 elsewhere. */
export function dataFee(network: Pick<Network, 'dataFeeWeiPerByte'>, data: string): bigint {
  return (network.dataFeeWeiPerByte ?? 0n) * (BigInt(data.length - 2) / 2n + ENVELOPE_BYTES);
}

/** Wei that a transaction costs at today's base fee when it uses its whole limit. */
export function costToday(network: FeeSettings, baseFeeWei: bigint, gasLimit: bigint, dataFeeWei: bigint): bigint {
  return gasLimit * least(baseFeeWei + network.priorityFeePerGasWei, network.maxFeePerGasWei) + dataFeeWei;
}

/**
 * What a cost in one network's coin counts against a budget in the first network's, wei: coins are worth what `nativePriceMicro` says, and
 * the same where a network does not say (0). Rounded up, so that no gas is free.
 */
export function inCoinsOf(
  first: Pick<Network, 'nativePriceMicro'>,
  network: Pick<Network, 'nativePriceMicro'>,
  costWei: bigint,
): bigint {
  const [price, unit] = [network, first].map(({ nativePriceMicro }) => nativePriceMicro || DEFAULT_NATIVE_PRICE_MICRO) as [
    bigint,
    bigint,
  ];
  return (costWei * price + unit - 1n) / unit;
}

/** Bytes of a signed transaction around its call data. */
const ENVELOPE_BYTES = 120n;

/** × 1.25, rounded up. */
function raise(wei: bigint): bigint {
  return (wei * 5n + 3n) / 4n;
}

/** The smaller of two amounts. */
export function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
