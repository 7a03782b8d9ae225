import { TASK_TIMEOUT } from '../../kernel/workflow/taskTimeout.ts';

/** How the workflow that looks after a host is started, by every caller. */
export function hostStart(key: { readonly tenantId: string; readonly host: string }) {
  return {
    workflowId: `host:${key.tenantId}:${key.host}`,
    staticSummary: `proof of ${key.host}`,
    workflowTaskTimeout: TASK_TIMEOUT,
    args: [key] as [typeof key],
  } as const;
}
