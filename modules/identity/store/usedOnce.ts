/** What counts once: proofs of holders, nonces of sign-ins, assertions of clients, and for a day e-mails. */
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, statement, tables } from '../../../db/statement.ts';

/** Something that counts once, by what tells it apart from everything else. */
export type UsedOnce =
  /** A proof of a holder, at a site: a nonce of the holder's own beside the token that it was shown with. */
  | { readonly kind: 'proof'; readonly tenantId: string; readonly jti: string; readonly nonce: string }
  /** A challenge of ours (modules/identity/rules/nonce.ts). */
  | { readonly kind: 'sign_in'; readonly nonce: string }
  /** An assertion of a client (RFC 7523 §3). */
  | { readonly kind: 'assertion'; readonly clientId: string; readonly jti: string };

const NOBODY = '00000000-0000-0000-0000-000000000000';

/** What the table knows it by. */
interface Key {
  readonly ownerId: string;
  readonly kind: UsedOnce['kind'];
  readonly key: string;
}

function keyOf(one: UsedOnce): Key {
  const { kind } = one;
  if (one.kind === 'sign_in') return { ownerId: NOBODY, kind, key: one.nonce };
  if (one.kind === 'assertion') return { ownerId: one.clientId, kind, key: one.jti };
  // An id of a token holds no space: what comes after the first one is the nonce, whatever it holds.
  return { ownerId: one.tenantId, kind, key: `${one.jti} ${one.nonce}` };
}

const use = statement<Key & { readonly expiresAt: Date }>()((place) =>
  tables
    .insertInto('used_once')
    .values({ ownerId: place('ownerId'), kind: place('kind'), key: place('key'), expiresAt: place('expiresAt') })
    .onConflict((conflict) => conflict.doNothing())
    .returning('kind'),
);
const used = statement<Key>()((place) =>
  tables
    .selectFrom('used_once')
    .select('kind')
    .where('ownerId', '=', place('ownerId'))
    .where('kind', '=', place('kind'))
    .where('key', '=', place('key')),
);

/** Uses it: true the first time, false ever after. From `expiresAt` on its caller must refuse it anyway, since it is forgotten then. */
export async function useOnce(sql: Sql, one: UsedOnce, expiresAt: Date): Promise<boolean> {
  return (await use(sql, { ...keyOf(one), expiresAt })).length > 0;
}

/** True when it was used. */
export async function isUsed(sql: Sql, one: UsedOnce): Promise<boolean> {
  return (await used(sql, keyOf(one))).length > 0;
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
  const key = `${mailboxHashes[0]?.toString('hex')} ${mailId}`;
  const expiresAt = text<Date>`now() + interval '24 hours'`;
  await run(sql, tables.insertInto('used_once').values({ ownerId: tenantId, kind, key, expiresAt }));
}

/** E-mails of a kind within a day: of a site, and among them to one mailbox. What was erased since counts as well. */
export async function countMails(
  sql: Sql,
  { tenantId, kind, mailboxHashes }: CountedMail,
): Promise<{ readonly ofTenant: number; readonly toMailbox: number }> {
  const hashes = mailboxHashes.map((one) => one.toString('hex'));
  const [row] = await run(
    sql,
    tables
      .selectFrom('used_once')
      .select([
        text<number>`count(*)::int`.as('ofTenant'),
        text<number>`(count(*) filter (where split_part(key, ' ', 1) = any(${hashes})))::int`.as('toMailbox'),
      ])
      .where('ownerId', '=', tenantId)
      .where('kind', '=', kind)
      .where('expiresAt', '>', text<Date>`clock_timestamp()`),
  );
  return { ofTenant: row?.ofTenant ?? 0, toMailbox: row?.toMailbox ?? 0 };
}
