import type { Sql } from '../../db/database.ts';
import { confirmAlertAddressRow, setAlertAddressRow } from '../../modules/mail/store/mails.ts';

/** Gives a site an address for alerts that has agreed. */
export async function setConfirmedAddress(database: Sql, tenantId: string, email: string): Promise<void> {
  await setAlertAddressRow(database, tenantId, email);
  await confirmAlertAddressRow(database, tenantId, email);
}
