/** Receipts, checked with the keys of the service that signed them. */
import { extractJWSHeader, verifyReceiptSignatureJWS } from '@x402/extensions/offer-receipt';
import { AgentError } from '../errors.ts';
import type { Service } from './service.ts';
import { askService } from './service.ts';

const MAX_LENGTH = 16_384;

/**
 * What a receipt says, when the service signed it; `receipt_invalid` otherwise. Keys come from the service alone: the key's address in a receipt is
 * the claim of its maker, and is not fetched.
 */
export async function checkReceipt(service: Service, jws: string): Promise<Readonly<Record<string, unknown>>> {
  if (jws.length > MAX_LENGTH || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jws)) throw invalid('It is no signed receipt.');
  const { keys } = await askService(service, '/.well-known/jwks.json');
  const key = Array.isArray(keys) ? keys.find((one: { kid?: unknown }) => isNamed(jws, one.kid)) : undefined;
  if (!key) throw invalid('No key of the service has its name.');
  const facts = await verifyReceiptSignatureJWS({ format: 'jws', signature: jws }, key).catch(() => null);
  // A licence is signed with the same keys, and is no receipt.
  if (facts === null || facts.version !== 1 || typeof facts.resourceUrl !== 'string')
    throw invalid('Its signature is wrong, or it is no receipt.');
  return { ...facts };
}

function isNamed(jws: string, kid: unknown): boolean {
  try {
    const named = String(extractJWSHeader(jws).kid);
    return typeof kid === 'string' && (named === kid || named.endsWith(`#${kid}`));
  } catch {
    return false;
  }
}

function invalid(why: string): AgentError {
  return new AgentError('receipt_invalid', `The receipt is not valid. ${why}`);
}
