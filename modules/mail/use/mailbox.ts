import type { Pepper } from '../../../platform/tokens/pepper.ts';
import { hashCredential, hashesOf } from '../../../platform/tokens/pepper.ts';

/**
 * What an e-mail of a site is counted under: HMACs over site and mailbox, the present pepper's first. They outlive the erasure of a
 * person, name nobody without the pepper, and differ from site to site.
 */
export function mailboxHashes(pepper: Pepper, tenantId: string, mailbox: string): readonly Buffer[] {
  return hashesOf(hashCredential(pepper, JSON.stringify(['mailbox', tenantId, mailbox])));
}
