import { waitForReceipt } from '../../../platform/chain/evidence/receipts.ts';
import type { Fees } from '../../../platform/chain/gas/fees.ts';
import { chooseFees, costToday, dataFee, requiredBalance } from '../../../platform/chain/gas/fees.ts';
import type { RouterState } from '../../../platform/chain/router/routerCode.ts';
import { codeAt, compareRouter } from '../../../platform/chain/router/routerCode.ts';
import { deployRouterTransaction, deterministicDeployer, routerAddress } from '../../../platform/chain/router/split.ts';
import { baseFeeOf, gasBalance, sendRaw, signTransaction, transactionCount } from '../../../platform/chain/transaction.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { Chain, RelayerKey, SettlementDeps } from '../../settlement/use/deps.ts';
import { chainOf } from '../../settlement/use/deps.ts';
import { listRelayers } from '../store/operations.ts';

/** What stands on a network. */
export interface RouterReport {
  readonly network: string;
  /** Of the router in the configuration. */
  readonly configured: string;
  readonly state: RouterState;
  /** Where `router deploy` installs this version's router, on every chain, and what stands there. */
  readonly ours: string;
  readonly oursState: RouterState;
}

/** A router that stands already, and the key that pays for settlements there. */
export interface InstalledRouter {
  readonly network: string;
  readonly installed: string;
  readonly from: string;
  readonly balanceWei: bigint;
}

/** What deploying would send and cost, in wei. */
export interface RouterPlan {
  readonly network: string;
  readonly router: string;
  readonly from: string;
  readonly nonce: number;
  readonly gasLimit: bigint;
  /** At today's base fee, when all of the limit is used. */
  readonly costWei: bigint;
  /** What the key must hold, and may at most be charged. */
  readonly mostWei: bigint;
  readonly balanceWei: bigint;
}

interface Prepared {
  readonly chain: Chain;
  readonly key: RelayerKey;
  readonly fees: Fees;
  readonly plan: RouterPlan;
}

const RECEIPT_LIMIT_MS = 120_000;

/** Compares a network's router with what this version compiled. Reads only. Throws `chain_unavailable`, and for a wrong chain. */
export async function reportRouter(deps: SettlementDeps, networkId: string): Promise<RouterReport> {
  const { network, rpc } = await chainAt(deps, networkId);
  const state = await compareRouter(rpc, network.router);
  const oursState = network.router === routerAddress ? state : await compareRouter(rpc, routerAddress);
  return { network: network.id, configured: network.router, state, ours: routerAddress, oursState };
}

/**
 * Where this version's router stands already, with the first relayer key of the network and what it holds for gas; null where it is not
 * installed. Reads only. Throws `invalid_parameter` without a key, `chain_unavailable`.
 */
export async function findInstalledRouter(deps: SettlementDeps, networkId: string): Promise<InstalledRouter | null> {
  const { network, rpc } = await chainAt(deps, networkId);
  if ((await compareRouter(rpc, routerAddress)) !== 'installed') return null;
  const { address } = firstKeyOf(deps, network.id);
  return { network: network.id, installed: routerAddress, from: address, balanceWei: await gasBalance(rpc, address) };
}

/**
 * What installing the router would cost with the first relayer key of the network. Reads only. Throws `conflict` where code stands
 * already, where the deterministic deployer is missing, or while the key has batches on their way, whose nonces it would take.
 */
export async function planRouter(deps: SettlementDeps, networkId: string): Promise<RouterPlan> {
  return (await prepare(deps, networkId)).plan;
}

/**
 * Installs router and split implementation by one CREATE2 transaction, waits until it is mined, and compares the code. A second call is
 * a `conflict` and sends nothing. Throws `conflict` when the key has too little gas money or the node refuses, `chain_unavailable` when
 * the receipt does not come: `router status` says what became of it.
 */
