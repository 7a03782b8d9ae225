import type { SettlementDeps } from '../modules/settlement/use/deps.ts';
import type { Network } from '../platform/chain/network.ts';
import { verifyNetwork } from '../platform/chain/network.ts';
import type { Rpc } from '../platform/chain/rpc/rpc.ts';
import { chainUnavailable, isChainUnavailable } from '../platform/chain/rpc/rpc.ts';

/** The networks of a process, as far as they were compared with their chains. */
export interface ComparedNetworks {
  /** Connections: one of a network that was not compared yet answers nothing, as if no node did. */
  readonly rpcOf: (networkId: string) => Rpc;
  /** False until the network was compared with its chain. */
  isCompared(networkId: string): boolean;
  close(): void;
}

/** How often a network that was silent at the start is asked again. */
const AGAIN_MS = 10_000;

/**
 * Compares every network with its chain, and warns of RPC URLs that do not answer. A network of which none answers keeps neither the process
 * nor another network from starting: it stays closed and is compared again on an interval, since what its nodes say of a chain nobody has
 * looked at moves no money. Throws what `verifyNetwork` throws for a network that differs from its chain.
 */
export async function compareNetworks(
  { networks, rpcOf, log }: Pick<SettlementDeps, 'networks' | 'rpcOf' | 'log'>,
  againMs = AGAIN_MS,
): Promise<ComparedNetworks> {
  const closed = new Set<string>();
  const compare = (network: Network): Promise<void> =>
    verifyNetwork(network, rpcOf(network.id), (place) =>
      log.warn({ networkId: network.id, place }, 'an RPC URL does not answer'),
    );
  const tried = await Promise.allSettled(networks.list.map(compare));
  for (const [index, outcome] of tried.entries()) {
    if (outcome.status === 'fulfilled') continue;
    const { id } = networks.list[index] as Network;
    if (!isChainUnavailable(outcome.reason)) throw outcome.reason;
    closed.add(id);
    log.warn({ networkId: id }, 'no node of this network answers: its payments wait until one does, the rest works');
  }
  let isTrying = false;
  const tryAgain = async (): Promise<void> => {
    if (isTrying) return;
    isTrying = true;
    for (const id of [...closed]) {
      try {
        await compare(networks.get(id));
        closed.delete(id);
        log.info({ networkId: id }, 'this network answers and is open');
      } catch (error) {
        if (!isChainUnavailable(error)) log.error({ networkId: id, error: String(error) }, 'this network stays closed');
      }
    }
    isTrying = false;
    if (closed.size === 0) clearInterval(timer);
  };
  const timer = closed.size === 0 ? undefined : setInterval(() => void tryAgain(), againMs).unref();
  const gated = new Map([...closed].map((id) => [id, gate(rpcOf(id), () => closed.has(id))]));
  return {
    rpcOf: (networkId) => gated.get(networkId) ?? rpcOf(networkId),
    isCompared: (networkId) => !closed.has(networkId),
    close: () => clearInterval(timer),
  };
}

function gate(rpc: Rpc, isClosed: () => boolean): Rpc {
  return {
    ...rpc,
    request: (method, params, options) =>
      isClosed() ? Promise.reject(chainUnavailable(rpc.networkId)) : rpc.request(method, params, options),
    each: (method, params, options) =>
      isClosed() ? Promise.reject(chainUnavailable(rpc.networkId)) : rpc.each(method, params, options),
  };
}
