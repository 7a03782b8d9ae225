/** A Temporal namespace of one test's own: for workflows whose ids are fixed, so that test files do not meet in them. */
import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { useTemporal } from './parts.ts';

const DAY_SECONDS = 86_400;

/** Registers a namespace and waits until the server knows it everywhere. Every call makes another one. */
export async function createNamespace(): Promise<ReturnType<typeof useTemporal>> {
  const temporal = useTemporal();
  const namespace = `test-${randomUUID()}`;
  const connection = await Connection.connect({ address: temporal.address });
  const service = connection.workflowService;
  type Retention = NonNullable<Parameters<typeof service.registerNamespace>[0]['workflowExecutionRetentionPeriod']>;
  const workflowExecutionRetentionPeriod = { seconds: DAY_SECONDS } as unknown as Retention;
  await service.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  const deadline = performance.now() + 30_000;
  for (;;) {
    try {
      await service.listOpenWorkflowExecutions({ namespace, maximumPageSize: 1 });
      break;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  await connection.close();
  return { ...temporal, namespace };
}
