/**
 * Another's x402 facilitator, version 2, by its HTTP interface: /supported, /settle, and the status of an id of its own. What it
 * says is read here and believed nowhere: a payment is decided by what the chain shows (safety 1, 3).
 */
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Authorization, Hex } from '../../modules/kernel/x402/payload.ts';
import type { Network } from './network.ts';
import { checksumAddress } from './offer.ts';

/** How requests leave the process: the service's only outgoing HTTP. */
export type Send = (request: {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}) => Promise<
  { readonly ok: true; readonly status: number; readonly body: Uint8Array } | { readonly ok: false; readonly reason: string }
>;

/** A payment to be handed over: one signed transfer. */
export interface HandedOver {
  readonly authorization: Authorization;
  readonly signature: Hex;
}

/**
 * What a facilitator said. `settled`: it names its reference; `refused`: nothing was or will be sent, by its own word; `unknown`:
 * no answer, a fault of its own, or an answer that says neither. `detail` is its code, for the record.
 */
export interface FacilitatorAnswer {
  readonly said: 'settled' | 'refused' | 'unknown';
  /** A transaction hash (0x and 64 digits, lower case) or an id of its own; null without one. */
  readonly reference: string | null;
  readonly detail: string;
  /** True when it did not let us in. */
  readonly lockedOut: boolean;
}

/** What became of an id of its own. */
export type TransferStatus = 'settled' | 'failed' | 'open';

/** A facilitator. */
export interface Facilitator {
  /** Throws an Error that says what is missing when it does not offer `exact` on the network; null when it cannot be reached. */
  checkSupport(network: Pick<Network, 'id'>): Promise<true | null>;
  /** Asks it to settle; never throws. The same payment may be handed over any number of times: its nonce settles once. */
  settle(network: Network, payment: HandedOver): Promise<FacilitatorAnswer>;
  /** What became of an id of its own; `open` when it does not say, or speaks of another payment. */
  status(id: string, payment: HandedOver): Promise<TransferStatus>;
}

/** Where a facilitator stands. */
export interface FacilitatorSettings {
  readonly url: string;
  readonly token: string | null;
  /** With `{id}`; null: ids of its own prove nothing. */
  readonly statusUrl: string | null;
}

/** It waits for its transaction before it answers. */
const SETTLE_TIMEOUT_MS = 30_000;
const TIMEOUT_MS = 5_000;
const MAX_DETAIL = 200;
const TX_HASH = /^0x[0-9a-f]{64}$/;

/** True for a reference that is a transaction's hash; any other one is an id of a facilitator. */
export function isTxHash(reference: string): boolean {
  return TX_HASH.test(reference.toLowerCase());
}

/** Speaks to the facilitator at `settings.url`. */
export function createFacilitator(send: Send, settings: FacilitatorSettings): Facilitator {
  const base = settings.url.replace(/\/+$/, '');
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(settings.token === null ? {} : { authorization: `Bearer ${settings.token}` }),
  };
  return {
    checkSupport: async (network) => {
      const answer = await send({ url: `${base}/supported`, method: 'GET', headers, timeoutMs: TIMEOUT_MS });
      if (!answer.ok || answer.status >= 500) return null;
      if (supports(parse(answer.body), network.id)) return true;
      throw new Error(`the facilitator does not settle exact payments of x402 version 2 on ${network.id}`);
    },
    settle: async (network, payment) => {
      const body = JSON.stringify(settleRequest(network, payment));
      const answer = await send({ url: `${base}/settle`, method: 'POST', headers, body, timeoutMs: SETTLE_TIMEOUT_MS });
      return answer.ok ? readSettle(answer.status, parse(answer.body)) : unknown(answer.reason);
    },
    status: async (id, payment) => {
      if (settings.statusUrl === null) return 'open';
      const url = settings.statusUrl.replace('{id}', encodeURIComponent(id));
      const answer = await send({ url, method: 'GET', headers, timeoutMs: TIMEOUT_MS });
      return answer.ok && answer.status === 200 ? readStatus(parse(answer.body), id, payment.authorization) : 'open';
    },
  };
}

