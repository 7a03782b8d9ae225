/**
 * The headers of an answer to a payment that was tried: its settlement response under the name of both versions of x402. It is one
 * payer's alone, so that no shared cache keeps it; without one, no cache does.
 */
export function paymentResponseHeaders(response: string | null): Record<string, string> {
  if (response === null) return { 'cache-control': 'no-store' };
  return { 'cache-control': 'private, no-store', 'payment-response': response, 'x-payment-response': response };
}
