import type { Host } from '../hosts/documents.ts';

/** How far the set-up of a site is: everything that a step looks at, in one question. */
export const SETUP_DOCUMENT = `query setup($tenantId: ID, $window: WindowInput) {
  tenant(tenantId: $tenantId) {
    status plan priceUsdc citationMultiplier articlePrefixes creditsApiUrl creditsInline
    defaultPayee { authorId wallet }
    hosts(first: 20) {
      nodes {
        host verifiedAt routingVerifiedAt checkedAt nextCheckAt failingSince lastReason
        challenge { method present { name value } }
        enforcement { mode nextAction attention recordToFix }
      }
    }
    keys(first: 20, active: true) { nodes { keyId name prefix last4 scopes lastUsedAt } }
    auditLog(first: 1, filter: { action: "page.test" }) { nodes { at target after } }
    earnings(window: $window) { totals { events grossMicro } }
  }
}`;

/** Adds a site with the challenge of its first host. */
export const CREATE_SITE_DOCUMENT = `mutation createSite($host: String!, $method: ProofMethod) {
  createSite(input: { host: $host, method: $method }) {
    ... on CreateSitePayload { tenantId host }
    ... on Refusal { code message }
  }
}`;

/** Sets what a read costs, and where articles are. */
export const SET_PRICE_DOCUMENT = `mutation setPrice($tenantId: ID, $priceUsdc: String, $prefixes: [String!]) {
  setArticlePrefixes(input: { tenantId: $tenantId, prefixes: $prefixes }) {
    ... on SetArticlePrefixesPayload { version }
    ... on Refusal { code message }
  }
  setPrices(input: { tenantId: $tenantId, priceUsdc: $priceUsdc }) {
    ... on SetPricesPayload { version }
    ... on Refusal { code message }
  }
}`;

/** Names who is paid for pages that name nobody. */
export const SET_PAYEE_DOCUMENT = `mutation setPayee($tenantId: ID, $payee: DefaultPayeeInput) {
  setPrices(input: { tenantId: $tenantId, defaultPayee: $payee }) {
    ... on SetPricesPayload { version }
    ... on Refusal { code message }
  }
}`;

/** Says who wrote one page. */
export const SET_CREDITS_DOCUMENT = `mutation setCredits($tenantId: ID, $slug: String!, $credits: CreditsInput!) {
  setPageCredits(input: { tenantId: $tenantId, slug: $slug, credits: $credits }) {
    ... on SetPageCreditsPayload { version }
    ... on Refusal { code message }
  }
}`;

/** Plays the sale of a page without money. */
export const TEST_PURCHASE_DOCUMENT = `mutation testPurchase($tenantId: ID, $slug: String!) {
  testPurchase(input: { tenantId: $tenantId, slug: $slug }) {
    ... on TestPurchasePayload { passed resource priceMicro steps { step passed says } }
    ... on Refusal { code message }
  }
}`;

/** The answer of `SETUP_DOCUMENT`. */
export interface SetupAnswer {
  readonly tenant: SetupSite;
}

/** A site as its set-up sees it. */
export interface SetupSite {
  readonly status: string;
  readonly plan: string | null;
  readonly priceUsdc: string;
  readonly citationMultiplier: string | null;
  readonly articlePrefixes: readonly string[] | null;
  readonly creditsApiUrl: string | null;
  /** JSON of pages by slug. */
  readonly creditsInline: string | null;
  readonly defaultPayee: { readonly authorId: string; readonly wallet: string } | null;
  readonly hosts: { readonly nodes: readonly Host[] };
  readonly keys: { readonly nodes: readonly ActiveKey[] };
  readonly auditLog: {
    readonly nodes: readonly { readonly at: number; readonly target: string | null; readonly after: string | null }[];
  };
  readonly earnings: { readonly totals: { readonly events: number; readonly grossMicro: string } };
}

/** A key that works. */
interface ActiveKey {
  readonly keyId: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly scopes: readonly string[];
  readonly lastUsedAt: number | null;
}

/** What a test purchase came to. */
export interface Played {
  readonly passed: boolean;
  readonly resource: string | null;
  readonly priceMicro: string | null;
  readonly steps: readonly { readonly step: string; readonly passed: boolean | null; readonly says: string }[];
}
