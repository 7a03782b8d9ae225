/** Offers and settled sales at every size that is sold, made by the service's own rules without a service. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { declareAtPage } from '../../modules/identity/use/accounts/declare.ts';
import { buildResource } from '../../modules/kernel/hosts/host.ts';
import type { ReReadFacts } from '../../modules/kernel/licence/licence.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { mintReReadLicence } from '../../modules/licences/use/mint.ts';
import { compilePricing } from '../../modules/pricing/rules/pricing.ts';
import { prepareQuote } from '../../modules/quotes/use/issue.ts';
import { buildPageOffer } from '../../modules/quotes/use/offers/page.ts';
import { signOffers } from '../../modules/receipts/use/offers.ts';
import { encodePaidResponse } from '../../modules/settlement/use/answer/receipt.ts';
import { signReceipt } from '../../modules/settlement/use/answer/signReceipt.ts';
import type { Quote } from '../../packages/publisher/src/client.ts';
import { PRESETS } from '../../platform/chain/presets.ts';
import { routerAddress } from '../../platform/chain/router/split.ts';
import type { LicenceSigner } from '../../platform/tokens/jws.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { pricingOf } from './rules/arbitrary.ts';

const BASE_URL = 'https://api.a-service-for-many-publishers.example';
const NOW_MS = 1_790_000_000_000;
const PAYMENT = '0a1b2c3d-0000-4000-8000-000000000000';
const KID = 'k'.repeat(43);
const { privateKey } = generateKeyPairSync('ed25519');
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signer: LicenceSigner = {
  current: () => ({ kid: KID }),
  sign: (kid, claims, named = { kid, typ: 'JWT' }) => {
    const text = `${encoded({ alg: 'EdDSA', ...named })}.${encoded(claims)}`;
    return Promise.resolve(`${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`);
  },
};
const wallet = (at: number): Address => `0x${(0xa000 + at).toString(16).padStart(40, '0')}`;

/** What makes an offer and its sale long. */
export interface LongCase {
  readonly authors: number;
  readonly host: string;
  /** Characters of the page's URL. */
  readonly urlChars: number;
  readonly title: string;
  readonly networks: number;
}

const label = 'a'.repeat(60);
const HOSTS = ['news.example', `${label}.${label}.${label}.${label}.example`];
const TITLES = ['A title', '“長い題名” 🜁 '.repeat(60).slice(0, 500)];
/** 1, 3 and 50 authors, hosts, URLs and titles short and at their longest, one network and four. */
export const LONG_CASES: readonly LongCase[] = [1, 3, 50].flatMap((authors) =>
  HOSTS.flatMap((host) =>
    [host.length + 25, 512].flatMap((urlChars) =>
      TITLES.flatMap((title) => [1, 4].map((networks) => ({ authors, host, urlChars, title, networks }))),
    ),
  ),
);

/** The slug of a case: of the page's URL it is what `/articles/` leaves. */
export function slugOf({ host, urlChars }: LongCase): string {
  return 's'.repeat(urlChars - `https://${host}/articles/`.length);
}

/** The quote of a page as the publisher's package has it from the wire, with every extension on. Throws what quoting throws. */
export async function longQuote(one: LongCase, isSigned = true): Promise<Quote> {
  const slug = slugOf(one);
  const contributors = Array.from({ length: one.authors }, (_, at) => ({
    authorId: `author-${at}`,
    wallet: wallet(at),
    weight: at + 1,
  }));
  const pricing = compilePricing(
    pricingOf({ articlePrefixes: ['/articles/'], creditsInline: { [slug]: { title: one.title, contributors } } as never }),
    1n,
  );
  const networks = Object.entries(PRESETS)
    .slice(0, one.networks)
    .map(([id, preset]) => ({ id, ...preset, rpcUrls: ['http://127.0.0.1:1'], router: routerAddress }));
  const asker = { operator: null, category: null, terms: [] };
  const page = {
    pricing,
    resource: buildResource(one.host, `/articles/${slug}`),
    slug,
    kind: 'read' as const,
    asker,
    atMs: NOW_MS,
  };
  const { found } = prepareQuote(
    { credits: { find: () => undefined, findPrevious: () => undefined, load: () => Promise.resolve() } },
    { tenantId: PAYMENT, networks },
    page,
  );
  if (typeof found === 'string') throw new Error(found);
  const deps = {
    baseUrl: BASE_URL,
    clock: () => NOW_MS,
    quoteTokenSecrets: ['s'.repeat(32)],
    pepper: pepperOf({ apiKeyPepper: 'p'.repeat(32) }),
    signer,
  };
  const quote = { ...found.base, issuedAt: NOW_MS, expiresAt: NOW_MS + 600_000, quoteId: PAYMENT, quoteToken: 't' };
  const facts = { quote, terms: found.terms, destinations: found.destinations };
  const extensions = {
    ...(isSigned ? { 'offer-receipt': await signOffers(deps, facts, 'host') } : {}),
    'sign-in-with-x': declareAtPage(deps, facts),
  };
  const x402 = buildPageOffer(deps, facts, { extensions });
  return JSON.parse(JSON.stringify({ ...quote, x402 })) as Quote;
}

/** What a settled sale of the page puts into headers, for a site whose licences' issuer is as long as an issuer may be. */
export async function longSale(
  one: LongCase,
  x402Version: 1 | 2,
): Promise<{ readonly licence: string; readonly response: string }> {
  const slug = slugOf(one);
  const payer = wallet(0);
  const [network, transaction] = ['eip155:84532', `0x${'f'.repeat(64)}`];
  const facts: ReReadFacts = {
    ...{
      issuer: `https://issuer.example/${'i'.repeat(232)}`,
      tenantId: PAYMENT,
      host: one.host,
      slug,
      kind: 'citation',
      payer,
      network,
    },
    ...{ amountMicro: 999_999_999_999n, settlementRef: transaction, settlementRefKind: 'txHash', jti: PAYMENT, kid: KID },
    payees: Array.from({ length: one.authors }, (_, at) => ({ toAddress: wallet(at), amountMicro: 1_000_000n })),
    issuedAtSeconds: NOW_MS / 1_000,
    expiresAtSeconds: NOW_MS / 1_000 + 600,
  };
  const licence = await mintReReadLicence(signer, facts);
  const bought = { purpose: 'page' as const, resource: `https://${one.host}/articles/${slug}` };
  const named = { ...bought, paymentId: PAYMENT, network, payer, issuedAtSeconds: NOW_MS / 1_000, transaction, kid: KID };
  const receipt = await signReceipt({ signer, baseUrl: BASE_URL }, { ...named, name: 'host' });
  const response = {
    success: true,
    transaction,
    network: x402Version === 1 ? 'base-sepolia' : network,
    payer,
    amount: '999999999999',
  };
  return { licence, response: encodePaidResponse(response, x402Version === 2 ? receipt : undefined, licence) };
}

/** The longest settlement response of a refused payment. */
export const LONG_REFUSAL = Buffer.from(
  JSON.stringify({
    success: false,
    errorReason: 'r'.repeat(100),
    transaction: `0x${'f'.repeat(64)}`,
    network: 'eip155:84532',
    payer: wallet(0),
  }),
).toString('base64');

/** Bytes of headers as HTTP/1.1 writes them. */
export function bytesOfHeaders(headers: Readonly<Record<string, string>>): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + Buffer.byteLength(`${name}: ${value}\r\n`), 0);
}
