const DIGITS = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

/** When a payment got its id, by the id (UUID version 7), however true; null for an id of another version. */
export function timeOfPaymentId(paymentId: string): Date | null {
  const [, high = '', low = ''] = DIGITS.exec(paymentId) ?? [];
  return high === '' ? null : new Date(Number.parseInt(high + low, 16));
}
