/** Signed payments and a network for tests that talk to a real test chain. */
import { randomBytes } from 'node:crypto';
import type { PrivateKeyAccount } from 'viem/accounts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Authorization, Hex } from '../../modules/kernel/x402/payload.ts';
import type { BatchItem } from '../../platform/chain/calls/calldata.ts';
import type { Network } from '../../platform/chain/network.ts';
import { baseSepoliaNetwork } from '../../platform/chain/presets.ts';

/** Base Sepolia as the test chain plays it. */
export function testNetwork(
  chain: { readonly rpcUrl: string; readonly router: Address },
  changes: Partial<Network> = {},
): Network {
  // Gas costs nothing here unless a test says so: what lies at a split is worth paying out from the lowest price on.
  return baseSepoliaNetwork({ rpcUrls: [chain.rpcUrl], router: chain.router, nativePriceMicro: 0n, ...changes });
}

/** A new key. */
export function newAccount(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

/** Its address as we keep addresses. */
export function addressOf(account: PrivateKeyAccount): Address {
  return account.address.toLowerCase() as Address;
}

/** An address nobody has the key of. */
export function newWallet(): Address {
  return `0x${randomBytes(20).toString('hex')}`;
}

/** Signs a transfer of the network's asset; valid for ten hours unless told. `from` may be a wallet that `signer` speaks for. */
export async function signPayment(
  network: Network,
  signer: PrivateKeyAccount,
  changes: Partial<Authorization> & Pick<Authorization, 'to' | 'value'>,
): Promise<{ readonly authorization: Authorization; readonly signature: Hex }> {
  const authorization: Authorization = {
    from: addressOf(signer),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1_000) + 36_000),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...changes,
  };
  const { chainId, asset, assetName: name, assetVersion: version } = network;
  const signature = await signer.signTypedData({
    domain: { name, version, chainId, verifyingContract: asset },
    types: { TransferWithAuthorization: FIELDS },
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  });
  return { authorization, signature };
}

/** A payment ready for a batch, to a single wallet or to a split. */
export async function paymentFor(
  network: Network,
  signer: PrivateKeyAccount,
  payee: { readonly payTo: Address; readonly words: readonly Hex[] },
  value: bigint,
  changes: Partial<Authorization> & { readonly payerKind?: BatchItem['payerKind'] } = {},
): Promise<BatchItem> {
  const { payerKind = 'plain', ...fields } = changes;
  const signed = await signPayment(network, signer, { to: payee.payTo, value, ...fields });
  const words = payee.words.length === 1 ? null : payee.words;
  return { paymentId: `pay_${randomBytes(6).toString('hex')}`, ...signed, payTo: payee.payTo, words, payerKind };
}

const FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;
