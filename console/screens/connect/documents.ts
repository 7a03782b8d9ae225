/** What connecting a WordPress would change of a site. */
export const CONNECT_DOCUMENT = `query connect($tenantId: ID) {
  tenant(tenantId: $tenantId) {
    priceUsdc creditsApiUrl
    hosts(first: 20) { nodes { host verifiedAt } }
  }
}`;

/** Sets what a read costs, where it costs nothing yet. */
export const CONNECT_PRICE_DOCUMENT = `mutation connectPrice($tenantId: ID, $priceUsdc: String) {
  setPrices(input: { tenantId: $tenantId, priceUsdc: $priceUsdc }) {
    ... on SetPricesPayload { version }
    ... on Refusal { code message }
  }
}`;

/** The answer of `CONNECT_DOCUMENT`. */
export interface ConnectAnswer {
  readonly tenant: {
    readonly priceUsdc: string;
    readonly creditsApiUrl: string | null;
    readonly hosts: { readonly nodes: readonly { readonly host: string; readonly verifiedAt: number | null }[] };
  };
}
