import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { Sql } from '../../../db/database.ts';
import { macOf } from '../../../platform/tokens/mac.ts';
import type { Pepper } from '../../../platform/tokens/pepper.ts';
import { countMail, countMails } from '../../identity/store/usedOnce.ts';
import { readEmail } from '../../kernel/access/emailAddress.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { confirmAlertAddressRow, findAlertAddress, insertMail, setAlertAddressRow } from '../../mail/store/mails.ts';
import { mailboxHashes } from '../../mail/use/mailbox.ts';
import { findFirstHost } from '../../tenants/store/tenants.ts';

/** What addresses for alerts need. */
export interface AddressDeps {
  readonly database: Sql;
  /** Makes the codes, and the one before knows those that are on their way. */
  readonly pepper: Pepper;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Most mails with a code that a site sends within a day, to whatever addresses. */
const MAX_CODES_A_DAY = 3;
const CODE_LIFE_SECONDS = 24 * 3_600;

/**
 * Sets the address that a site's alerts go to by e-mail, or with null none. One that is not the confirmed one gets a code by e-mail, and
 * nothing else before `confirmAlertAddress` was called with it: nobody is sent alerts who does not want them. The same address again
 * sends a new code. Throws invalid_parameter, not_found, and throttled after three codes of a site within a day. Run it with the site locked.
 */
export async function setAlertAddress(deps: AddressDeps, tenantId: string, email: string | null): Promise<void> {
  const read = email === null ? null : readEmail(email);
  if (!(await setAlertAddressRow(deps.database, tenantId, read?.address ?? null)))
    throw new ServiceError('not_found', 'no such site');
  const address = await findAlertAddress(deps.database, tenantId);
  if (read === null || address === null || address.isConfirmed) return;
  const counted = { tenantId, kind: 'confirm', mailboxHashes: mailboxHashes(deps.pepper, tenantId, read.mailbox) } as const;
  const sent = await countMails(deps.database, counted);
  if (sent.ofTenant >= MAX_CODES_A_DAY) {
    throw new ServiceError('throttled', `a site can send ${MAX_CODES_A_DAY} codes a day; use the last one, or try again later`, {
      retryAfterSeconds: 3_600,
    });
  }
  const site = (await findFirstHost(deps.database, tenantId)) ?? `site ${tenantId}`;
  const endsAt = Math.floor(deps.clock() / 1_000) + CODE_LIFE_SECONDS;
  const mailId = `confirm-${randomUUID()}`;
  await countMail(deps.database, counted, mailId);
  await insertMail(deps.database, {
    tenantId,
    mailId,
    toAddress: address.email,
    subject: 'Confirm this address for alerts',
    detail:
      `The owner of ${site} asks for its alerts to be sent to this address. If you agree, tell the owner this code, which ends in ` +
      `24 hours:\n\n${codeOf(deps.pepper.current, tenantId, address.email, endsAt)}\n\nIf you do nothing, no alert is sent here.`,
    sealed: null,
  });
}

/**
 * Confirms the address that a site's alerts go to, with the code that was sent there. Throws invalid_parameter for a code of another
 * address or site, one that has ended, and any other text; not_found when there is no address. A second call changes nothing.
 */
export async function confirmAlertAddress(deps: AddressDeps, tenantId: string, code: string): Promise<string> {
  const address = await findAlertAddress(deps.database, tenantId);
  if (address === null) throw new ServiceError('not_found', 'this site has no address for alerts');
  if (!isCodeOf(deps, tenantId, address.email, code)) {
    throw new ServiceError('invalid_parameter', 'this code was not sent to this address, or it has expired', {
      parameter: 'code',
    });
  }
  await confirmAlertAddressRow(deps.database, tenantId, address.email);
  return address.email;
}

/** Nothing of it is stored: its end, and 128 bits of an HMAC over site, address and end. */
function codeOf(pepper: string, tenantId: string, email: string, endsAt: number): string {
  const mac = macOf(pepper, JSON.stringify(['alert address', tenantId, email, endsAt])).digest();
  return `${endsAt.toString(36)}.${mac.subarray(0, 16).toString('base64url')}`;
}

function isCodeOf({ pepper, clock }: AddressDeps, tenantId: string, email: string, code: string): boolean {
  const endsAt = Number.parseInt(code.split('.')[0] ?? '', 36);
  if (!(endsAt * 1_000 > clock())) return false;
  const peppers = pepper.previous === null ? [pepper.current] : [pepper.current, pepper.previous];
  return peppers.some((one) => {
    const [expected, given] = [Buffer.from(codeOf(one, tenantId, email, endsAt)), Buffer.from(code)];
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
}
