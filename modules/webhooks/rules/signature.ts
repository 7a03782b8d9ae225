/** The texts that are signed and the headers that carry the signatures; the HMAC itself is the caller's. */

/** What a secret looks like: shown once as `whsec_` and base64. */
export const SECRET_PREFIX = 'whsec_';

/** The text of `Svc-Signature`: `<t>.<rawBody>`, t in Unix seconds. */
export function signedText(timeSeconds: number, body: string): string {
  return `${timeSeconds}.${body}`;
}

/** `t=<unix-seconds>,v1=<hex>`, one v1 for each valid secret, the newest first. */
export function signatureHeader(timeSeconds: number, hexDigests: readonly string[]): string {
  return [`t=${timeSeconds}`, ...hexDigests.map((hex) => `v1=${hex}`)].join(',');
}

/** The text of `webhook-signature`: `<id>.<timestamp>.<body>` (Standard Webhooks 1.0). */
export function standardSignedText(deliveryId: string, timeSeconds: number, body: string): string {
  return `${deliveryId}.${timeSeconds}.${body}`;
}

/** `v1,<base64>`, separated by spaces, one for each valid secret (Standard Webhooks 1.0). */
export function standardSignatureHeader(base64Digests: readonly string[]): string {
  return base64Digests.map((base64) => `v1,${base64}`).join(' ');
}

/** The part of a secret that Standard Webhooks takes, base64-decoded, as its key. */
export function standardKeyText(secret: string): string {
  return secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
}
