import { Connection } from '@temporalio/client';

const DAY_SECONDS = 86_400;
const LIMIT_MS = 30_000;

/** Registers a namespace, its closed workflows kept for a day, and waits until the server knows it everywhere (30 s at most). */
export async function registerNamespace(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    const service = connection.workflowService;
    type Retention = NonNullable<Parameters<typeof service.registerNamespace>[0]['workflowExecutionRetentionPeriod']>;
    const workflowExecutionRetentionPeriod = { seconds: DAY_SECONDS } as unknown as Retention;
    await service.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    const deadline = performance.now() + LIMIT_MS;
    for (;;) {
      try {
        await service.listOpenWorkflowExecutions({ namespace, maximumPageSize: 1 });
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  } finally {
    await connection.close();
  }
}
