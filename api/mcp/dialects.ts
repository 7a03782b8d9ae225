/**
 * The ways in which clients of MCP are told to pay, and pay. One offer is told in all of them at once, since a client reads its own and passes over
 * the others: the x402 specification's (the result itself), Cloudflare's (`_meta["x402/error"]`), and, only to a client that says it knows it, the
 * extension `org.x402/payment`. A payment is read wherever one of them puts it.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ServiceError, SpendingDetails } from '../../modules/kernel/errors.ts';
import { microToJson } from '../../modules/kernel/money/money.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import type { ToolCall } from './tool.ts';

const PAYMENT = 'x402/payment';
const PAYMENT_RESPONSE = 'x402/payment-response';
const OFFER = 'x402/error';
const BINDING = 'org.x402/payment';
const PAYMENT_HEADERS = ['payment-signature', 'x-payment'];

/** Every place of a call that may carry a payment, as text: an object of the message as JSON, base64 as it came, the two headers. */
export function paymentsOf({ meta, header }: Pick<ToolCall, 'meta' | 'header'>): readonly string[] {
  const sent = Object.hasOwn(meta, PAYMENT) ? meta[PAYMENT] : undefined;
  const ofMessage = sent === undefined || sent === null ? [] : [typeof sent === 'string' ? sent : JSON.stringify(sent)];
  return [...ofMessage, ...PAYMENT_HEADERS.flatMap((name) => header(name) ?? [])];
}

/**
 * The offer that stands in the value of PAYMENT-REQUIRED, in every dialect the client may read. All of its text is ASCII: stock clients echo it by
 * `btoa`, which throws at a title beyond Latin-1.
 */
export function offerResult(
  { extensions }: Pick<ToolCall, 'extensions'>,
  header: string,
  refusal?: PaymentError,
): CallToolResult {
  const offer = asciiOf(readHeader(header)) as Record<string, unknown>;
  if (refusal) Object.assign(offer, { error: refusal.text, next: refusal.next });
  const response = responseOf(refusal?.paymentResponse ?? null);
  const result: CallToolResult = {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify(offer) }],
    structuredContent: offer,
    _meta: { [OFFER]: offer, ...response },
  };
  return extensions.has(BINDING) ? { ...result, resultType: 'payment_required', paymentRequired: offer } : result;
}

/** A result of a payment that was made, with its settlement response. */
export function paidResult(result: CallToolResult, responseHeader: string): CallToolResult {
  return { ...result, _meta: { ...result._meta, ...responseOf(responseHeader) } };
}

/**
 * An error of the closed list: `code: sentence` for the model, its parts for programs. Where there is something to pay instead, it is the offer that
 * is told, by `offerResult`; what is undecided, or refused by a budget, says nothing that a client could pay.
 */
export function errorResult(error: ServiceError): CallToolResult {
  const { code, message, details } = error;
  const { signIn: _signIn, spending, ...told } = details;
  const response = responseOf(error instanceof PaymentError ? error.paymentResponse : null);
  return {
    isError: true,
    content: [{ type: 'text', text: error.text }],
    structuredContent: { error: code, message, ...told, next: error.next, ...(spending ? spendingBody(spending) : {}) },
    ...(Object.keys(response).length === 0 ? {} : { _meta: response }),
  };
}

/** What is in the way of a purchase by an account; amounts in micro-USDC. */
function spendingBody({ limit, limitMicro, spentMicro, periodEndsAtMs: periodEndsAt, approvalId }: SpendingDetails) {
  const asked = approvalId === null ? {} : { approvalId };
  return { limit, limitMicro: microToJson(limitMicro), spentMicro: microToJson(spentMicro), periodEndsAt, ...asked };
}

function responseOf(header: string | null): Record<string, unknown> {
  return header === null ? {} : { [PAYMENT_RESPONSE]: readHeader(header) };
}

function readHeader(value: string): unknown {
  return JSON.parse(Buffer.from(value, 'base64').toString('utf8'));
}

/** The same value with ASCII text only: letters lose their marks, and what has no letter in ASCII becomes `?`. */
export function asciiOf(value: unknown): unknown {
  if (typeof value === 'string') return asciiText(value);
  if (Array.isArray(value)) return value.map(asciiOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [asciiText(name), asciiOf(member)]));
}

function asciiText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]+/g, '?');
}
