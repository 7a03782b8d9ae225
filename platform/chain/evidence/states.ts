import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Call, CallResult } from '../calls/multicall.ts';
import { aggregate, aggregateOfEach, blockNumberCall, blockTimeCall } from '../calls/multicall.ts';
import { authorizationStateCall, balanceOfCall } from '../calls/tokenCalls.ts';
import type { Network } from '../network.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { chainUnavailable, hasOthers, RpcError, whereAway } from '../rpc/rpc.ts';
import { transactionCount } from '../transaction.ts';

/** Which of up to 200 (payer, nonce) pairs are used at a block, in one call. Throws ServiceError in an outage. */
export async function listUsedNonces(
  rpc: Rpc,
  network: Pick<Network, 'asset'>,
  pairs: readonly { readonly payer: Address; readonly nonce: Hex }[],
  block: Hex | 'latest' = 'latest',
): Promise<boolean[]> {
  const calls = pairs.map(({ payer, nonce }) => stateCall(network.asset, payer, nonce));
  const states = await readAll(rpc, calls, block);
  return states.map((state) => state === 1n);
}

/** What one URL says of a block: its time, epoch seconds, and which of the pairs are used there. */
export interface UsedAt {
  readonly timeSeconds: bigint;
  readonly used: readonly boolean[];
}

/** The same at a block, as each URL says it that has the block, with that block's time. Throws ServiceError in an outage. */
export async function listUsedNoncesOfAll(
  rpc: Rpc,
  network: Pick<Network, 'asset'>,
  pairs: readonly { readonly payer: Address; readonly nonce: Hex }[],
  block: Hex,
): Promise<readonly UsedAt[]> {
  const calls = [blockTimeCall(), ...pairs.map(({ payer, nonce }) => stateCall(network.asset, payer, nonce))];
  const answers = await aggregateOfEach(rpc, calls, block);
  return answers.flatMap((results) => {
    const [timeSeconds, ...states] = wordsOf(results) ?? [];
    return timeSeconds === undefined ? [] : [{ timeSeconds, used: states.map((state) => state === 1n) }];
  });
}

/**
 * Which of up to 200 (payer, nonce) pairs are used, and at which block that was seen, of one state. Carries no signature, so it
 * may come before the payment rows (safety 2). Throws ServiceError in an outage.
 */
export async function lookAtNonces(
  rpc: Rpc,
  network: Pick<Network, 'asset' | 'blockNumberFrom'>,
  pairs: readonly { readonly payer: Address; readonly nonce: Hex }[],
): Promise<{ readonly blockNumber: bigint; readonly used: readonly boolean[] }> {
  const calls = pairs.map(({ payer, nonce }) => stateCall(network.asset, payer, nonce));
  const [head, ...states] = await readAll(rpc, [blockNumberCall(network), ...calls]);
  if (head === undefined) throw chainUnavailable(rpc.networkId);
  return { blockNumber: head, used: states.map((state) => state === 1n) };
}

function stateCall(asset: Address, payer: Address, nonce: Hex): Call {
  return { target: asset, callData: authorizationStateCall(payer, nonce) };
}

function balanceCall(asset: Address, account: Address): Call {
  return { target: asset, callData: balanceOfCall(account) };
}

/** Token balances of up to 200 accounts, in micro, in one call. */
export async function listBalances(rpc: Rpc, network: Pick<Network, 'asset'>, accounts: readonly Address[]): Promise<bigint[]> {
  return [
    ...(await readAll(
      rpc,
      accounts.map((account) => balanceCall(network.asset, account)),
    )),
  ];
}

/** The same, of each account the most that any node shows: one that lies, or is late, takes nobody's money away. 0 where none shows any. */
export async function listHighestBalances(
  rpc: Rpc,
  network: Pick<Network, 'asset'>,
  accounts: readonly Address[],
): Promise<bigint[]> {
  const calls = accounts.map((account) => balanceCall(network.asset, account));
  const answers = await aggregateOfEach(rpc, calls);
  return calls.map((_, index) => {
    let most = 0n;
    for (const results of answers) {
      const word = wordOf(results[index]);
      if (word !== null && word > most) most = word;
    }
    return most;
  });
}

/**
 * A relayer's transaction count at the safe block; null where the node knows no such block. Where there are several URLs, the highest count that
 * two of them show, and null while fewer than two do. Throws `chain_unavailable`.
 */
export async function safeTransactionCount(rpc: Rpc, address: Address): Promise<bigint | null> {
  if (hasOthers(rpc)) return countOfTwo(rpc, address, 'safe').catch(whereAway(null));
  try {
    return BigInt(await rpc.request<string>('eth_getTransactionCount', [address, 'safe']));
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

/** The same in the newest block. Throws `chain_unavailable`, while fewer than two of several URLs answer, too. */
export async function minedCount(rpc: Rpc, address: Address): Promise<number> {
  if (!hasOthers(rpc)) return transactionCount(rpc, address, 'latest');
  const count = await countOfTwo(rpc, address, 'latest');
  if (count === null) throw chainUnavailable(rpc.networkId, 'a second node');
  return Number(count);
}

/** The second highest of the counts that the URLs show: one that is too high moves a nonce for good. Null while fewer than two answer. */
async function countOfTwo(rpc: Rpc, address: Address, tag: 'safe' | 'latest'): Promise<bigint | null> {
  const answers = await rpc.each<Hex>('eth_getTransactionCount', [address, tag]);
  const counts = answers.map(({ result }) => BigInt(result)).sort((a, b) => Number(b - a));
  return counts[1] ?? null;
}

/** The words that reads which cannot fail on a token of ours return; one that does fail is an outage. */
async function readAll(rpc: Rpc, calls: readonly Call[], block: Hex | 'latest' = 'latest'): Promise<readonly bigint[]> {
  if (calls.length === 0) return [];
  const results = await aggregate(rpc, calls, block);
  const words = results && wordsOf(results);
  if (!words) throw chainUnavailable(rpc.networkId);
  return words;
}

/** The words that reads returned; null where one returned something else. */
function wordsOf(results: readonly CallResult[]): readonly bigint[] | null {
  const words = results.map(wordOf).filter((word) => word !== null);
  return words.length === results.length ? words : null;
}

/** The one word that a read returned; null where it returned something else. */
function wordOf(result: CallResult | undefined): bigint | null {
  return result?.success && result.returnData.length === 66 ? BigInt(result.returnData) : null;
}
