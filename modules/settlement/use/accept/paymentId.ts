import { randomUUID } from 'node:crypto';

/**
 * A new id of a payment, UUID version 7: ids of one time stand beside one another in every index that begins with them, which then is written at
 * its end and not all over. The record of a payment is read by it (modules/receipts/use): its other 74 bits are random, so that nobody guesses one.
 */
export function newPaymentId(nowMs: number = Date.now()): string {
  const time = nowMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
