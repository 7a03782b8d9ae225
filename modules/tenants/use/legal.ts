import type { Sql, Transactional } from '../../../db/database.ts';
import type { LegalDetails } from '../store/legal.ts';
import { findLegalDetails, writeLegalDetails } from '../store/legal.ts';
import type { SiteCall } from './change.ts';
import { changeSite } from './change.ts';

export type { LegalDetails } from '../store/legal.ts';

/** Longest name and address, in characters. */
export const MAX_LEGAL_NAME = 200;
export const MAX_LEGAL_ADDRESS = 500;

/**
 * Whether a name or an address is printed as it reads: something is seen of it, and nothing in it turns text around or breaks its line (bidirectional
 * controls, C1 controls, separators of lines).
 */
export function isPrintedAsRead(text: string): boolean {
  return text.trim() !== '' && !/[\u0080-\u009f\u2028-\u202e\u2066-\u2069]/.test(text);
}

/** Who publishes a site, as its statements say; null when there is no such site. Throws database_unavailable. */
export function readLegalDetails({ reading }: { readonly reading: Sql }, tenantId: string): Promise<LegalDetails | null> {
  return findLegalDetails(reading, tenantId);
}

/**
 * Sets who publishes a site, for every statement drawn from now on, those of months that are over, too; null: statements do not say. Throws what
 * `changeSite` throws. The same again changes nothing.
 */
export function setLegalDetails(
  deps: { readonly database: Transactional },
  call: SiteCall,
  details: LegalDetails,
): Promise<LegalDetails> {
  return changeSite(deps, call, {
    action: 'legal.set',
    target: null,
    look: (sql) => findLegalDetails(sql, call.tenantId),
    make: async (database) => {
      await writeLegalDetails(database, call.tenantId, details);
      return details;
    },
  });
}
