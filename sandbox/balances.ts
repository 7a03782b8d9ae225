import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem/utils';
import type { Address } from '../modules/kernel/money/legs.ts';
import { callChain } from './parts/chain.ts';

const ERC20 = parseAbi(['function balanceOf(address account) view returns (uint256)']);

/** Test USDC an address holds in the newest block, in micro. */
export async function balanceOf(chain: { readonly rpcUrl: string; readonly usdc: Address }, account: Address): Promise<bigint> {
  const data = encodeFunctionData({ abi: ERC20, functionName: 'balanceOf', args: [account] });
  const result = await callChain<Address>(chain.rpcUrl, 'eth_call', [{ to: chain.usdc, data }, 'latest']);
  return decodeFunctionResult({ abi: ERC20, functionName: 'balanceOf', data: result });
}
