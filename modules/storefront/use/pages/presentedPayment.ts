/** What a caller presented as payment, wherever it may stand: one authorization, or a reason why none can be taken. */
import type { Networks } from '../../../../platform/chain/network.ts';
import type { ParsedPayment } from '../../../kernel/x402/payload.ts';
import { parsePayment } from '../../../kernel/x402/payload.ts';
import type { Refusal } from '../../../settlement/use/answer/refuse.ts';

/** The payment that all places carry, as the first of them has it; or why it is refused, with what could be read of it. */
export type PresentedPayment =
  | { readonly ok: true; readonly text: string; readonly payment: ParsedPayment }
  | { readonly ok: false; readonly refusal: Refusal; readonly read: ParsedPayment | null };

/**
 * Reads the places in which a caller may put its payment (two headers; in MCP the call besides). Several that carry one authorization are one
 * payment; two authorizations are refused, since nobody can know which of them is meant. Throws RangeError for no place at all.
 */
export function readPresented(networks: Pick<Networks, 'findForPayment'>, texts: readonly string[]): PresentedPayment {
  const [first, ...others] = texts.map(parsePayment);
  const [text] = texts;
  if (!first || text === undefined) throw new RangeError('a payment was counted that is not there');
  if (!first.ok) return { ok: false, refusal: { ...first, sentence: first.detail }, read: null };
  const { payment } = first;
  const networkOf = (one: ParsedPayment): string | undefined => networks.findForPayment(one)?.id;
  const isSame = (one: ParsedPayment): boolean => bytesOf(one) === bytesOf(payment) && networkOf(one) === networkOf(payment);
  if (others.every((other) => other.ok && isSame(other.payment))) return { ok: true, text, payment };
  const sentence = 'two different payments came with this call (PAYMENT-SIGNATURE, X-PAYMENT, _meta); send one';
  return { ok: false, refusal: { reason: 'authorization_invalid', raw: 'conflicting_headers', sentence }, read: payment };
}

/** What an authorization says; its network is no part of it. */
function bytesOf({ authorization: { from, to, value, validAfter, validBefore, nonce } }: ParsedPayment): string {
  return [from, to, value, validAfter, validBefore, nonce].join(' ');
}