/** The body of POST /settle (and /verify): always version 2, whatever the payer spoke; the authorization is the same. */
function settleRequest(network: Network, { authorization: a, signature }: HandedOver) {
  const paymentRequirements = {
    scheme: 'exact',
    network: network.id,
    amount: a.value.toString(),
    asset: checksumAddress(network.asset),
    payTo: checksumAddress(a.to),
    maxTimeoutSeconds: 300,
    extra: { name: network.assetName, version: network.assetVersion },
  };
  const authorization = {
    from: checksumAddress(a.from),
    to: checksumAddress(a.to),
    value: a.value.toString(),
    validAfter: a.validAfter.toString(),
    validBefore: a.validBefore.toString(),
    nonce: a.nonce,
  };
  const paymentPayload = { x402Version: 2, accepted: paymentRequirements, payload: { signature, authorization } };
  return { x402Version: 2, paymentPayload, paymentRequirements };
}

type Json = Readonly<Record<string, unknown>>;

function parse(body: Uint8Array): Json | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}

function supports(answer: Json | null, networkId: string): boolean {
  const kinds = Array.isArray(answer?.['kinds']) ? (answer['kinds'] as readonly unknown[]) : [];
  return kinds.some((kind) => {
    const { x402Version, scheme, network } = (kind ?? {}) as Json;
    return x402Version === 2 && scheme === 'exact' && (network === networkId || network === 'eip155:*');
  });
}

function unknown(detail: string, reference: string | null = null, lockedOut = false): FacilitatorAnswer {
  return { said: 'unknown', reference, detail: detail.slice(0, MAX_DETAIL), lockedOut };
}

/** 5xx decides nothing whatever it carries: one facilitator answers `settlement_pending` with 500, another crashes after sending. */
function readSettle(status: number, answer: Json | null): FacilitatorAnswer {
  const reference = referenceOf(answer?.['transaction']);
  if (status === 401 || status === 403) return unknown(`HTTP ${status}`, reference, true);
  if (status >= 500 || status === 429 || typeof answer?.['success'] !== 'boolean') return unknown(`HTTP ${status}`, reference);
  if (answer['success']) return { said: 'settled', reference, detail: '', lockedOut: false };
  const detail = textOf(answer['errorReason']) || 'no reason';
  if (IN_USE.test(detail)) return unknown(detail, reference);
  return { said: 'refused', reference, detail, lockedOut: false };
}

/** The authorization is on its way, or was there before: what was sent may still be mined, so that this is no refusal. */
const IN_USE = /^settlement_pending$|duplicate|already/i;

function referenceOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  if (isTxHash(value)) return value.toLowerCase();
  return /^[A-Za-z0-9][A-Za-z0-9_:.-]{0,127}$/.test(value) && !value.startsWith('0x') ? value : null;
}

/** Printable ASCII of what another's server says. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value.replace(/[^\x20-\x7e]/g, '').slice(0, MAX_DETAIL) : '';
}

const STATUSES: Readonly<Record<string, TransferStatus>> = {
  settled: 'settled',
  completed: 'settled',
  confirmed: 'settled',
  succeeded: 'settled',
  success: 'settled',
  failed: 'failed',
  rejected: 'failed',
  cancelled: 'failed',
  canceled: 'failed',
  reverted: 'failed',
  expired: 'failed',
};

/** An answer counts only when everything that it says of the transfer is this payment, amount and recipient at least. */
function readStatus(answer: Json | null, id: string, authorization: Authorization): TransferStatus {
  if (answer === null) return 'open';
  const of = (...names: readonly string[]): string | null => {
    const value = names.map((name) => answer[name]).find((one) => typeof one === 'string' || typeof one === 'number');
    return value === undefined ? null : String(value).toLowerCase();
  };
  const same = (said: string | null, is: string | Address): boolean => said === null || said === is.toLowerCase();
  const amount = of('amount', 'value');
  const to = of('toAddress', 'payTo', 'to', 'recipient');
  if (amount !== authorization.value.toString() || to !== authorization.to) return 'open';
  if (!same(of('fromAddress', 'payer', 'from', 'sender'), authorization.from)) return 'open';
  if (!same(of('nonce'), authorization.nonce) || !same(of('id', 'transferId'), id)) return 'open';
  return STATUSES[of('status', 'state') ?? ''] ?? 'open';
}
