/** What counts once: proofs of holders, nonces of sign-ins, assertions of clients, and for a day e-mails. */
import type { Sql } from '../../../db/database.ts';

/** Something that counts once, by what tells it apart from everything else. */
export type UsedOnce =
  /** A proof of a holder, at a site: a nonce of the holder's own beside the token that it was shown with. */
  | { readonly kind: 'proof'; readonly tenantId: string; readonly jti: string; readonly nonce: string }
  /** A challenge of ours (modules/identity/rules/nonce.ts). */
  | { readonly kind: 'sign_in'; readonly nonce: string }
  /** An assertion of a client (RFC 7523 §3). */
  | { readonly kind: 'assertion'; readonly clientId: string; readonly jti: string };

const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Owner, kind and key, as the table has them. */
function keyOf(one: UsedOnce): readonly [string, UsedOnce['kind'], string] {
  if (one.kind === 'sign_in') return [NOBODY, one.kind, one.nonce];
  if (one.kind === 'assertion') return [one.clientId, one.kind, one.jti];
  // An id of a token holds no space: what comes after the first one is the nonce, whatever it holds.
  return [one.tenantId, one.kind, `${one.jti} ${one.nonce}`];
}

/** Uses it: true the first time, false ever after. From `expiresAt` on its caller must refuse it anyway, since it is forgotten then. */
export async function useOnce(sql: Sql, one: UsedOnce, expiresAt: Date): Promise<boolean> {
  const rows = await sql.query(
    'insert into used_once (owner_id, kind, key, expires_at) values ($1, $2, $3, $4) on conflict do nothing returning 1',
    [...keyOf(one), expiresAt],
  );
  return rows.length > 0;
}

/** True when it was used. */
export async function isUsed(sql: Sql, one: UsedOnce): Promise<boolean> {
  return (await sql.query('select 1 from used_once where owner_id = $1 and kind = $2 and key = $3', keyOf(one))).length > 0;
}

/** What an e-mail counts as, for the limits of a day. */
export interface CountedMail {
  readonly tenantId: string;
  readonly kind: 'invitation' | 'confirm';
  /** The mailbox, hashed under the present pepper and, while it is being rotated, the one before. */
  readonly mailboxHashes: readonly Buffer[];
}

/** Counts an e-mail of a site for a day. The same e-mail again is an error of Postgres. */
export async function countMail(sql: Sql, { tenantId, kind, mailboxHashes }: CountedMail, mailId: string): Promise<void> {
  await sql.query("insert into used_once (owner_id, kind, key, expires_at) values ($1, $2, $3, now() + interval '24 hours')", [
    tenantId,
    kind,
    `${mailboxHashes[0]?.toString('hex')} ${mailId}`,
  ]);
}

/** E-mails of a kind within a day: of a site, and among them to one mailbox. What was erased since counts as well. */
export async function countMails(
  sql: Sql,
  { tenantId, kind, mailboxHashes }: CountedMail,
): Promise<{ readonly ofTenant: number; readonly toMailbox: number }> {
  const [row] = await sql.query<{ of_tenant: number; to_mailbox: number }>(
    `select count(*)::int as of_tenant, count(*) filter (where split_part(key, ' ', 1) = any($3))::int as to_mailbox from used_once
      where owner_id = $1 and kind = $2 and expires_at > clock_timestamp()`,
    [tenantId, kind, mailboxHashes.map((one) => one.toString('hex'))],
  );
  return { ofTenant: row?.of_tenant ?? 0, toMailbox: row?.to_mailbox ?? 0 };
}
