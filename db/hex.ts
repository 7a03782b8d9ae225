/** The chain's hex as Postgres stores it, in half the space (ADR 0052): the one place where one becomes the other. */

/** Hex as a value of a column of bytes, in a parameter or in JSON. Throws on what is no hex of whole bytes. */
export function bytesOf(hex: string): string {
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(hex)) throw new Error('not the hex of whole bytes');
  return `\\x${hex.slice(2)}`;
}

/** The same as bytes, for a row of the builder. */
export function bufferOf(hex: string): Buffer {
  return Buffer.from(bytesOf(hex).slice(2), 'hex');
}

/** Lower-case hex of a column of bytes, as pg gives it. */
export function hexOf(bytes: Uint8Array): `0x${string}` {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}
