/** The networks we settle on: configuration, defaults, and the check at boot that chain and configuration agree. */
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex, ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { tokenAbi } from './calls/abi.ts';
import type { Rpc } from './rpc/rpc.ts';
import { whereAway } from './rpc/rpc.ts';

/**
 * Which block a network's nodes call safe from being taken back: the one at their tag `safe` or `finalized`, or the one so many blocks below the head.
 * Nodes of Polygon know no block at `safe`.
 */
export type Finality = 'safe' | 'finalized' | number;

/** One network. `maxFeePerGasWei` is the most we ever offer for gas, replacements included; a void of bytes at it may offer a quarter more. */
export interface Network {
  /** CAIP-2 id, such as `eip155:8453`. */
  readonly id: string;
  readonly chainId: number;
  /** Name in x402 v1; null where it has none. */
  readonly v1Name: string | null;
  /** At least one; later ones are used when earlier ones do not answer. */
  readonly rpcUrls: readonly string[];
  readonly asset: Address;
  /** EIP-712 domain of the asset. */
  readonly assetName: string;
  readonly assetVersion: string;
  readonly router: Address;
  readonly blockTimeMs: number;
  /** First row whose `belowMicro` is above the amount (null: any amount) says how many blocks a grant needs. */
  readonly confirmations: readonly { readonly belowMicro: bigint | null; readonly blocks: number }[];
  /** `safe` unless told. What is settled waits for confirmations alone; what is final, for this. */
  readonly finality?: Finality;
  readonly maxFeePerGasWei: bigint;
  readonly priorityFeePerGasWei: bigint;
  /** One coin of the native currency in micro-USDC, to compare gas with money; never too low. Unless told, 5,000 USDC (an ether). */
  readonly nativePriceMicro?: bigint;
  /** What a byte of a transaction may cost besides gas where blocks are written to another chain (OP stack); 0 unless told. */
  readonly dataFeeWeiPerByte?: bigint;
  /**
   * Who says at which block a state is: Multicall3 by the EVM's own word unless told; `arbsys` (Arbitrum's precompile) where that word is
   * the number of a block of another chain.
   */
  readonly blockNumberFrom?: 'multicall3' | 'arbsys';
  /**
   * From this amount on, a second URL must show the same transfer in the same block before a payment is settled, or the safe block must
   * have passed it; 1 USDC unless told. A network of one URL has nobody else to ask.
   */
  readonly secondSourceFromMicro?: bigint;
  /** Who moves the money: our own relayer (unless told), or an x402 facilitator that is configured besides. */
  readonly settler?: 'relayer' | 'facilitator';
}

/** What a deployment must say of a network, and may change of the defaults. */
export type NetworkSettings = Pick<Network, 'rpcUrls' | 'router'> & Partial<Network>;

/** An ether in micro-USDC when nothing is configured: rather too much, since a flush that waits loses nothing. */
export const DEFAULT_NATIVE_PRICE_MICRO = 5_000_000_000n;

/** An amount from which one node's word is too little when nothing is configured: 1 USDC. */
export const DEFAULT_SECOND_SOURCE_MICRO = 1_000_000n;

/** Blocks a payment of this amount must be deep before anything is granted; 1 means: mined. */
export function confirmationsFor(network: Pick<Network, 'confirmations'>, amountMicro: bigint): number {
  const row = network.confirmations.find(({ belowMicro }) => belowMicro === null || amountMicro < belowMicro);
  return row?.blocks ?? network.confirmations.at(-1)?.blocks ?? 1;
}

/** The networks of this deployment in the operator's order, the cheapest first, by CAIP-2 id and by v1 name. Throws RangeError when two share one. */
export class Networks {
  readonly list: readonly Network[];
  readonly #byId = new Map<string, Network>();
  readonly #byV1Name = new Map<string, Network>();

