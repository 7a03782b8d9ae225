import type { Sql } from '../../../db/database.ts';
import type { PageAnswer } from '../rules/answer.ts';
import { listAnswers } from '../store/answers.ts';

/** How the answers to some payments of a site went, by their ids; payments of which nothing was said are left out. Throws database_unavailable. */
export function readAnswers(
  { reading }: { readonly reading: Sql },
  tenantId: string,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, PageAnswer>> {
  return listAnswers(reading, tenantId, paymentIds);
}
