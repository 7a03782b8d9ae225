/** What a gate answers to who has not paid, made by the service's own builder of offers. */
import { buildOffer } from '../../modules/quotes/use/offers/build.ts';

const [PAY_TO, ASSET, ROUTER] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`, `0x${'c3'.repeat(20)}`] as const;

/** Header and body of the 402 of a page. `extensions` stand before the legs, and take their room in the header. */
export function gateOffer(
  resource: string,
  extensions: Readonly<Record<string, object>> = {},
): { readonly headers: { readonly 'payment-required': string; readonly 'content-type': string }; readonly body: string } {
  const network = { network: 'eip155:84532', v1Name: 'base-sepolia', extra: { name: 'USDC', version: '2' } };
  const { header, body } = buildOffer(
    {
      quote: { price: 3_000, title: 'Page', slug: 'page', resource, maxTimeoutSeconds: 300 },
      terms: { payTo: PAY_TO, legWords: null },
      destinations: [{ ...network, payTo: PAY_TO, asset: ASSET, router: ROUTER }],
    },
    { extensions },
  );
  return { headers: { 'payment-required': header, 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
