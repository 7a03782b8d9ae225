import { confirmAlertAddressRow, setAlertAddressRow } from '../../db/anomalies/mails.ts';
import type { Sql } from '../../db/database.ts';

/** Gives a site an address for alerts that has agreed. */
export async function setConfirmedAddress(database: Sql, tenantId: string, email: string): Promise<void> {
  await setAlertAddressRow(database, tenantId, email);
  await confirmAlertAddressRow(database, tenantId, email);
}
