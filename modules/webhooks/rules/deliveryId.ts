const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * `dlv_` and a ULID: 48 bits of time, 80 bits of `random` (at least 10 bytes), Crockford base 32, so that ids sort by time.
 * Throws RangeError for too few bytes or a time outside 0 … 2^48 - 1.
 */
export function buildDeliveryId(timeMs: number, random: Uint8Array): string {
  if (random.length < 10) throw new RangeError('a ULID takes 10 random bytes');
  if (!Number.isInteger(timeMs) || timeMs < 0 || timeMs >= 2 ** 48) throw new RangeError('a ULID takes 48 bits of time');
  let value = BigInt(timeMs);
  for (const byte of random.subarray(0, 10)) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let place = 0; place < 26; place++) {
    text = `${ALPHABET.charAt(Number(value & 31n))}${text}`;
    value >>= 5n;
  }
  return `dlv_${text}`;
}
