import { userInfo } from 'node:os';
import type { Database } from '../../db/database.ts';
import type { Actor } from '../../modules/kernel/access/auditEntry.ts';
import type { WorkflowLinks } from '../../modules/kernel/workflow/links.ts';
import { linksInto } from '../../modules/kernel/workflow/links.ts';
import type { SiteCall } from '../../modules/tenants/use/change.ts';
import type { readAdminConfig } from '../../process/config.ts';
import { parseId } from './options.ts';

/** What a command runs with: opened only when one runs, so that `--help` needs nothing. */
export interface Surroundings {
  readonly open: () => Promise<{ readonly database: Database; readonly config: ReturnType<typeof readAdminConfig> }>;
  readonly print: (value: unknown) => void;
  /** Who runs the command, as the audit log names them. */
  readonly operator: () => Actor;
}

/** Links into Temporal's UI, where `TEMPORAL_UI_URL` says where it is. */
export function linksOf({
  temporalUiUrl: uiUrl,
  temporalNamespace: namespace,
}: ReturnType<typeof readAdminConfig>): WorkflowLinks {
  return linksInto({ uiUrl, namespace });
}

/** A change of a site by the operator who runs the command; the audit log names them. */
export function callOf({ operator }: Pick<Surroundings, 'operator'>, tenantId: string): SiteCall {
  return { tenantId: parseId(tenantId), actor: operator() };
}

/** The user of this machine; a number where it has no name, as in some containers. */
export function userOfMachine(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
