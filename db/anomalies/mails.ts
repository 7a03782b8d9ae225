import type { Sql } from '../database.ts';

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
  await sql.query(
    `insert into alert_mail (tenant_id, mail_id, to_address, subject, detail)
     select tenant_id, $2, alert_email, $3, $4 from tenant where tenant_id = $1 and confirmed_alert_email = alert_email on conflict do nothing`,
    [mail.tenantId, mail.mailId, mail.subject, mail.detail],
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
  await sql.query(
    'insert into alert_mail (tenant_id, mail_id, to_address, subject, detail, sealed) values ($1, $2, $3, $4, $5, $6)',
    [tenantId, mailId, toAddress, subject, detail, sealed],
  );
}

/** Most attempts of one e-mail. */
const MAX_ATTEMPTS = 8;

/**
 * Takes up to `limit` due e-mails less than a day old; each comes up again later, at doubling distances from a minute on, eight
 * times in all, unless it is marked as sent.
 */
export async function takeDueMails(sql: Sql, limit: number): Promise<DueMail[]> {
  return await sql.query(
    `update alert_mail m set attempts = attempts + 1, due_at = clock_timestamp() + power(2, attempts) * interval '1 minute'
     from (select tenant_id, mail_id from alert_mail where sent_at is null and due_at <= clock_timestamp()
         and attempts < ${MAX_ATTEMPTS} and created_at > clock_timestamp() - interval '1 day'
       order by due_at limit $1 for update skip locked) due
     where m.tenant_id = due.tenant_id and m.mail_id = due.mail_id
     returning m.tenant_id as "tenantId", m.mail_id as "mailId", m.to_address as "toAddress", m.subject, m.detail,
       m.sealed`,
    [limit],
  );
}

/** Notes that an e-mail was handed over; a sealed text goes with that. */
export async function markMailSent(sql: Sql, mail: Pick<AlertMail, 'tenantId' | 'mailId'>): Promise<void> {
  await sql.query('update alert_mail set sent_at = clock_timestamp(), sealed = null where tenant_id = $1 and mail_id = $2', [
    mail.tenantId,
    mail.mailId,
  ]);
}

/** Sets or, with null, removes the address a tenant's alerts go to. False when there is no such tenant. */
export async function setAlertAddressRow(sql: Sql, tenantId: string, email: string | null): Promise<boolean> {
  const rows = await sql.query(
    `update tenant set alert_email = $2, confirmed_alert_email = case when alert_email = $2 then confirmed_alert_email end
      where tenant_id = $1 returning 1`,
    [tenantId, email],
  );
  return email === null || rows.length > 0;
}

/** Where a tenant's alerts go, and whether that address has agreed. */
export interface AlertAddress {
  readonly email: string;
  readonly isConfirmed: boolean;
}

/** The address a tenant's alerts go to; null when there is none. */
export async function findAlertAddress(sql: Sql, tenantId: string): Promise<AlertAddress | null> {
  const [row] = await sql.query<{ email: string; isConfirmed: boolean }>(
    `select alert_email as email, confirmed_alert_email is not distinct from alert_email as "isConfirmed" from tenant
      where tenant_id = $1 and alert_email is not null`,
    [tenantId],
  );
  return row ?? null;
}

/** Notes that this address has agreed; nothing when the tenant has another one by now. */
export async function confirmAlertAddressRow(sql: Sql, tenantId: string, email: string): Promise<void> {
  await sql.query('update tenant set confirmed_alert_email = alert_email where tenant_id = $1 and alert_email = $2', [
    tenantId,
    email,
  ]);
}
