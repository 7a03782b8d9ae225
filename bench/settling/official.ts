/** The reference: the official facilitator of `@x402/evm`, on a chain of ours. */
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { createWalletClient, http, publicActions } from 'viem';
import { nonceManager, privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import type { Network } from '../../platform/chain/network.ts';
import { checksumAddress } from '../../platform/chain/offer.ts';
import type { SignedTransfer } from './buyers.ts';
import { payloadOf } from './buyers.ts';

/** The official facilitator with a key of ours that pays gas, which looks for receipts every 5 ms. */
export function createOfficial(rpcUrl: string, privateKey: `0x${string}`): x402Facilitator {
  const account = privateKeyToAccount(privateKey, { nonceManager });
  const transport = http(rpcUrl);
  const wallet = createWalletClient({ account, chain: baseSepolia, transport, pollingInterval: 5 }).extend(publicActions);
  type Signer = Parameters<typeof toFacilitatorEvmSigner>[0];
  const client: unknown = {
    address: account.address,
    getCode: wallet.getCode,
    readContract: wallet.readContract,
    verifyTypedData: wallet.verifyTypedData,
    writeContract: wallet.writeContract,
    sendTransaction: wallet.sendTransaction,
    waitForTransactionReceipt: wallet.waitForTransactionReceipt,
  };
  const signer = toFacilitatorEvmSigner(client as Signer, { confirmationTimeoutMs: 30_000 });
  return new x402Facilitator().register('eip155:84532', new ExactEvmScheme(signer));
}

/** Verifies and settles one payment as the reference server does. Throws when either fails. */
export async function settleOfficially(official: x402Facilitator, network: Network, signed: SignedTransfer): Promise<void> {
  const accepted = {
    scheme: 'exact',
    network: 'eip155:84532' as const,
    amount: signed.authorization.value.toString(),
    asset: checksumAddress(network.asset),
    payTo: checksumAddress(signed.authorization.to),
    maxTimeoutSeconds: 300,
    extra: { name: network.assetName, version: network.assetVersion },
  };
  const payload = { x402Version: 2, accepted, payload: payloadOf(signed) };
  const verified = await official.verify(payload, accepted);
  if (!verified.isValid) throw new Error(`the official facilitator refuses: ${verified.invalidReason}`);
  const settled = await official.settle(payload, accepted);
  if (!settled.success) throw new Error(`the official facilitator fails: ${settled.errorReason} ${settled.errorMessage ?? ''}`);
}

/** Works through a list, `parallel` at a time; resolves with the milliseconds of each. */
export async function workThrough<T>(list: readonly T[], parallel: number, work: (one: T) => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  let next = 0;
  const goOn = async (): Promise<void> => {
    for (let one = list[next++]; one !== undefined; one = list[next++]) {
      const startedAt = performance.now();
      await work(one);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: parallel }, goOn));
  return times;
}
