/** A throwaway wallet that signs payments as a buyer's client does. Its key lives as long as the command, and it never has money. */
import { randomBytes } from 'node:crypto';
import { isRecord, listOf, parseJson } from './offer.ts';

/** The one function of viem that is needed. The package does not depend on viem: only this command signs anything. */
interface Viem {
  generatePrivateKey(): `0x${string}`;
  privateKeyToAccount(key: `0x${string}`): {
    readonly address: `0x${string}`;
    signTypedData(request: object): Promise<string>;
  };
}

/** Signs the first entry of an offer; the header value of PAYMENT-SIGNATURE. */
export interface Wallet {
  /** `changes` are signed too. Throws RangeError when the offer has no entry on an EVM network. */
  pay(offerHeader: string, changes?: { readonly value?: string }): Promise<string>;
}

/** What to do where viem is missing. */
export const NEEDS_VIEM = 'selftest signs a payment and needs viem, which is not installed here. Run: npm install -D viem';

const FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
];

/** Opens a wallet with a new key; null where viem is not installed. */
export async function openWallet(load: () => Promise<unknown> = loadViem): Promise<Wallet | null> {
  const viem = (await load().catch(() => null)) as Viem | null;
  if (viem === null) return null;
  const account = viem.privateKeyToAccount(viem.generatePrivateKey());
  return {
    pay: async (offerHeader, changes = {}) => {
      const accepted = firstEntry(offerHeader);
      const { network, amount, asset, payTo, maxTimeoutSeconds, extra } = accepted;
      const authorization = {
        from: account.address,
        to: payTo,
        value: changes.value ?? amount,
        validAfter: '0',
        validBefore: String(Math.floor(Date.now() / 1_000) + Number(maxTimeoutSeconds)),
        nonce: `0x${randomBytes(32).toString('hex')}`,
      };
      const chainId = Number(String(network).split(':')[1]);
      const signature = await account.signTypedData({
        domain: { ...(isRecord(extra) ? extra : {}), chainId, verifyingContract: asset },
        types: { TransferWithAuthorization: FIELDS },
        primaryType: 'TransferWithAuthorization',
        message: {
          ...authorization,
          value: BigInt(String(authorization.value)),
          validAfter: 0n,
          validBefore: BigInt(authorization.validBefore),
        },
      });
      const payment = { x402Version: 2, accepted, payload: { signature, authorization } };
      return Buffer.from(JSON.stringify(payment)).toString('base64');
    },
  };
}

function firstEntry(offerHeader: string): Readonly<Record<string, unknown>> {
  const offer = parseJson(Buffer.from(offerHeader, 'base64').toString('utf8'));
  const entry = isRecord(offer)
    ? listOf(offer['accepts']).find(({ network }) => /^eip155:\d{1,15}$/.test(String(network)))
    : undefined;
  if (!entry) throw new RangeError('the offer names no EVM network');
  return entry;
}

/** By a name that no bundler follows. */
function loadViem(): Promise<unknown> {
  const name = 'viem/accounts';
  return import(name);
}
