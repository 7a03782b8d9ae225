/**
 * True for an authorization whose nonce was used before its payment had a row: it did not pay us, so that nobody buys with what the
 * calldata of another sale shows (safety 2). Null, for a test key's payment, is unused: no money moves for it. Pure.
 */
export function wasUsedBefore(look: { readonly used: boolean } | null): boolean {
  return look?.used === true;
}
