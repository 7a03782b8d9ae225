import type { Sql } from './database.ts';

/** Everything an operator is alerted of; docs/runbook.md says of each what it means. */
export const ALERT_KINDS = [
  'evidence_conflict',
  'evidence_disputed',
  'facilitator_locked_out',
  'facilitator_unproven',
  'gas_budget_spent',
  'host_failing',
  'host_lapsed',
  'night_failed',
  'payee_blocked',
  'payment_reverted',
  'payment_review',
  'payment_unreadable',
  'payment_unrecorded',
  'relayer_balance',
  'relayer_nonce_adopted',
  'relayer_nonce_suspect',
  'relayer_signer',
  'relayer_stuck',
  'rollup_mismatch',
  'webhook_endpoint_disabled',
] as const;

/** One of them. */
export type AlertKind = (typeof ALERT_KINDS)[number];

/**
 * Puts something an operator, or a tenant's owner, must hear of on the list of alerts; returns its id. The same alert again within
 * the hour, still unresolved, adds nothing and gives the id of the first, so that no fault that repeats fills the list.
 */
export async function raiseAlert(sql: Sql, kind: AlertKind, detail: string, tenantId: string | null = null): Promise<string> {
  const rows = await sql.query<{ alert_id: string }>(
    `with standing as (
       select alert_id from operator_alert where kind = $2 and detail = $3 and tenant_id is not distinct from $1::uuid
          and resolved_at is null and raised_at > now() - interval '1 hour' limit 1
     ), raised as (
       insert into operator_alert (alert_id, tenant_id, kind, detail)
       select uuidv7(), $1::uuid, $2::text, $3::text where not exists (select 1 from standing) returning alert_id
     )
     select alert_id from standing union all select alert_id from raised`,
    [tenantId, kind, detail],
  );
  return (rows[0] as { alert_id: string }).alert_id;
}
