/** Erasing what says who somebody is. Rows of money keep ids and addresses, which are on the chain (safety 22). */
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { acrossSites, anyOf, run, tables } from '../../../db/statement.ts';

/** The account of a wallet (lower case) or of an id; null when there is none, or its wallet was erased. */
export async function findAccountId(
  sql: Sql,
  by: { readonly wallet: string } | { readonly accountId: string },
): Promise<string | null> {
  const accounts = tables.selectFrom('buyer_account').select('accountId');
  const found = 'wallet' in by ? accounts.where('wallet', '=', by.wallet) : accounts.where('accountId', '=', by.accountId);
  return (await run(sql, found))[0]?.accountId ?? null;
}

/** What is left of an account that is erased. */
const ERASED = {
  ...{ name: null, wallet: null },
  ...{ alertUrl: null, alertEndpointId: null, alertSealed: null, alertKeyId: null, alertSetAt: null },
  ...{ budgetPeriod: null, budgetTotalMicro: null, budgetHostMicro: null, budgetPageMicro: null },
  ...{ budgetApproveAboveMicro: null, budgetIsStopped: false, budgetVersion: 0, budgetUpdatedAt: null },
};

/** Tables whose rows go with their account. */
const OF_ACCOUNT = [
  ...(['oauth_client', 'buyer_key', 'open_licence_offer', 'account_alert', 'account_spent', 'account_approval'] as const),
] as const;

/**
 * Erases an account: name, wallet, every credential, open offers, where it is told of its budget and what it was told. Its id stays, since
 * licences and payments name it. Returns the sites it has licences of; null when it was erased before. Run it in a database transaction.
 */
export async function eraseAccountRow(sql: Sql, accountId: string): Promise<readonly string[] | null> {
  const account = tables.updateTable('buyer_account').set({ ...ERASED, erasedAt: text`now()` });
  const erased = await run(sql, account.where('accountId', '=', accountId).where('erasedAt', 'is', null).returning('accountId'));
  const clients = tables.selectFrom('oauth_client').select('clientId').where('accountId', '=', accountId);
  await run(sql, tables.deleteFrom('used_once').where('kind', '=', 'assertion').where('ownerId', 'in', clients));
  for (const table of OF_ACCOUNT) await run(sql, acrossSites('an account').deleteFrom(table).where('accountId', '=', accountId));
  if (erased.length === 0) return null;
  const licences = tables.selectFrom('account_licence').select('tenantId').distinct().where('accountId', '=', accountId);
  return (await run(sql, licences.orderBy('tenantId'))).map((row) => row.tenantId);
}

/**
 * Erases an author of a site from the roster, from the audit log's entries about members, and from invitations that were e-mailed; true
 * when there was anything. Legs keep the author's id, which is the site's own word. Where the site's alerts go is the site's own
 * setting: it and its history stay, also when it is the same address. Run it in a database transaction.
 */
export async function eraseMemberRows(sql: Sql, tenantId: string, authorId: string): Promise<boolean> {
  const erase = text<readonly string[]>`erase_member_from_audit_log(${tenantId}, ${authorId})`;
  const [found] = await run(sql, tables.selectNoFrom(erase.as('emails')));
  const emails = found?.emails ?? [];
  const mails = tables.deleteFrom('alert_mail').where('tenantId', '=', tenantId).where('mailId', 'like', 'invitation-%');
  await run(sql, mails.where('toAddress', '=', anyOf(emails)));
  for (const table of ['member_invite_hash', 'member'] as const) {
    await run(sql, tables.deleteFrom(table).where('tenantId', '=', tenantId).where('authorId', '=', authorId));
  }
  return emails.length > 0;
}
