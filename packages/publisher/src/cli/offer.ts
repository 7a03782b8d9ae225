/** What an offer says, as a buyer's client reads it, and decimals of USD, exactly. */

/** The parts of an offer that a buyer goes by. */
export interface ReadOffer {
  readonly resource: string | null;
  /** Amounts in micro-USDC of all entries of the version 2 header, then of the version 1 body. */
  readonly amountsMicro: readonly bigint[];
  readonly networks: readonly string[];
  readonly error: string | null;
}

/** An offer that can be paid, or what is wrong with it. */
export type OfferRead = { readonly ok: true; readonly offer: ReadOffer } | { readonly ok: false; readonly says: string };

/** Reads the header PAYMENT-REQUIRED, and the JSON body where there is one. */
export function readOffer(header: string | undefined, body: string): OfferRead {
  if (header === undefined) return { ok: false, says: 'it has no PAYMENT-REQUIRED header' };
  const v2 = parseJson(Buffer.from(header, 'base64').toString('utf8'));
  if (!isRecord(v2) || v2['x402Version'] !== 2)
    return { ok: false, says: 'its PAYMENT-REQUIRED header is not an x402 version 2 offer' };
  const entries = listOf(v2['accepts']);
  const isWhole = (entry: Readonly<Record<string, unknown>>): boolean =>
    microOf(entry['amount']) !== null &&
    [entry['payTo'], entry['network'], entry['asset']].every((part) => typeof part === 'string');
  if (entries.length === 0 || !entries.every(isWhole))
    return { ok: false, says: 'its offer names no amount, network or recipient' };
  const v1 = parseJson(body);
  const older = isRecord(v1) ? listOf(v1['accepts']) : [];
  const amounts = [...entries.map(({ amount }) => amount), ...older.map(({ maxAmountRequired }) => maxAmountRequired)];
  const { resource, error } = v2;
  return {
    ok: true,
    offer: {
      resource: isRecord(resource) && typeof resource['url'] === 'string' ? resource['url'] : null,
      amountsMicro: amounts.flatMap((amount) => microOf(amount) ?? []),
      networks: entries.map(({ network }) => String(network)),
      error: typeof error === 'string' ? error : null,
    },
  };
}

/** Micro-USDC of a plain decimal of USD with at most six places; null when it is not one. */
export function microOfUsd(text: string): bigint | null {
  const match = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text);
  return match ? BigInt(`${match[1]}${(match[2] ?? '').padEnd(6, '0')}`) : null;
}

/** JSON, or undefined for what is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for an object that is no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; none for what is no list. */
export function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function microOf(amount: unknown): bigint | null {
  return typeof amount === 'string' && /^\d{1,18}$/.test(amount) ? BigInt(amount) : null;
}
