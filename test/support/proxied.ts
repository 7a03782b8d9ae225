import { mine } from './faults.ts';
import { checkInvariants } from './invariants.ts';
import type { RpcProxy } from './rpc-proxy.ts';
import { startRpcProxy } from './rpc-proxy.ts';
import type { SettlementWorld } from './settlement.ts';
import { startSettlement } from './settlement.ts';

/** A settlement world that reaches its chain through `line`, whose batches the test starts itself. */
export async function startProxied(): Promise<{ readonly world: SettlementWorld; readonly line: RpcProxy }> {
  let line: RpcProxy | undefined;
  const inFront = async (rpcUrl: string) => {
    line = await startRpcProxy(rpcUrl);
    return line.url;
  };
  const world = await startSettlement({ automine: true, runBatches: false, waitMs: 50, inFront });
  if (line === undefined) throw new Error('nothing was put in front of the chain');
  await mine(world, 5);
  return { world, line };
}

/** Ends both, after the invariants were compared with the chain. */
export async function endProxied(world: SettlementWorld, line: RpcProxy): Promise<void> {
  try {
    await checkInvariants(world);
  } finally {
    await Promise.all([world.close(), line.close()]);
  }
}
