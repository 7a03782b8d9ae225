/**
 * What of an offer travels in the header PAYMENT-REQUIRED. The same rule is in the publisher's package (`core/fitOffer.ts`) and in the WordPress
 * plugin (`class-offer-fit.php`), which put the reason of a refusal into an offer; one table of cases drives all three.
 */

/** An x402 v2 offer; its extensions stand in the order of their use. */
export interface V2Offer {
  readonly resource: { readonly url: string; readonly description?: string };
  readonly accepts: readonly object[];
  readonly extensions?: Readonly<Record<string, object>>;
  readonly [member: string]: unknown;
}

/** Most bytes of the JSON in PAYMENT-REQUIRED as the service makes it: 2,000 characters of base64, with the digits that a gate adds to a nonce. */
export const MOST_OFFER_BYTES = 1_480;
/** Up to which extensions are added: behind it is room for networks, long URLs and the header Link, which names the terms. */
const MOST_EXTENDED_BYTES = 1_380;
/** Most bytes that a description or a reason has in a header; the body has all of it. */
export const MOST_TEXT_BYTES = 120;
/** Longest URL of a page that is sold, in characters as encoded. */
export const MOST_PAGE_URL_CHARS = 512;

/**
 * The offer with as much in it as `mostBytes` of JSON hold. What a client needs to pay stays: the resource and the first entry of `accepts`. Where
 * even these are too long, the description goes first and then entries of `accepts`, the last first; of the extensions those stay, in their order,
 * that still fit into 1,380 bytes.
 */
export function fitOffer(offer: V2Offer, mostBytes: number): V2Offer {
  const { extensions = {}, ...core } = offer;
  let fitted: V2Offer = { ...core, extensions: {} };
  if (bytesOf(fitted) > mostBytes) {
    const { description: _description, ...resource } = fitted.resource;
    fitted = { ...fitted, resource };
  }
  while (bytesOf(fitted) > mostBytes && fitted.accepts.length > 1) fitted = { ...fitted, accepts: fitted.accepts.slice(0, -1) };
  let left = Math.min(mostBytes, MOST_EXTENDED_BYTES) - bytesOf(fitted);
  const kept: Record<string, object> = {};
  for (const [name, extension] of Object.entries(extensions)) {
    // Its name, a colon and a comma.
    const bytes = bytesOf(name) + bytesOf(extension) + 2;
    if (bytes > left) continue;
    kept[name] = extension;
    left -= bytes;
  }
  return { ...fitted, extensions: kept };
}

/** The beginning of a text that has at most 120 bytes as JSON, whole characters alone. */
export function clipText(text: string): string {
  if (bytesOf(text) - 2 <= MOST_TEXT_BYTES) return text;
  let clipped = '';
  let left = MOST_TEXT_BYTES - 3;
  for (const character of text) {
    left -= bytesOf(character) - 2;
    if (left < 0) break;
    clipped += character;
  }
  return `${clipped}...`;
}

const ENCODER = new TextEncoder();

function bytesOf(value: unknown): number {
  return ENCODER.encode(JSON.stringify(value)).length;
}
