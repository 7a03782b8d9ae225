import type { Database } from '../../db/database.ts';
import { recordRefusalRow } from '../../db/settlement/ledger.ts';
import { agentLabel } from '../../domain/agent.ts';
import type { FailureReason } from '../../domain/errors.ts';
import type { CrossingKind, ObservedAgent } from '../../domain/terms.ts';

/** A payment attempt that was refused before it had a row. */
export interface RefusedAttempt {
  readonly tenantId: string;
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  /** The price it would have paid; null when no valid quote named one. */
  readonly micro: bigint | null;
  readonly reason: FailureReason;
  readonly agent: ObservedAgent;
}

/** Text that Postgres can store, as jsonb too: neither NUL nor half of a surrogate pair is a character there. */
function storable(text: string | undefined): string | undefined {
  return text?.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** The agent as stored with a payment or observation: its telemetry made storable, and its label. */
export function storedAgent(agent: ObservedAgent): ObservedAgent & { readonly label: string } {
  const ua = storable(agent.ua);
  const classifyReason = storable(agent.classifyReason);
  const verifiedAgent = storable(agent.verifiedAgent);
  return {
    label: agentLabel(agent),
    ...(ua === undefined ? {} : { ua }),
    ...(classifyReason === undefined ? {} : { classifyReason }),
    ...(verifiedAgent === undefined ? {} : { verifiedAgent }),
    ...(agent.verified === undefined ? {} : { verified: agent.verified }),
    ...(agent.sigInvalid === undefined ? {} : { sigInvalid: agent.sigInvalid }),
  };
}

/**
 * Writes the one `payment-failed` observation of a refused attempt (decisions: failed attempts). Every call writes one:
 * call it once an attempt.
 */
export async function recordRefusal(database: Database, attempt: RefusedAttempt): Promise<void> {
  await recordRefusalRow(database, { ...attempt, agent: storedAgent(attempt.agent) });
}
