import type { Database } from '../../../db/database.ts';
import type { ListedKey } from '../../identity/store/keys.ts';
import { listKeys } from '../../identity/store/keys.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { paymentQuery } from '../../kernel/workflow/attributes.ts';
import type { WorkflowLinks } from '../../kernel/workflow/links.ts';
import { findPaymentStory } from '../store/admin.ts';

/** What the operator's command line needs. */
export interface AdminDeps {
  readonly database: Database;
}

/** The keys of a site, without their secrets. */
export function listSiteKeys(deps: AdminDeps, tenantId: string): Promise<readonly ListedKey[]> {
  return listKeys(deps.database, tenantId);
}

/**
 * A payment's state, the evidence of it, and how Temporal's UI finds the workflows that concern it: the query, with links where the
 * address of the UI is known. Throws not_found.
 */
export async function describePayment(
  deps: AdminDeps,
  paymentId: string,
  links: WorkflowLinks,
): Promise<Record<string, unknown>> {
  const story = await findPaymentStory(deps.database, paymentId);
  if (!story) throw new ServiceError('not_found', 'there is no such payment');
  const workflowId = (story['batch'] as { workflowId: string | null } | null)?.workflowId ?? null;
  const workflowsQuery = paymentQuery(paymentId);
  return { ...story, workflowsQuery, workflowUrl: links.workflow(workflowId), workflowsUrl: links.found(workflowsQuery) };
}
