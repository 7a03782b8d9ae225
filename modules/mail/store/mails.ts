import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import { ATTEMPT_DELAYS_MS } from '../../kernel/time/attempts.ts';

/** An e-mail to a tenant's alert address. */
export interface AlertMail {
  readonly tenantId: string;
  /** Stable for its cause: the same id is sent once. */
  readonly mailId: string;
  readonly subject: string;
  readonly detail: string;
}

/** Puts an e-mail into the outbox, if the tenant has a confirmed address for alerts; an id that is there already changes nothing. */
export async function insertAlertMail(sql: Sql, mail: AlertMail): Promise<void> {
  const address = tables
    .selectFrom('tenant')
    .where('tenantId', '=', mail.tenantId)
    .whereRef('confirmedAlertEmail', '=', 'alertEmail')
    .select((column) => [
      'tenantId',
      column.val(mail.mailId).as('mailId'),
      'alertEmail',
      column.val(mail.subject).as('subject'),
      column.val(mail.detail).as('detail'),
    ]);
  await run(
    sql,
    tables
      .insertInto('alert_mail')
      .columns(['tenantId', 'mailId', 'toAddress', 'subject', 'detail'])
      .expression(address)
      .onConflict((conflict) => conflict.doNothing()),
  );
}

/** An e-mail that is to be sent now. */
export interface DueMail extends AlertMail {
  readonly toAddress: string;
  /** Its whole text where that holds a secret, in place of `detail`. */
  readonly sealed: Buffer | null;
}

/** Puts an e-mail to an address of its own into the outbox. What is sealed stays so until it is sent. */
export async function insertMail(sql: Sql, { tenantId, mailId, toAddress, subject, detail, sealed }: DueMail): Promise<void> {
  await run(sql, tables.insertInto('alert_mail').values({ tenantId, mailId, toAddress, subject, detail, sealed }));
}

/** An e-mail that was taken is left alone for so long: more than handing it over may take. */
const LEASE_MS = 60_000;

/**
 * Takes up to `limit` due e-mails less than a day old. Unless it is marked as sent each comes up again by the schedule of webhooks, a minute
 * later at the soonest.
 */
export async function takeDueMails(sql: Sql, limit: number): Promise<DueMail[]> {
  return await sql.query(
    `update alert_mail m set attempts = attempts + 1,
       due_at = clock_timestamp() + greatest($2::double precision, ($3::double precision[])[attempts + 2]) * interval '1 millisecond'
     from (select tenant_id, mail_id from alert_mail where sent_at is null and due_at <= clock_timestamp()
         and attempts < cardinality($3::double precision[]) and created_at > clock_timestamp() - interval '1 day'
       order by due_at limit $1 for update skip locked) due
     where m.tenant_id = due.tenant_id and m.mail_id = due.mail_id
     returning m.tenant_id as "tenantId", m.mail_id as "mailId", m.to_address as "toAddress", m.subject, m.detail,
       m.sealed`,
    [limit, LEASE_MS, [...ATTEMPT_DELAYS_MS]],
  );
}

/** Notes that an e-mail was handed over; a sealed text goes with that. */
export async function markMailSent(sql: Sql, mail: Pick<AlertMail, 'tenantId' | 'mailId'>): Promise<void> {
  const sent = { sentAt: text<Date>`clock_timestamp()`, sealed: null };
  await run(
    sql,
    tables.updateTable('alert_mail').set(sent).where('tenantId', '=', mail.tenantId).where('mailId', '=', mail.mailId),
  );
}

/** Sets or, with null, removes the address a tenant's alerts go to. False when there is no such tenant. */
export async function setAlertAddressRow(sql: Sql, tenantId: string, email: string | null): Promise<boolean> {
  const confirmed = text<string | null>`case when alert_email = ${email} then confirmed_alert_email end`;
  const tenant = tables
    .updateTable('tenant')
    .set({ alertEmail: email, confirmedAlertEmail: confirmed })
    .where('tenantId', '=', tenantId);
  const rows = await run(sql, tenant.returning('tenantId'));
  return email === null || rows.length > 0;
}

/** Where a tenant's alerts go, and whether that address has agreed. */
export interface AlertAddress {
  readonly email: string;
  readonly isConfirmed: boolean;
}

/** The address a tenant's alerts go to; null when there is none. */
export async function findAlertAddress(sql: Sql, tenantId: string): Promise<AlertAddress | null> {
  const [row] = await run(
    sql,
    tables.selectFrom('tenant').select(['alertEmail', 'confirmedAlertEmail']).where('tenantId', '=', tenantId),
  );
  if (row === undefined || row.alertEmail === null) return null;
  return { email: row.alertEmail, isConfirmed: row.confirmedAlertEmail === row.alertEmail };
}

/** Notes that this address has agreed; nothing when the tenant has another one by now. */
export async function confirmAlertAddressRow(sql: Sql, tenantId: string, email: string): Promise<void> {
  const agreed = { confirmedAlertEmail: email };
  await run(sql, tables.updateTable('tenant').set(agreed).where('tenantId', '=', tenantId).where('alertEmail', '=', email));
}
