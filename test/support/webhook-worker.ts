/** A real worker for the webhook workflows, budgets' alerts and e-mails; run as a program, it takes its options as JSON in the first argument. */
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createAnomalyActivities } from '../../activities/anomalies.ts';
import { createMessageActivities } from '../../activities/messages.ts';
import { createWebhookActivities } from '../../activities/webhooks.ts';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { listen } from '../../db/listen.ts';
import type { AlertLimits } from '../../modules/budgets/use/sendAlerts.ts';
import { ALERT_LIMITS } from '../../modules/budgets/use/sendAlerts.ts';
import { ensureMessageWorkflow } from '../../modules/mail/use/start.ts';
import { DELIVERY_CHANNEL } from '../../modules/webhooks/store/events.ts';
import type { WebhookLimits } from '../../modules/webhooks/use/deps.ts';
import { WEBHOOK_LIMITS } from '../../modules/webhooks/use/deps.ts';
import { createNotified } from '../../modules/webhooks/use/manageRetries.ts';
import { createNotices } from '../../modules/webhooks/use/notices.ts';
import { createRetryStarter, ensureDispatchers, scheduleWindowClosing } from '../../modules/webhooks/use/start.ts';
import { createWake } from '../../modules/webhooks/use/wake.ts';
import { createMailer } from '../../platform/mail.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { RUNS_THAT_FAIL } from '../../platform/temporal/schedules.ts';
import type { SecretBox } from '../../platform/tokens/secretBox.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { openWorkflowBundle } from '../../process/workflowBundle.ts';

/** What a worker needs to know; plain data, so that it can be another process's argument. */
export interface WebhookWorkerOptions {
  readonly databaseUrl: string;
  readonly temporal: { readonly address: string; readonly namespace: string; readonly taskQueue: string };
  readonly windowMs: number;
  readonly limits?: Partial<WebhookLimits>;
  /** Where e-mails go; left out: nowhere. */
  readonly mailUrl?: string;
  /** Of budgets' alerts and of e-mails. */
  readonly alertLimits?: Partial<AlertLimits>;
}

/** A running worker and what it works with. */
export interface WebhookWorker {
  readonly database: Database;
  readonly client: Client;
  readonly outbound: Outbound;
  readonly secretBox: SecretBox;
  /** Orderly end: what is in flight is recorded. A second call waits for the first. */
  stop(): Promise<void>;
}

const TEST_SECRETS_KEY = Buffer.alloc(32, 7);

/** Starts a worker in this process, with the workflows running; one shard. Its workflows are those of today unless told. */
export async function startWebhookWorker(
  options: WebhookWorkerOptions,
  workflowBundle?: WorkflowBundleOption,
): Promise<WebhookWorker> {
  const { address, namespace, taskQueue } = options.temporal;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const database = await openDatabase({ url: options.databaseUrl });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace, identity: 'test' });
  const native = await NativeConnection.connect({ address });
  const wake = createWake();
  const notices = createNotices(1);
  const retries = createRetryStarter(client, taskQueue);
  const outbound = createOutbound({ allowLoopback: true });
  const secretBox = createSecretBox(TEST_SECRETS_KEY);
  const stopping = new AbortController();
  const warn = (message: string, fields: object): void => console.error(message, fields);
  const listener = listen(options.databaseUrl, DELIVERY_CHANNEL, createNotified({ wake, notices }));
  const mailer = options.mailUrl === undefined ? null : createMailer({ url: options.mailUrl, from: 'alerts@service.example' });
  const sending = { database, outbound, secretBox, stopping: stopping.signal, warn };
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue,
    identity: 'test',
    workflowBundle: workflowBundle ?? (await openWorkflowBundle(false)),
    workflowFailureErrorTypes: RUNS_THAT_FAIL,
    stickyQueueScheduleToStartTimeout: '2s',
    shutdownGraceTime: '5s',
    activities: {
      ...createAnomalyActivities({ database, clock: Date.now, warn }),
      ...createMessageActivities({ ...sending, mailer, limits: { ...ALERT_LIMITS, ...options.alertLimits } }),
      ...createWebhookActivities({
        ...sending,
        chatOutbound: outbound,
        retries,
        wake,
        notices,
        shards: 1,
        windowMs: options.windowMs,
        limits: { ...WEBHOOK_LIMITS, ...options.limits },
      }),
    },
  });
  const running = worker.run();
  await ensureDispatchers(client, { shards: 1, taskQueue });
  await scheduleWindowClosing(client, { taskQueue, windowMs: options.windowMs });
  await ensureMessageWorkflow(client, taskQueue);
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    stopping.abort();
    worker.shutdown();
    await running;
    await listener.close();
    mailer?.close();
    await Promise.all([outbound.close(), database.close(), native.close(), connection.close()]);
  };
  return { database, client, outbound, secretBox, stop: () => (stopped ??= stop()) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await startWebhookWorker(JSON.parse(process.argv[2] ?? '{}') as WebhookWorkerOptions);
}