export async function deployRouter(
  deps: SettlementDeps,
  networkId: string,
): Promise<RouterPlan & { readonly transaction: string }> {
  const { chain, key, fees, plan } = await prepare(deps, networkId);
  if (plan.balanceWei < plan.mostWei) {
    throw new ServiceError(
      'conflict',
      `${plan.from} holds ${plan.balanceWei} wei and must hold ${plan.mostWei}: nothing was sent`,
    );
  }
  const { chainId } = chain.network;
  const request = { ...deployRouterTransaction(), chainId, nonce: plan.nonce, gasLimit: plan.gasLimit, fees };
  const { raw, hash } = await signTransaction(key, request);
  const sent = await sendRaw(chain.rpc, raw);
  if (sent.kind !== 'accepted' && sent.kind !== 'known' && sent.kind !== 'unavailable') {
    throw new ServiceError('conflict', `the node refuses the transaction: ${sent.detail}`);
  }
  const receipt = await waitForReceipt(chain.rpc, [hash], { timeoutMs: RECEIPT_LIMIT_MS });
  if (!receipt) throw new ServiceError('chain_unavailable', `${hash} is not mined yet; look again with router status`);
  const state = await compareRouter(chain.rpc, routerAddress);
  if (state !== 'installed')
    throw new ServiceError('conflict', `${hash} is mined, and the router is ${state}; it ran out of gas, or failed`);
  return { ...plan, transaction: hash };
}

async function prepare(deps: SettlementDeps, networkId: string): Promise<Prepared> {
  const chain = await chainAt(deps, networkId);
  const { network, rpc } = chain;
  const key = firstKeyOf(deps, network.id);
  if ((await compareRouter(rpc, routerAddress)) !== 'absent') {
    throw new ServiceError('conflict', `there is code at ${routerAddress} already; see router status`);
  }
  if ((await codeAt(rpc, deterministicDeployer)) === '0x') {
    throw new ServiceError('conflict', `this chain has no deterministic deployer at ${deterministicDeployer}: install it first`);
  }
  const own = (await listRelayers(deps.database)).find((one) => one.network === network.id && one.address === key.address);
  if (own && own.unfinishedBatches > 0) {
    throw new ServiceError('conflict', `${key.address} has batches in flight, and a deployment would take one of their nonces`);
  }
  const { to, data } = deployRouterTransaction();
  const [estimate, baseFeeWei, balanceWei, nonce] = await Promise.all([
    rpc.request<string>('eth_estimateGas', [{ from: key.address, to, data }]).then(BigInt),
    baseFeeOf(rpc),
    gasBalance(rpc, key.address),
    transactionCount(rpc, key.address, 'pending'),
  ]);
  const fees = chooseFees(network, baseFeeWei);
  const gasLimit = (estimate * 12n) / 10n;
  const bytesWei = dataFee(network, data);
  const costWei = costToday(network, baseFeeWei, gasLimit, bytesWei);
  const mostWei = requiredBalance(gasLimit, fees, bytesWei);
  const plan = { network: network.id, router: routerAddress, from: key.address, nonce, gasLimit, costWei, mostWei, balanceWei };
  return { chain, key, fees, plan };
}

function firstKeyOf(deps: SettlementDeps, networkId: string): RelayerKey {
  const [key] = deps.relayersOf(networkId);
  if (!key) throw new ServiceError('invalid_parameter', 'RELAYER_PRIVATE_KEYS holds no key for this network');
  return key;
}

/** The network, once every URL that answers has said that it is the configured chain. */
async function chainAt(deps: SettlementDeps, networkId: string): Promise<Chain> {
  const chain = chainOf(deps, deps.networks.get(networkId).id);
  for (const { index, result } of await chain.rpc.each<string>('eth_chainId', [])) {
    if (Number(result) === chain.network.chainId) continue;
    throw new ServiceError('conflict', `RPC URL ${index + 1} answers for chain ${Number(result)}, not ${chain.network.chainId}`);
  }
  return chain;
}