  constructor(list: readonly Network[]) {
    this.list = list;
    for (const network of list) {
      if (this.#byId.has(network.id)) throw new RangeError(`two networks have the id ${network.id}`);
      this.#byId.set(network.id, network);
      if (network.v1Name === null) continue;
      if (this.#byV1Name.has(network.v1Name)) throw new RangeError(`two networks have the v1 name ${network.v1Name}`);
      this.#byV1Name.set(network.v1Name, network);
    }
  }

  /** The one of the operator's that is named first: the cheapest. Throws RangeError where there is none. */
  get first(): Network {
    const [first] = this.list;
    if (!first) throw new RangeError('no network is configured');
    return first;
  }

  /** Addresses that no author can have: those of every token and router, in lower case. */
  get contracts(): readonly string[] {
    return this.list.flatMap(({ asset, router }) => [asset.toLowerCase(), router.toLowerCase()]);
  }

  /** CAIP-2 ids in the operator's order. */
  get ids(): readonly string[] {
    return this.list.map(({ id }) => id);
  }

  /** The network of a CAIP-2 id, or null. */
  find(id: string): Network | null {
    return this.#byId.get(id) ?? null;
  }

  /** The network of a CAIP-2 id; throws ServiceError `network_unsupported`. */
  get(id: string): Network {
    const network = this.find(id);
    if (!network) throw new ServiceError('network_unsupported', 'payments on this network are not accepted');
    return network;
  }

  /** The network of an x402 v1 name, or null. */
  findByV1Name(name: string): Network | null {
    return this.#byV1Name.get(name) ?? null;
  }

  /** The network a payment names, by the rule of its x402 version, or null. */
  findForPayment(payment: Pick<ParsedPayment, 'x402Version' | 'network'>): Network | null {
    return payment.x402Version === 2 ? this.find(payment.network) : this.findByV1Name(payment.network);
  }
}

/**
 * Compares configuration and chain at every RPC URL that answers: chain id, a block at the tag of finality, code of asset and router,
 * EIP-712 name and version. Throws an Error that names what differs (never an address with credentials); `chain_unavailable` when no URL
 * answers. One that does not is told to `onSilent` by its place from 1: it is compared with the chain id before it is ever asked.
 */
export async function verifyNetwork(
  network: Network,
  rpc: Rpc,
  onSilent: (place: number) => void = () => undefined,
): Promise<void> {
  const wrong = (what: string) => new Error(`network ${network.id}: ${what}`);
  const chainIds = await rpc.each<Hex>('eth_chainId', []);
  for (const { index, result } of chainIds) {
    if (Number(result) !== network.chainId) throw wrong(`RPC URL ${index + 1} answers for chain ${Number(result)}`);
  }
  const answering = new Set(chainIds.map(({ index }) => index));
  for (const index of network.rpcUrls.keys()) if (!answering.has(index)) onSilent(index + 1);
  const final = await placesWithSafeBlock(rpc);
  for (const index of answering) {
    if (!final.has(index))
      throw wrong(
        `RPC URL ${index + 1} knows no block at the tag ${network.finality ?? 'safe'}: set finality to a tag it knows, or to a number of blocks`,
      );
  }
  if (`eip155:${network.chainId}` !== network.id) throw wrong(`its chain id is ${network.chainId}`);
  for (const [what, address] of [['asset', network.asset] as const, ['router', network.router] as const]) {
    const codes = await rpc.each<Hex>('eth_getCode', [address, 'latest']);
    if (codes.every(({ result }) => result === '0x')) throw wrong(`there is no contract at the ${what} address ${address}`);
  }
  for (const [what, functionName] of [['assetName', 'name'] as const, ['assetVersion', 'version'] as const]) {
    const call = { to: network.asset, data: encodeFunctionData({ abi: tokenAbi, functionName }) };
    for (const { result: data } of await rpc.each<Hex>('eth_call', [call, 'latest'])) {
      if (data === '0x') continue; // a node that is still catching up
      const onChain = decodeFunctionResult({ abi: tokenAbi, functionName, data });
      if (onChain !== network[what]) throw wrong(`the asset's ${functionName} is "${onChain}", configured is "${network[what]}"`);
    }
  }
}

/** The places of the nodes that know a block at the network's finality. */
async function placesWithSafeBlock(rpc: Rpc): Promise<ReadonlySet<number>> {
  const answers = await rpc.each<object | null>('eth_getBlockByNumber', ['safe', false]).catch(whereAway([]));
  return new Set(answers.flatMap(({ index, result }) => (result === null ? [] : [index])));
}
