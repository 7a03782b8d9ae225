import type { Network } from '../../chain/network.ts';
import type { Rpc } from '../../chain/rpc.ts';
import { lookAtNonces } from '../../chain/states.ts';
import type { Address } from '../../domain/legs.ts';

/** What the chain said of a nonce before its payment had a row. */
export interface NonceLook {
  readonly blockNumber: bigint;
  readonly used: boolean;
}

interface Waiting {
  readonly pair: { readonly payer: Address; readonly nonce: `0x${string}` };
  readonly resolve: (look: NonceLook) => void;
  readonly reject: (error: unknown) => void;
}

const LIMIT = 200;
const WAITING = new WeakMap<Rpc, { list: Waiting[]; busy: boolean }>();

/**
 * Looks at a nonce before its payment is stored, without its signature (safety 2): seen unused here, whatever uses it on chain
 * later came after our look. Callers share calls, one at a time for each connection, and never one that was sent before they
 * asked. Throws ServiceError `chain_unavailable` in an outage.
 */
export function lookAtNonce(rpc: Rpc, network: Network, payer: Address, nonce: `0x${string}`): Promise<NonceLook> {
  return new Promise((resolve, reject) => {
    const queue = WAITING.get(rpc) ?? { list: [], busy: false };
    WAITING.set(rpc, queue);
    queue.list.push({ pair: { payer, nonce }, resolve, reject });
    if (!queue.busy) void drain(rpc, network, queue);
  });
}

async function drain(rpc: Rpc, network: Network, queue: { list: Waiting[]; busy: boolean }): Promise<void> {
  queue.busy = true;
  while (queue.list.length > 0) {
    const asked = queue.list.splice(0, LIMIT);
    try {
      const { blockNumber, used } = await lookAtNonces(
        rpc,
        network,
        asked.map((one) => one.pair),
      );
      for (const [index, one] of asked.entries()) one.resolve({ blockNumber, used: used[index] === true });
    } catch (error) {
      for (const one of asked) one.reject(error);
    }
  }
  queue.busy = false;
}
