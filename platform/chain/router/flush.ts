import { encodeFunctionData } from 'viem/utils';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import { routerAbi } from '../calls/abi.ts';
import { aggregateCall, multicall3Address } from '../calls/multicall.ts';
import { aggregateGas, flushAroundGas, flushGas } from '../gas/gas.ts';
import type { Network } from '../network.ts';

/** A call, and the gas that it may use. */
export interface FlushCall {
  readonly to: Address;
  readonly data: Hex;
  readonly gasLimit: bigint;
}

/** Several flushes in one transaction: one that fails leaves the others as they are. */
export function joinFlushes(flushes: readonly FlushCall[]): FlushCall {
  const [only] = flushes;
  if (only && flushes.length === 1) return only;
  const data = aggregateCall(flushes.map(({ to, data: callData }) => ({ target: to, callData })));
  const gasLimit = flushes.reduce((sum, flush) => sum + flush.gasLimit, aggregateGas(data));
  return { to: multicall3Address, data, gasLimit };
}

/** A split as its router knows it. */
interface Split {
  readonly router: Address;
  readonly legWords: readonly Hex[];
}

/** The call that pays a split's whole balance to its authors, by the router it belongs to; anyone may make it. */
export function encodeFlush(network: Pick<Network, 'asset'>, { router, legWords }: Split): FlushCall {
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'flushAll', args: [network.asset, [...legWords]] });
  return { to: router, data, gasLimit: flushGas(legWords.length, false, data) };
}

/** The same where the token refuses to pay some author: his part waits for him (`waitingOf`). */
export function encodeFlushAround(network: Pick<Network, 'asset'>, { router, legWords }: Split): FlushCall {
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'flushAround', args: [network.asset, [...legWords]] });
  return { to: router, data, gasLimit: flushAroundGas(legWords.length, data) };
}
