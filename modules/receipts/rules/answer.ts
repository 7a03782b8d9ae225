/** How the answer to a page's payment went: the words of its site, and that of its buyer. Pure. */

/** A page by its hash: SHA-256 in hex of its bytes without their content coding, and how many these are. */
export interface PageHash {
  readonly sha256: string;
  readonly bytes: number;
}

/** What was said of it; times in epoch milliseconds. */
export interface PageAnswer {
  /** What the site says that it sent first. */
  readonly body: PageHash | null;
  /** What it says that it sent when it served the page again, where that had changed. */
  readonly bodyAgain: PageHash | null;
  /** Whether the site said anything of how its answers ended. */
  readonly isTold: boolean;
  /** How the newest answer ended. */
  readonly outcome: 'delivered' | 'lost' | null;
  /** When an answer was lost for the first time. */
  readonly lostAtMs: number | null;
  /** Answers after the first one. */
  readonly servedAgain: number;
  /** What the buyer says it holds, with the wallet's signature of `heldMessage`. */
  readonly held: { readonly sha256: string; readonly signature: string; readonly atMs: number } | null;
}

/** The sentence by which a buyer says which page it holds of a payment, signed by the wallet that paid (EIP-191): its id names one record. */
export function heldMessage(receiptId: string, sha256: string): string {
  return `I hold the page of the receipt ${receiptId} with the SHA-256 ${sha256}. This signature moves no money.`;
}

/** True where the buyer holds what the site says that it sent, first or again; null where the site did not say. */
export function isAsSent({ body, bodyAgain }: Pick<PageAnswer, 'body' | 'bodyAgain'>, sha256: string): boolean | null {
  return body === null ? null : [body.sha256, bodyAgain?.sha256].includes(sha256);
}
