import type { Keyring } from '../../../platform/tokens/jws.ts';
import { didOf } from '../../kernel/receipt.ts';

/** What a receipt of ours says, or why it is none. */
export type CheckedReceipt =
  | { readonly valid: true; readonly signedBy: string; readonly receipt: Readonly<Record<string, unknown>> }
  | { readonly valid: false; readonly says: string };

/**
 * Checks a receipt (x402 `offer-receipt`, JWS): that one of our keys signed it, in our name or in that of the host it is about. Whether the transfer
 * stands is the chain's to say: `transaction` names it. Costs one signature, remembered; throws nothing.
 */
export async function checkReceipt(
  { keyring, baseUrl }: { readonly keyring: Pick<Keyring, 'verifyNamed'>; readonly baseUrl: string },
  jws: string,
): Promise<CheckedReceipt> {
  const read = await keyring.verifyNamed(jws.trim());
  if (!read) return { valid: false, says: 'no key of this service signed this as a receipt' };
  const receipt = read.claims as Record<string, unknown>;
  const { resourceUrl, payer } = receipt;
  const url = typeof resourceUrl === 'string' && typeof payer === 'string' ? URL.parse(resourceUrl) : null;
  if (!url) return { valid: false, says: 'this is signed, but it is not a receipt' };
  const { did: signedBy } = read;
  if (signedBy !== didOf(baseUrl) && signedBy !== didOf(url.href)) {
    return { valid: false, says: 'this is signed in the name of a party that did not sell it' };
  }
  return { valid: true, signedBy, receipt };
}
