/** Can the payees be paid? A group whose author is blocked by the token reverts as a whole (safety 18). */
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import { routerAbi, tokenAbi } from '../calls/abi.ts';
import type { PlannedGroup } from '../calls/calldata.ts';
import { routerGroup } from '../calls/calldata.ts';
import { aggregate } from '../calls/multicall.ts';
import type { Network } from '../network.ts';
import { confirmRefusals, UNCONFIRMED } from '../rpc/quorum.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { chainUnavailable } from '../rpc/rpc.ts';
import { settleGroupCall } from './routerCalls.ts';

/**
 * What would happen to a group: `nothing_pulled` when all its payments fail; `payee_reverts` when it cannot be paid out, with
 * the revert data; `unknown` when the simulation itself ran short of gas; `unconfirmed` when one node says that it cannot be paid out, and no
 * second one answers.
 */
export interface GroupSimulation {
  readonly payTo: Address;
  readonly kind: 'ok' | 'nothing_pulled' | 'payee_reverts' | 'unknown' | typeof UNCONFIRMED;
  readonly revert: Hex | null;
}

/** `NotEnoughGas()` of the router. */
const NOT_ENOUGH_GAS = '0xdd629f86';

/**
 * Simulates the groups of one plan, in order, in one `eth_call`, and of the other nodes, too, where one says that a group cannot be paid out: two
 * must. Throws ServiceError `chain_unavailable`.
 */
export async function simulateGroups(
  rpc: Rpc,
  network: Pick<Network, 'asset' | 'router'>,
  groups: readonly PlannedGroup[],
): Promise<readonly GroupSimulation[]> {
  const ask = (node: Rpc) => simulateOnce(node, network, groups);
  const confirmed = await confirmRefusals(rpc, await ask(rpc), ({ kind }) => kind === 'payee_reverts', ask);
  return groups.map(({ payTo }, at) => {
    const simulated = confirmed[at] ?? UNCONFIRMED;
    return simulated === UNCONFIRMED ? { payTo, kind: UNCONFIRMED, revert: null } : simulated;
  });
}

async function simulateOnce(
  rpc: Rpc,
  network: Pick<Network, 'asset' | 'router'>,
  groups: readonly PlannedGroup[],
): Promise<readonly GroupSimulation[]> {
  const calls = groups.map((group, index) => ({
    target: network.router,
    callData: settleGroupCall(index, routerGroup(group, network.asset)),
  }));
  const results = await aggregate(rpc, calls);
  return groups.map(({ payTo }, at) => {
    const result = results?.[at];
    if (!result) return { payTo, kind: 'unknown', revert: null };
    if (!result.success) {
      const known = result.returnData !== '0x' && result.returnData !== NOT_ENOUGH_GAS;
      return { payTo, kind: known ? 'payee_reverts' : 'unknown', revert: result.returnData };
    }
    const pulled = decodeFunctionResult({ abi: routerAbi, functionName: 'settleGroup', data: result.returnData });
    return { payTo, kind: pulled === 0n ? 'nothing_pulled' : 'ok', revert: null };
  });
}

/**
 * The wallets among `wallets` that the token refuses to pay now: a transfer of 0 to each is simulated, by two nodes where there are several
 * and one refuses it; null where only that one answers. Throws ServiceError `chain_unavailable`, also while the token is paused for everyone.
 */
export async function findBlockedPayees(
  rpc: Rpc,
  network: Pick<Network, 'asset'>,
  wallets: readonly Address[],
): Promise<readonly Address[] | null> {
  const ask = (node: Rpc) => listRefused(node, network, wallets);
  const confirmed = await confirmRefusals(rpc, await ask(rpc), (isRefused) => isRefused, ask);
  return confirmed.includes(UNCONFIRMED) ? null : wallets.filter((_, at) => confirmed[at] === true);
}

/** Whether one node says that the token refuses to pay each of these wallets. */
async function listRefused(rpc: Rpc, network: Pick<Network, 'asset'>, wallets: readonly Address[]): Promise<readonly boolean[]> {
  const calls = wallets.map((wallet) => ({
    target: network.asset,
    callData: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [wallet, 0n] }),
  }));
  // A transfer to the asset's own neighbour, an address nobody holds, tells a blocked wallet from a paused token.
  const probe = {
    target: network.asset,
    callData: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [PROBE, 0n] }),
  };
  const results = await aggregate(rpc, [probe, ...calls]);
  if (!results?.[0]?.success) throw chainUnavailable(rpc.networkId);
  return wallets.map((_, at) => results[at + 1]?.success !== true);
}

/** An address without owner: the last 20 bytes of nothing but ones. */
const PROBE: Address = `0x${'11'.repeat(20)}`;
