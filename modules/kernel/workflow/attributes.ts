/**
 * Search attributes: what an operator finds workflows by in Temporal's UI. They are registered with the namespace
 * (`platform/temporal/namespace.ts`); a workflow that names one which is not registered is refused.
 */
export const SEARCH_ATTRIBUTES = {
  /** CAIP-2 name of a chain. */
  Network: 'KEYWORD',
  /** Sites concerned, as `siteKey` writes them. */
  SiteIds: 'KEYWORD_LIST',
  /** Payments concerned, up to the fiftieth; whole ids, to be pasted. */
  PaymentIds: 'KEYWORD_LIST',
  /** The others. */
  PaymentIds2: 'KEYWORD_LIST',
  /** The transaction that was mined, before it the one that was signed last. */
  TxHash: 'KEYWORD',
  /** Where the work stands, in one word; each workflow says which. */
  Outcome: 'KEYWORD',
  /** A buyer's account. */
  AccountId: 'KEYWORD',
  Host: 'KEYWORD',
  /** A webhook receiver. */
  EndpointId: 'KEYWORD',
} as const;

type Types = typeof SEARCH_ATTRIBUTES;
type Name = keyof Types;

/** Values of search attributes by name; null takes one away. */
export type Attributes = { readonly [N in Name]?: Value<N> | null };
type Value<N extends Name> = Types[N] extends 'KEYWORD' ? string : readonly string[];

/** An attribute as Temporal's SDK takes it, at a start and later. */
export type AttributePair =
  | { key: { name: string; type: 'KEYWORD' }; value: string }
  | { key: { name: string; type: 'KEYWORD_LIST' }; value: string[] };

/** The attributes that have a value, as pairs. */
export function pairsOf(attributes: Attributes): AttributePair[] {
  return (Object.keys(attributes) as Name[]).flatMap((name): AttributePair[] => {
    const value = attributes[name];
    if (value === null || value === undefined) return [];
    if (typeof value === 'string') return [{ key: { name, type: 'KEYWORD' }, value }];
    return [{ key: { name, type: 'KEYWORD_LIST' }, value: [...value] }];
  });
}

/** Temporal takes 2,048 bytes a value: fifty ids of 36 characters. */
const IDS_A_LIST = 50;

/**
 * How a site is written in `SiteIds`: the first two groups of its id, so that all sites of a batch of a hundred payments fit into one value
 * (2,048 bytes). 48 bits tell sites apart.
 */
export function siteKey(tenantId: string): string {
  return tenantId.slice(0, 13);
}

/** The attributes of up to a hundred payments of one network. */
export function paymentAttributes(
  network: string,
  payments: readonly { readonly tenantId: string; readonly paymentId: string }[],
): Attributes {
  const ids = payments.map(({ paymentId }) => paymentId);
  return {
    Network: network,
    SiteIds: [...new Set(payments.map(({ tenantId }) => siteKey(tenantId)))],
    PaymentIds: ids.slice(0, IDS_A_LIST),
    ...(ids.length > IDS_A_LIST && { PaymentIds2: ids.slice(IDS_A_LIST) }),
  };
}

/** Finds every workflow that concerns a payment, in Temporal's UI, its CLI and its API. */
export function paymentQuery(paymentId: string): string {
  return `PaymentIds = '${paymentId}' OR PaymentIds2 = '${paymentId}'`;
}

/** Finds the workflow of a host of a site. */
export function hostQuery(tenantId: string, host: string): string {
  return `Host = '${host}' AND SiteIds = '${siteKey(tenantId)}'`;
}

/** Finds the workflows of a webhook receiver, each of a time at which it did not answer. */
export function endpointQuery(endpointId: string): string {
  return `EndpointId = '${endpointId}'`;
}
