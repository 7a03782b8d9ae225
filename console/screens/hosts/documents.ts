/** What is asked about hosts, and what is changed. */

/** Every host of the site. */
export const HOSTS_DOCUMENT = `query hosts($tenantId: ID, $after: String) {
  tenant(tenantId: $tenantId) {
    hosts(first: 50, after: $after) {
      nodes {
        host verifiedAt routingVerifiedAt checkedAt nextCheckAt failingSince lastReason
        challenge { method present { name value } }
        enforcement { mode nextAction attention recordToFix }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}`;

/** Opens a challenge, or says it anew under another method. */
export const OPEN_HOST_DOCUMENT = `mutation openHost($tenantId: ID, $host: String!, $method: ProofMethod) {
  openHost(input: { tenantId: $tenantId, host: $host, method: $method }) {
    ... on OpenHostPayload { host present { name value } }
    ... on Refusal { code message }
  }
}`;

/** Looks at a host now. */
export const CHECK_HOST_DOCUMENT = `mutation checkHost($tenantId: ID, $host: String!) {
  checkHost(input: { tenantId: $tenantId, host: $host }) {
    ... on CheckHostPayload { host verified reason }
    ... on Refusal { code message }
  }
}`;

/** Takes a host away from the site. */
export const REMOVE_HOST_DOCUMENT = `mutation removeHost($tenantId: ID, $host: String!) {
  removeHost(input: { tenantId: $tenantId, host: $host }) {
    ... on RemoveHostPayload { host }
    ... on Refusal { code message }
  }
}`;

/** How a host is proven. */
export type ProofMethod = 'WELL_KNOWN' | 'META_TAG' | 'DNS_TXT';

/** One fact of what to show. */
export interface Present {
  readonly name: string;
  readonly value: string;
}

/** A host as the screens read it. */
export interface Host {
  readonly host: string;
  readonly verifiedAt: number | null;
  readonly routingVerifiedAt: number | null;
  readonly checkedAt: number | null;
  readonly nextCheckAt: number | null;
  readonly failingSince: number | null;
  readonly lastReason: string | null;
  readonly challenge: { readonly method: ProofMethod; readonly present: readonly Present[] } | null;
  readonly enforcement: {
    readonly mode: string;
    readonly nextAction: string;
    readonly attention: boolean;
    readonly recordToFix: string | null;
  } | null;
}
