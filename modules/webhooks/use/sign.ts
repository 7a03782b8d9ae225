import type { KeyObject } from 'node:crypto';
import { createHmac, createSecretKey } from 'node:crypto';
import { signatureHeader, signedText, standardKeyText, standardSignatureHeader, standardSignedText } from '../rules/signature.ts';

/** A secret as the keys of both signatures. */
export interface SigningKey {
  /** Of `Svc-Signature`: the UTF-8 bytes of the whole text. */
  readonly own: KeyObject;
  /** Of Standard Webhooks: the decoded base64 part. */
  readonly standard: KeyObject;
}

/** The keys of a whole secret (`whsec_…`). Making them costs more than signing with them. */
export function signingKeyOf(secret: string): SigningKey {
  return {
    own: createSecretKey(secret, 'utf8'),
    standard: createSecretKey(standardKeyText(secret), 'base64'),
  };
}

/**
 * The signature headers of one attempt: ours and those of Standard Webhooks beside them. `keys` are of the endpoint's secrets,
 * the newest first; each signs.
 */
export function signHeaders(
  deliveryId: string,
  body: string,
  keys: readonly SigningKey[],
  timeSeconds: number,
): Readonly<Record<string, string>> {
  const [ownText, standardText] = [signedText(timeSeconds, body), standardSignedText(deliveryId, timeSeconds, body)];
  const own = keys.map((key) => createHmac('sha256', key.own).update(ownText).digest('hex'));
  const standard = keys.map((key) => createHmac('sha256', key.standard).update(standardText).digest('base64'));
  return {
    'svc-signature': signatureHeader(timeSeconds, own),
    'webhook-id': deliveryId,
    'webhook-timestamp': String(timeSeconds),
    'webhook-signature': standardSignatureHeader(standard),
  };
}
