import { checksumAddress } from '../../../platform/chain/offer.ts';
import type { LicenceSigner } from '../../../platform/tokens/jws.ts';
import { didOf } from '../../kernel/receipt.ts';
import type { NetworkDestination } from '../../quotes/use/issue.ts';
import { EXTENSION_SCHEMA } from '../../quotes/use/offers/build.ts';
import type { ReceiptName } from '../../settlement/use/answer/signReceipt.ts';

/** The page and price that are offered; one entry of `accepts` for each destination, in this order. */
interface Offered {
  readonly quote: { readonly resource: string; readonly price: number; readonly expiresAt: number };
  readonly destinations: readonly NetworkDestination[];
}

/**
 * The extension `offer-receipt` of a page's offer: each entry of `accepts` signed by the key of the moment. A signature a network: for who asks,
 * and never for every quote. Throws signing_key_unavailable.
 */
export async function signOffers(
  { signer, baseUrl }: { readonly signer: LicenceSigner; readonly baseUrl: string },
  { quote, destinations }: Offered,
  name: ReceiptName,
): Promise<object> {
  const { kid } = signer.current();
  const named = { kid: `${didOf(name === 'host' ? quote.resource : baseUrl)}#${kid}` };
  const validUntil = Math.floor(quote.expiresAt / 1_000);
  const offers = await Promise.all(
    destinations.map(async ({ network, asset, payTo }, acceptIndex) => {
      const payload = {
        version: 1,
        resourceUrl: quote.resource,
        scheme: 'exact',
        network,
        asset: checksumAddress(asset),
        payTo: checksumAddress(payTo),
        amount: String(quote.price),
        validUntil,
      };
      return { format: 'jws', acceptIndex, signature: await signer.sign(kid, payload, named) };
    }),
  );
  return { info: { offers }, schema: EXTENSION_SCHEMA };
}
