import { encodeFunctionData } from 'viem/utils';
import type { Address } from '../../domain/money/legs.ts';
import type { Hex } from '../../domain/x402/payload.ts';
import { routerAbi } from '../calls/abi.ts';
import { flushGas } from '../gas/gas.ts';
import type { Network } from '../network.ts';

/** The call that pays a split's whole balance to its authors, by the router it belongs to; anyone may make it. */
export function encodeFlush(
  network: Pick<Network, 'asset'>,
  split: { readonly router: Address; readonly legWords: readonly Hex[] },
): { readonly to: Address; readonly data: Hex; readonly gasLimit: bigint } {
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'flushAll', args: [network.asset, [...split.legWords]] });
  return { to: split.router, data, gasLimit: flushGas(split.legWords.length, false, data) };
}
