/** The code that must stand where the router and its split implementation are: the compiled artifacts with their immutables filled in. */
import splitArtifact from '../../../contracts/artifacts/LegSplit.json' with { type: 'json' };
import routerArtifact from '../../../contracts/artifacts/SplitRouter.json' with { type: 'json' };
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { implementationOf } from './split.ts';

/** What stands at a router's address: this version's code, other code (another version's router, or a stranger's), or none. */
export type RouterState = 'installed' | 'differs' | 'absent';

/** PUSH32 of nothing: where the compiler leaves room for an immutable; a constant zero is never written so. */
const PLACE = `7f${'00'.repeat(32)}`;

/** Compares the code of a router and of its implementation, byte by byte, with what we compiled. Throws `chain_unavailable`. */
export async function compareRouter(rpc: Rpc, router: Address): Promise<RouterState> {
  const implementation = implementationOf(router);
  const [code, splitCode] = await Promise.all([codeAt(rpc, router), codeAt(rpc, implementation)]);
  if (code === '0x') return 'absent';
  const isOurs =
    code === filled(routerArtifact.deployedBytecode, implementation) &&
    splitCode === filled(splitArtifact.deployedBytecode, router);
  return isOurs ? 'installed' : 'differs';
}

/** The code at an address now, `0x` for none. */
export function codeAt(rpc: Rpc, address: Address): Promise<Hex> {
  return rpc.request<Hex>('eth_getCode', [address, 'latest']);
}

function filled(code: string, immutable: Address): string {
  return code.replaceAll(PLACE, `7f${immutable.slice(2).toLowerCase().padStart(64, '0')}`);
}
