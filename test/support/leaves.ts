/** A payer's money leaves before a payment that waits is mined. */
import type { Hex } from 'viem';
import { encodeFunctionData, parseAbi } from 'viem';
import { callChain } from '../../sandbox/parts/chain.ts';
import type { TestService } from './service.ts';

const tokenAbi = parseAbi(['function transfer(address to, uint256 value)']);

/** A call to the service's first chain, methods of anvil too. */
export function rpcOf({ chain }: Pick<TestService, 'chain'>): <T>(method: string, ...params: readonly unknown[]) => Promise<T> {
  return (method, ...params) => callChain(chain.rpcUrl, method, params);
}

/** Micro-units of USDC leave a wallet in a block of their own, before what waits to be mined; from then on there is a block a second. */
export async function leaves(service: TestService, wallet: Hex, micro: bigint): Promise<void> {
  const rpc = rpcOf(service);
  await rpc('anvil_setBalance', wallet, '0xde0b6b3a7640000');
  await rpc('anvil_impersonateAccount', wallet);
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [service.relayer, micro] });
  await rpc('eth_sendTransaction', { from: wallet, to: service.chain.usdc, data, gasPrice: '0x174876e800' });
  await rpc('evm_mine');
  await rpc('evm_setAutomine', true);
  await rpc('evm_setIntervalMining', 1);
}
