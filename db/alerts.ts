import { randomUUID } from 'node:crypto';
import type { Sql } from './database.ts';

/** Puts something an operator, or a tenant's owner, must hear of on the list of alerts. Every call adds a row. */
export async function insertAlert(
  sql: Sql,
  alert: { readonly tenantId: string; readonly kind: string; readonly detail: string },
): Promise<void> {
  await sql.query('insert into operator_alert (alert_id, tenant_id, kind, detail) values ($1, $2, $3, $4)', [
    randomUUID(),
    alert.tenantId,
    alert.kind,
    alert.detail,
  ]);
}
