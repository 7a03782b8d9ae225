import { encodeFunctionData } from 'viem/utils';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import { routerAbi } from '../calls/abi.ts';
import { aggregateCall, multicall3Address } from '../calls/multicall.ts';
import { aggregateGas, flushGas } from '../gas/gas.ts';
import type { Network } from '../network.ts';

/** A split by what its call data is made of. */
type FlushedSplit = { readonly router: Address; readonly legWords: readonly Hex[] };

/** Calls that each pay a split's whole balance out, in one transaction: one that fails leaves the others as they are. */
export function encodeFlushes(
  network: Pick<Network, 'asset'>,
  splits: readonly FlushedSplit[],
): { readonly to: Address; readonly data: Hex; readonly gasLimit: bigint } {
  const flushes = splits.map((split) => encodeFlush(network, split));
  const [only] = flushes;
  if (only && flushes.length === 1) return only;
  const data = aggregateCall(flushes.map(({ to, data: callData }) => ({ target: to, callData })));
  return {
    to: multicall3Address,
    data,
    gasLimit: flushes.reduce((sum, { gasLimit }) => sum + gasLimit, 0n) + aggregateGas(data),
  };
}

/** The call that pays a split's whole balance to its authors, by the router it belongs to; anyone may make it. */
export function encodeFlush(
  network: Pick<Network, 'asset'>,
  split: FlushedSplit,
): { readonly to: Address; readonly data: Hex; readonly gasLimit: bigint } {
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'flushAll', args: [network.asset, [...split.legWords]] });
  return { to: split.router, data, gasLimit: flushGas(split.legWords.length, false, data) };
}
