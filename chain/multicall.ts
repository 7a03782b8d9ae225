/** Many reads and simulations in one `eth_call`: one state, one round trip (Multicall3, the same address on every chain). */
import { decodeFunctionResult, encodeFunctionData } from 'viem';
import type { Address } from '../domain/legs.ts';
import type { Hex } from '../domain/payload.ts';
import { arbSysAbi, multicall3Abi } from './abi.ts';
import type { Network } from './network.ts';
import type { Rpc } from './rpc.ts';
import { chainUnavailable, isEvmRefusal, RpcError } from './rpc.ts';

/** Address of Multicall3 wherever it is deployed. */
export const multicall3Address: Address = '0xca11bde05977b3631167028862be2a173976ca11';

/** One call inside an aggregate. */
export interface Call {
  readonly target: Address;
  readonly callData: Hex;
}

/** Its outcome: return data, or revert data when not `success`. */
export interface CallResult {
  readonly success: boolean;
  readonly returnData: Hex;
}

const ARBSYS: Address = '0x0000000000000000000000000000000000000064';

/** A call that returns the number of the block whose state is read, to be put among the calls: never that of another chain's block. */
export function blockNumberCall({ blockNumberFrom }: Pick<Network, 'blockNumberFrom'>): Call {
  if (blockNumberFrom === 'arbsys') {
    return { target: ARBSYS, callData: encodeFunctionData({ abi: arbSysAbi, functionName: 'arbBlockNumber' }) };
  }
  return { target: multicall3Address, callData: encodeFunctionData({ abi: multicall3Abi, functionName: 'getBlockNumber' }) };
}

/**
 * Runs all calls in order on the state of `block`, each allowed to fail; what one changes, the next ones see. Null when the
 * whole ran out of gas (one call burnt it); throws ServiceError `chain_unavailable` in an outage.
 */
export async function aggregate(
  rpc: Rpc,
  calls: readonly Call[],
  block: Hex | 'latest' = 'latest',
): Promise<readonly CallResult[] | null> {
  const args = [calls.map((call) => ({ ...call, allowFailure: true }))] as const;
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args });
  try {
    const answer = await readCall(rpc, { to: multicall3Address, data }, block);
    return decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer });
  } catch (error) {
    if (isEvmRefusal(error)) return null;
    throw error;
  }
}

/**
 * One `eth_call`; a refusal of the EVM is thrown as RpcError, everything else that goes wrong (no node, block not there yet)
 * is ServiceError `chain_unavailable`.
 */
export async function readCall(
  rpc: Rpc,
  call: { readonly to?: Address; readonly data: Hex; readonly gas?: Hex },
  block: Hex | 'latest' = 'latest',
): Promise<Hex> {
  try {
    return await rpc.request<Hex>('eth_call', [call, block]);
  } catch (error) {
    if (error instanceof RpcError && !isEvmRefusal(error)) throw chainUnavailable(rpc.networkId);
    throw error;
  }
}
