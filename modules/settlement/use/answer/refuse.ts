import type { Database } from '../../../../db/database.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import { storedAgent } from '../../../gate/rules/agent.ts';
import { labelAgent } from '../../../gate/use/agentLabels.ts';
import type { ErrorDetails, FailureReason, NextStep } from '../../../kernel/errors.ts';
import type { Metrics } from '../../../kernel/metrics.ts';
import { microToJson } from '../../../kernel/money/money.ts';
import type { CrossingKind, ObservedAgent } from '../../../kernel/terms.ts';
import type { PaymentRefusal } from '../../../kernel/x402/authorization.ts';
import { recordRefusalRow } from '../../store/recordCrossings.ts';
import { atLedger } from './ledger.ts';
import { encodeSettlementResponse, PaymentError } from './receipt.ts';

/** A payment as its answer names it. */
export interface Presented {
  readonly network: Pick<Network, 'id' | 'v1Name'> & Partial<Pick<Network, 'asset'>>;
  /** 2 for one that could not be read. */
  readonly x402Version: 1 | 2;
  /** Empty for one that could not be read. */
  readonly payer: string;
  /** The price it would have paid; null when no valid quote named one. */
  readonly micro?: bigint | null;
}

/** What was tried with it, as the one observation of its refusal tells. */
export interface Attempt extends Presented {
  readonly tenantId: string;
  readonly mode: 'live' | 'mock';
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly micro: bigint | null;
  readonly agent: ObservedAgent;
  /** Its payer has shown the money, or `isVouchedBy` says so. Of anything else nothing is written: strangers could fill a site's audit. */
  readonly isVouched: boolean;
}

/** The longest reason that x402 has is half as long. */
const MOST_REASON_CHARS = 100;

/** True for what a site's key presented, or the account that buys a licence, signed or not. */
export function isVouchedBy({ keyId, purchase }: { readonly keyId: string | null; readonly purchase?: unknown }): boolean {
  return keyId !== null || purchase !== undefined;
}

/** Why a payment is not settled. A quote that ran out has a code of its own, and counts as authorization_invalid. */
export type Refusal = Omit<PaymentRefusal, 'reason'> & { readonly reason: FailureReason | 'quote_expired' };

/** The network's name in the payer's version of x402. */
export function networkName({ network, x402Version }: Pick<Presented, 'network' | 'x402Version'>): string {
  return (x402Version === 1 ? network.v1Name : null) ?? network.id;
}

/**
 * Refuses a payment that has no row: writes its one `payment-failed` observation and makes its 402. A test key's payment is answered and never
 * written, and so is what nobody vouches for. Every call is one refused attempt. Throws database_unavailable when the observation cannot be written.
 */
export async function refuse(
  deps: { readonly database: Database; readonly metrics?: Metrics },
  attempt: Attempt,
  refusal: Refusal,
): Promise<PaymentError> {
  const { tenantId, mode, host, slug, kind, micro, isVouched } = attempt;
  const reason = refusal.reason === 'quote_expired' ? 'authorization_invalid' : refusal.reason;
  const record = async (): Promise<void> => {
    const label = await labelAgent(deps.database, { tenantId, agent: attempt.agent, atMs: Date.now() });
    await recordRefusalRow(deps.database, {
      tenantId,
      host,
      slug,
      kind,
      micro,
      reason,
      agent: storedAgent(attempt.agent, label),
    });
  };
  if (mode === 'live' && isVouched) await atLedger(record);
  return paymentError(deps, attempt, refusal);
}

/** The 402 of a payment that is not settled, or not yet, counted as an answer: make one for each answer, and throw it. */
export function paymentError(
  { metrics }: { readonly metrics?: Metrics },
  presented: Presented,
  told: Omit<Refusal, 'reason'> & { readonly reason: Refusal['reason'] | 'settlement_pending'; readonly transaction?: string },
  details: ErrorDetails = {},
): PaymentError {
  metrics?.count('svc.settle.outcome', 1, { reason: told.reason });
  // A facilitator may write anything there, and it travels in a header.
  const { raw, transaction = '' } = told;
  const errorReason = raw.slice(0, MOST_REASON_CHARS);
  const response = { success: false, errorReason, transaction, network: networkName(presented), payer: presented.payer };
  const next = told.next ?? (told.reason === 'insufficient_funds' ? fundOf(presented) : undefined);
  const step = next === undefined ? {} : { next };
  return new PaymentError(told.reason, told.sentence, encodeSettlementResponse(response), { ...details, ...step });
}

/** Which wallet lacks money, and how much it needs; what it has is told by who looked. */
export function fundOf({ network, payer, micro }: Presented, hasMicro?: bigint): NextStep {
  return {
    action: 'fund',
    ...(payer === '' ? {} : { address: payer }),
    network: network.id,
    ...(network.asset === undefined ? {} : { asset: network.asset }),
    ...(micro === undefined || micro === null ? {} : { needsMicro: microToJson(micro) }),
    ...(hasMicro === undefined ? {} : { hasMicro: microToJson(hasMicro) }),
  };
}
