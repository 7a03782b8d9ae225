/**
 * Addresses of the router and of legs splits, computed without a chain: the twin of SplitRouter.splitOf. The same
 * authors have the same address on every chain and at every price.
 */
import { concat, getContractAddress, keccak256 } from 'viem/utils';
import artifact from '../../../contracts/artifacts/SplitRouter.json' with { type: 'json' };
import type { Address, WeightedPayee } from '../../../modules/kernel/money/legs.ts';
import { canonicalPayees, legWord } from '../../../modules/kernel/money/legs.ts';

type Hex = `0x${string}`;

/** The keyless deterministic-deployment proxy: `salt ++ init code` → CREATE2, the same address on every chain. */
export const deterministicDeployer: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c';

const ROUTER_SALT: Hex = `0x${'00'.repeat(32)}`;
const routerInitCode = artifact.bytecode as Hex;

/** Address of the router wherever it is deployed by `deployRouterTransaction`. */
export const routerAddress: Address = lower(
  getContractAddress({ opcode: 'CREATE2', from: deterministicDeployer, salt: ROUTER_SALT, bytecode: routerInitCode }),
);

/** Address of the split implementation of a router: the first contract its constructor created. */
export function implementationOf(router: Address): Address {
  return lower(getContractAddress({ from: router, nonce: 1n }));
}

/**
 * The one transaction that installs router and implementation at their addresses. Sent again where they are already
 * installed, it fails and changes nothing: look for code at `routerAddress` first.
 */
export function deployRouterTransaction(): { readonly to: Address; readonly data: Hex } {
  return { to: deterministicDeployer, data: concat([ROUTER_SALT, routerInitCode]) };
}

/** Address of the split of canonical leg words, deployed or not: CREATE2(router, keccak256(words), clone of implementation). */
export function splitAddress(router: Address, implementation: Address, words: readonly Hex[]): Address {
  const clone = concat(['0x3d602d80600a3d3981f3363d3d373d3d3d363d73', implementation, '0x5af43d82803e903d91602b57fd5bf3']);
  return lower(getContractAddress({ opcode: 'CREATE2', from: router, salt: keccak256(concat(words)), bytecode: clone }));
}

/** Address of the split of canonical leg words at a router. */
export function splitOf(words: readonly Hex[], router: Address): Address {
  return splitAddress(router, implementationOf(router), words);
}

/**
 * Where the parts of a wallet wait that the token refused to pay it, and the one leg word that pays them out: the twin of
 * SplitRouter.waitingOf. That address pays nobody else.
 */
export function waitingOf(wallet: Address, router: Address): { readonly payTo: Address; readonly word: Hex } {
  const word = legWord({ wallet, weight: 1n });
  return { payTo: splitOf([word], router), word };
}

/**
 * Where a payment for these payees must go, and the leg words the router needs to pay it out. One payee: that wallet.
 * Several: their split. Any order and duplicates are accepted; throws RangeError for what
 * `canonicalPayees` refuses, and for a payee the router would refuse: the zero address, the router, the split itself.
 */
export function payToOf(
  payees: readonly WeightedPayee[],
  router: Address = routerAddress,
): { readonly payTo: Address; readonly words: readonly Hex[] } {
  const canonical = canonicalPayees(payees);
  const words = canonical.map(legWord);
  const [first] = canonical;
  const payTo = canonical.length === 1 && first ? first.wallet : splitOf(words, router);
  for (const { wallet } of canonical) {
    const refused = BigInt(wallet) === 0n || wallet === router.toLowerCase() || (canonical.length > 1 && wallet === payTo);
    if (refused) throw new RangeError('the router cannot pay this wallet');
  }
  return { payTo, words };
}

function lower(address: string): Address {
  return address.toLowerCase() as Address;
}
