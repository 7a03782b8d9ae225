import type { BatchItem } from '../../../../platform/chain/calls/calldata.ts';
import type { Payment } from '../../store/payment.ts';

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
    payerKind: payment.payerKind,
  };
}

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const WORD = /^0x[0-9a-f]{64}$/i;
const BYTES = /^0x([0-9a-f]{2})+$/i;

/** True when every part of a stored payment that goes into calldata can be written there; what was taken in by this code always can. */
export function isReadable({ payer, payTo, router, nonce, signature, legWords }: Payment): boolean {
  const areWords = legWords === null || (legWords.length > 0 && legWords.every((word) => WORD.test(word)));
  return (
    [payer, payTo, router].every((address) => ADDRESS.test(address)) && WORD.test(nonce) && BYTES.test(signature) && areWords
  );
}
