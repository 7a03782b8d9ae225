/** Erasing what says who somebody is. Rows of money keep ids and addresses, which are on the chain (safety 22). */
import type { Sql } from '../../../db/database.ts';

/** The account of a wallet (lower case) or of an id; null when there is none, or its wallet was erased. */
export async function findAccountId(
  sql: Sql,
  by: { readonly wallet: string } | { readonly accountId: string },
): Promise<string | null> {
  const [row] =
    'wallet' in by
      ? await sql.query<{ account_id: string }>('select account_id from buyer_account where wallet = $1', [by.wallet])
      : await sql.query<{ account_id: string }>('select account_id from buyer_account where account_id = $1', [by.accountId]);
  return row?.account_id ?? null;
}

/**
 * Erases an account: name, wallet, every credential, open offers, where it is told of its budget and what it was told. Its id stays, since
 * licences and payments name it. Returns the sites it has licences of; null when it was erased before. Run it in a database transaction.
 */
export async function eraseAccountRow(sql: Sql, accountId: string): Promise<readonly string[] | null> {
  const erased = await sql.query(
    `update buyer_account set name = null, wallet = null, erased_at = now(),
       alert_url = null, alert_endpoint_id = null, alert_sealed = null, alert_key_id = null, alert_set_at = null,
       budget_period = null, budget_total_micro = null, budget_host_micro = null, budget_page_micro = null,
       budget_approve_above_micro = null, budget_is_stopped = false, budget_version = 0, budget_updated_at = null
      where account_id = $1 and erased_at is null returning 1`,
    [accountId],
  );
  const ofClients = "kind = 'assertion' and owner_id in (select client_id from oauth_client where account_id = $1)";
  await sql.query(`delete from used_once where ${ofClients}`, [accountId]);
  for (const table of ['oauth_client', 'buyer_key', 'open_licence_offer', 'account_alert', 'account_spent', 'account_approval']) {
    await sql.query(`delete from ${table} where account_id = $1`, [accountId]);
  }
  if (erased.length === 0) return null;
  const tenants = await sql.query<{ tenant_id: string }>(
    'select distinct tenant_id from account_licence where account_id = $1 order by tenant_id',
    [accountId],
  );
  return tenants.map((row) => row.tenant_id);
}

/**
 * Erases an author of a site from the roster, from the audit log's entries about members, and from invitations that were e-mailed; true
 * when there was anything. Legs keep the author's id, which is the site's own word. Where the site's alerts go is the site's own
 * setting: it and its history stay, also when it is the same address. Run it in a database transaction.
 */
export async function eraseMemberRows(sql: Sql, tenantId: string, authorId: string): Promise<boolean> {
  const [found] = await sql.query<{ emails: string[] }>('select erase_member_from_audit_log($1, $2) as emails', [
    tenantId,
    authorId,
  ]);
  const emails = found?.emails ?? [];
  await sql.query(
    "delete from alert_mail where tenant_id = $1 and starts_with(mail_id, 'invitation-') and to_address = any($2)",
    [tenantId, emails],
  );
  await sql.query('delete from member_invite_hash where tenant_id = $1 and author_id = $2', [tenantId, authorId]);
  await sql.query('delete from member where tenant_id = $1 and author_id = $2', [tenantId, authorId]);
  return emails.length > 0;
}
