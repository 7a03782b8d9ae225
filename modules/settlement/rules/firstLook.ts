/**
 * True for an authorization whose nonce was used before its payment had a row: it did not pay us, so that nobody buys with what the
 * calldata of another sale shows (safety 2). Null, for a test key's payment, is unused: no money moves for it. Pure.
 */
export function wasUsedBefore(look: { readonly used: boolean } | null): boolean {
  return look?.used === true;
}

/**
 * For so long after `admin recover` found it on the chain, an authorization that our own transaction carried before a restore lost its row is
 * taken for a purchase of its recipient and value. Its signature is public by then: the first to present it gets one page, at a site that sold
 * under this recipient; a licence only the account of the payer's wallet (modules/settlement/store/lostSettlements.ts).
 */
export const LOST_HONOURED_HOURS = 24;
