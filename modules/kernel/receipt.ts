/** Receipts as x402 has them (extension `offer-receipt`), and the names they are signed in (did:web). Pure. */

/** What a receipt says: who paid for which resource, on which network, when and by which transaction. */
export interface ReceiptPayload {
  readonly version: 1;
  /** CAIP-2 id. */
  readonly network: string;
  readonly resourceUrl: string;
  readonly payer: string;
  /** Seconds. */
  readonly issuedAt: number;
  /** Absent where the rail names none. */
  readonly transaction?: string;
}

/** What is bought: a page at its site, or a licence at ours. */
export interface Bought {
  readonly purpose: 'page' | 'licence';
  /** The URL that was priced. */
  readonly resource: string;
}

/** The URL of the resource that was paid, as its offer named it. */
export function resourceOf({ purpose, resource }: Bought, baseUrl: string): string {
  return purpose === 'licence' ? `${baseUrl}/_svc/licenses` : resource;
}

/** The same for everybody to see: without the query, in which a site may have put whose visit it was. */
export function publicResourceOf(bought: Bought, baseUrl: string): string {
  const url = new URL(resourceOf(bought, baseUrl));
  url.search = '';
  url.hash = '';
  return url.href;
}

/** Where the record of a payment is for everybody; its id is the payment's. */
export function recordUrl(baseUrl: string, paymentId: string): string {
  return `${baseUrl}/_svc/receipts/${paymentId}`;
}

/** The did:web of the server at the host, and port if it is not the usual one, of a URL. */
export function didOf(url: string): string {
  return `did:web:${encodeURIComponent(new URL(url).host)}`;
}

/** The document that a did:web leads to: these keys sign what is said in its name. */
export function didDocument(did: string, keys: readonly { readonly kid: string }[]): Readonly<Record<string, unknown>> {
  const ids = keys.map(({ kid }) => `${did}#${kid}`);
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id: did,
    verificationMethod: keys.map((publicKeyJwk, index) => ({
      id: ids[index],
      type: 'JsonWebKey2020',
      controller: did,
      publicKeyJwk,
    })),
    assertionMethod: ids,
  };
}
