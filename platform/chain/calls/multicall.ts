/** Many reads and simulations in one `eth_call`: one state, one round trip (Multicall3, the same address on every chain). */
import { encodeFunctionData } from 'viem/utils';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Network } from '../network.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { chainUnavailable, isEvmRefusal, RpcError } from '../rpc/rpc.ts';
import { arbSysAbi, multicall3Abi } from './abi.ts';
import { addressWord, bytesWords, listWords, numberWord, WORD_DIGITS } from './words.ts';

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

/** A call that returns the time of the block whose state is read, epoch seconds. */
export function blockTimeCall(): Call {
  const callData = encodeFunctionData({ abi: multicall3Abi, functionName: 'getCurrentBlockTimestamp' });
  return { target: multicall3Address, callData };
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
  try {
    const answer = await readCall(rpc, { to: multicall3Address, data: aggregateCall(calls) }, block);
    const results = resultsOf(answer);
    if (results?.length !== calls.length) throw chainUnavailable(rpc.networkId); // not an answer to what was asked
    return results;
  } catch (error) {
    if (isEvmRefusal(error)) return null;
    throw error;
  }
}

/** The same reads by every node that answers them, each of its own state at `block`. Throws `chain_unavailable` where none does. */
export async function aggregateOfEach(
  rpc: Rpc,
  calls: readonly Call[],
  block: Hex | 'latest' = 'latest',
): Promise<readonly (readonly CallResult[])[]> {
  const answers = await rpc.each<Hex>('eth_call', [{ to: multicall3Address, data: aggregateCall(calls) }, block]);
  const read = answers.flatMap(({ result }) => {
    const results = typeof result === 'string' ? resultsOf(result) : null;
    return results?.length === calls.length ? [results] : [];
  });
  if (read.length === 0) throw chainUnavailable(rpc.networkId);
  return read;
}

const AGGREGATE = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [[]] }).slice(0, 10);
/** Where the list begins, and where the bytes of a call and of a result do. */
const [LIST_AT, CALL_AT, RESULT_AT] = [32, 96, 64].map(numberWord) as [string, string, string];

/** `aggregate3(calls)`, each allowed to fail, packed by hand (words.ts). */
export function aggregateCall(calls: readonly Call[]): Hex {
  const parts = calls.map(({ target, callData }) => `${addressWord(target)}${numberWord(1)}${CALL_AT}${bytesWords(callData)}`);
  return `${AGGREGATE}${LIST_AT}${listWords(parts)}` as Hex;
}

/** What `aggregate3` returned; null when it is not laid out as Multicall3 does it, or not whole. */
export function resultsOf(answer: Hex): readonly CallResult[] | null {
  const digits = answer.slice(2);
  const list = 2 * WORD_DIGITS;
  const count = sizeAt(digits, WORD_DIGITS);
  if (!digits.startsWith(LIST_AT) || count === null) return null;
  const results: CallResult[] = [];
  for (let index = 0; index < count; index += 1) {
    const offset = sizeAt(digits, list + index * WORD_DIGITS);
    const at = list + 2 * (offset ?? 0);
    const length = sizeAt(digits, at + 2 * WORD_DIGITS);
    const from = at + 3 * WORD_DIGITS;
    if (offset === null || length === null || !digits.startsWith(RESULT_AT, at + WORD_DIGITS)) return null;
    if (from + 2 * length > digits.length) return null;
    results.push({
      success: digits.startsWith(numberWord(1), at),
      returnData: `0x${digits.slice(from, from + 2 * length)}`,
    });
  }
  return results;
}

/** A length or an offset at a place, in bytes; null when there is no such word, or it is beyond what was answered. */
function sizeAt(digits: string, place: number): number | null {
  const word = digits.slice(place, place + WORD_DIGITS);
  const size = word.length === WORD_DIGITS ? Number(`0x${word}`) : Number.NaN;
  return size <= digits.length / 2 ? size : null;
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

/** What a call does: it reverts with this data, or passes (null). */
export interface Simulation {
  readonly revert: Hex | null;
}

/** Simulates one call by an `eth_call` of its own. Throws ServiceError `chain_unavailable`. */
export async function simulateCall(
  rpc: Rpc,
  call: { readonly to: Address; readonly data: Hex; readonly gas?: Hex },
): Promise<Simulation> {
  try {
    await readCall(rpc, call);
    return { revert: null };
  } catch (error) {
    if (isEvmRefusal(error)) return { revert: error.data ?? '0x' };
    throw error;
  }
}
