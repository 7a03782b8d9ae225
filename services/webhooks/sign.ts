import { createHmac } from 'node:crypto';
import {
  signatureHeader,
  signedText,
  standardKeyText,
  standardSignatureHeader,
  standardSignedText,
} from '../../domain/webhook/signature.ts';

/**
 * The signature headers of one attempt: ours and those of Standard Webhooks beside them. `secrets` are whole (`whsec_…`), the
 * newest first; each signs. Our key is the UTF-8 bytes of the whole text, theirs the decoded base64 part (decisions §4).
 */
export function signHeaders(
  deliveryId: string,
  body: string,
  secrets: readonly string[],
  timeSeconds: number,
): Readonly<Record<string, string>> {
  const own = secrets.map((secret) => createHmac('sha256', secret).update(signedText(timeSeconds, body)).digest('hex'));
  const standard = secrets.map((secret) =>
    createHmac('sha256', Buffer.from(standardKeyText(secret), 'base64'))
      .update(standardSignedText(deliveryId, timeSeconds, body))
      .digest('base64'),
  );
  return {
    'svc-signature': signatureHeader(timeSeconds, own),
    'webhook-id': deliveryId,
    'webhook-timestamp': String(timeSeconds),
    'webhook-signature': standardSignatureHeader(standard),
  };
}
