import type { Sql } from '../../../db/database.ts';
import type { Pepper } from '../../../platform/tokens/pepper.ts';
import type { SecretBox } from '../../../platform/tokens/secretBox.ts';
import { readEmail } from '../../kernel/access/emailAddress.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { insertMail } from '../../mail/store/mails.ts';
import { mailboxHashes } from '../../mail/use/mailbox.ts';
import { sealedMailContext } from '../../mail/use/sendDue.ts';
import { findFirstHost } from '../../tenants/store/tenants.ts';
import { countMail, countMails } from '../store/usedOnce.ts';

/** What writing an invitation takes. */
export interface InvitationMailDeps {
  readonly secretBox: Pick<SecretBox, 'seal'>;
  /** Our own address, without a trailing slash. */
  readonly baseUrl: string;
}

/** Invitations a day that we send for one site, and to one mailbox of it: nobody fills a stranger's through us. */
const MAX_A_DAY = { site: 100, mailbox: 3 } as const;
const DAY_SECONDS = 86_400;

/**
 * Puts the e-mail of an invitation into the outbox; its text is sealed, since it holds the token. Throws throttled (429) past 100 a
 * day of a site, or three to one mailbox (`ann+1@` and `ann+2@` are one). Every call is another e-mail. Run it with the site locked.
 */
export async function mailInvitation(
  deps: InvitationMailDeps & { readonly pepper: Pepper },
  sql: Sql,
  invitation: { readonly tenantId: string; readonly email: string; readonly inviteToken: string; readonly expiresAtMs: number },
): Promise<void> {
  const { tenantId, inviteToken, expiresAtMs } = invitation;
  const { address: toAddress, mailbox } = readEmail(invitation.email);
  const counted = { tenantId, kind: 'invitation', mailboxHashes: mailboxHashes(deps.pepper, tenantId, mailbox) } as const;
  const sent = await countMails(sql, counted);
  if (sent.ofTenant >= MAX_A_DAY.site || sent.toMailbox >= MAX_A_DAY.mailbox) {
    throw new ServiceError('throttled', 'today’s invitations to this address, or from this site, are used up', {
      retryAfterSeconds: DAY_SECONDS,
    });
  }
  const host = (await findFirstHost(sql, tenantId)) ?? 'A publisher';
  const mailId = `invitation-${crypto.randomUUID()}`;
  const until = new Date(expiresAtMs).toUTCString();
  const text = [
    `${host} wants to list you among its authors, who are paid when software reads their pages.`,
    '',
    `To accept, open this address and press the button. It works once, until ${until}:`,
    '',
    `${deps.baseUrl}/_svc/members/accept#${inviteToken}`,
    '',
    'If you do not know this site, do nothing: without your answer nothing happens.',
    '',
  ].join('\n');
  const sealed = deps.secretBox.seal(text, sealedMailContext(tenantId, mailId));
  await countMail(sql, counted, mailId);
  await insertMail(sql, { tenantId, mailId, toAddress, subject: `Invitation from ${host}`, detail: '', sealed });
}
