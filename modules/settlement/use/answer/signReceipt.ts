import type { LicenceSigner } from '../../../../platform/tokens/jws.ts';
import type { Bought, ReceiptPayload } from '../../../kernel/receipt.ts';
import { didOf, recordUrl, resourceOf } from '../../../kernel/receipt.ts';

/** In whose name a receipt is signed: the host's, where its own server shows our keys (`/.well-known/did.json`), or ours. */
export type ReceiptName = 'host' | 'service';

/** What a receipt is made of: facts that are fixed once, so that the same payment gives the same bytes. */
export interface ReceiptFacts extends Bought {
  /** Names the record. */
  readonly paymentId: string;
  readonly network: string;
  readonly payer: string;
  readonly issuedAtSeconds: number;
  readonly transaction: string | null;
  /** The key: that of the licence it comes with. */
  readonly kid: string;
  readonly name: ReceiptName;
}

/** The extension `offer-receipt` of a settlement response: the signed receipt, and where everybody may read the record of it. */
export interface ReceiptExtension {
  readonly info: { readonly receipt: { readonly format: 'jws'; readonly signature: string }; readonly record: string };
}

/** Signs the receipt of a settled payment. Throws signing_key_unavailable. */
export async function signReceipt(
  { signer, baseUrl }: { readonly signer: LicenceSigner; readonly baseUrl: string },
  facts: ReceiptFacts,
): Promise<ReceiptExtension> {
  const { network, payer, issuedAtSeconds: issuedAt, transaction, kid, name, paymentId } = facts;
  const resourceUrl = resourceOf(facts, baseUrl);
  const payload: ReceiptPayload = {
    version: 1,
    network,
    resourceUrl,
    payer,
    issuedAt,
    ...(transaction === null ? {} : { transaction }),
  };
  const signature = await signer.sign(kid, payload, { kid: `${nameOf(facts, name, baseUrl)}#${kid}` });
  return { info: { receipt: { format: 'jws', signature }, record: recordUrl(baseUrl, paymentId) } };
}

/** A licence is sold by us, whatever the host shows. */
function nameOf({ purpose, resource }: Bought, name: ReceiptName, baseUrl: string): string {
  return didOf(name === 'host' && purpose === 'page' ? resource : baseUrl);
}
