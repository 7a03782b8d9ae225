import { decodeFunctionResult, encodeFunctionData } from 'viem';
import type { Address } from '../domain/legs.ts';
import type { Hex } from '../domain/payload.ts';
import { multicall3Abi, tokenAbi } from './abi.ts';
import type { Call } from './multicall.ts';
import { aggregate, blockNumberCall } from './multicall.ts';
import type { Network } from './network.ts';
import type { Rpc } from './rpc.ts';
import { chainUnavailable } from './rpc.ts';

/** Which of up to 200 (payer, nonce) pairs are used at the latest block, in one call. Throws ServiceError in an outage. */
export async function listUsedNonces(
  rpc: Rpc,
  network: Pick<Network, 'asset'>,
  pairs: readonly { readonly payer: Address; readonly nonce: Hex }[],
): Promise<boolean[]> {
  return (
    await readAll(
      rpc,
      pairs.map(({ payer, nonce }) => stateCall(network.asset, payer, nonce)),
    )
  ).map(isUsed);
}

/**
 * Which of up to 200 (payer, nonce) pairs are used, and at which block that was seen, of one state. Carries no signature, so it
 * may come before the payment rows (safety 2). Throws ServiceError in an outage.
 */
export async function lookAtNonces(
  rpc: Rpc,
  network: Pick<Network, 'asset'>,
  pairs: readonly { readonly payer: Address; readonly nonce: Hex }[],
): Promise<{ readonly blockNumber: bigint; readonly used: readonly boolean[] }> {
  const calls = pairs.map(({ payer, nonce }) => stateCall(network.asset, payer, nonce));
  const [head, ...states] = await readAll(rpc, [blockNumberCall, ...calls]);
  if (!head) throw chainUnavailable(rpc.networkId);
  return {
    blockNumber: decodeFunctionResult({ abi: multicall3Abi, functionName: 'getBlockNumber', data: head }),
    used: states.map(isUsed),
  };
}

function stateCall(asset: Address, payer: Address, nonce: Hex): Call {
  return {
    target: asset,
    callData: encodeFunctionData({ abi: tokenAbi, functionName: 'authorizationState', args: [payer, nonce] }),
  };
}

function isUsed(data: Hex): boolean {
  return decodeFunctionResult({ abi: tokenAbi, functionName: 'authorizationState', data });
}

/** Token balances of up to 200 accounts, in micro, in one call. */
export async function listBalances(rpc: Rpc, network: Pick<Network, 'asset'>, accounts: readonly Address[]): Promise<bigint[]> {
  const calls = accounts.map((account) => ({
    target: network.asset,
    callData: encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [account] }),
  }));
  return (await readAll(rpc, calls)).map((data) => decodeFunctionResult({ abi: tokenAbi, functionName: 'balanceOf', data }));
}

/** A relayer's transaction count at the safe block. */
export async function safeTransactionCount(rpc: Rpc, address: Address): Promise<bigint> {
  return BigInt(await rpc.request<string>('eth_getTransactionCount', [address, 'safe']));
}

/** Return data of reads that cannot fail on a token of ours; one that does is an outage. */
async function readAll(rpc: Rpc, calls: readonly Call[]): Promise<readonly Hex[]> {
  if (calls.length === 0) return [];
  const results = await aggregate(rpc, calls);
  if (!results || results.some((result) => !result.success)) throw chainUnavailable(rpc.networkId);
  return results.map((result) => result.returnData);
}
