import type { BatchItem } from '../../chain/calldata.ts';
import type { Payment } from '../../db/settlement/payment.ts';

/** A stored payment as the chain layer sends it. */
export function batchItem(payment: Payment): BatchItem {
  return {
    paymentId: payment.paymentId,
    authorization: {
      from: payment.payer,
      to: payment.payTo,
      value: payment.amountMicro,
      validAfter: payment.validAfter,
      validBefore: payment.validBefore,
      nonce: payment.nonce,
    },
    signature: payment.signature,
    payTo: payment.payTo,
    words: payment.legWords,
    lane: payment.lane,
  };
}
