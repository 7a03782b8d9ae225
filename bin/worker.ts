import { setTimeout as sleep } from 'node:timers/promises';
import type { Context as ActivityContext } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import type { ActivityInterceptors, WorkerOptions } from '@temporalio/worker';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createAddressActivities } from '../activities/addresses.ts';
import { createAnomalyActivities } from '../activities/anomalies.ts';
import { createHostActivities } from '../activities/hosts.ts';
import { createLicenceActivities } from '../activities/licences.ts';
import { createMessageActivities } from '../activities/messages.ts';
import { createReconcileActivities } from '../activities/reconciliation.ts';
import { createReportActivities } from '../activities/reports.ts';
import { createSettlementActivities } from '../activities/settlement.ts';
import { createWebhookActivities } from '../activities/webhooks.ts';
import type { Database } from '../db/database.ts';
import { openDatabase } from '../db/database.ts';
import { listen } from '../db/listen.ts';
import { scheduleAnomalySweep } from '../modules/anomalies/use/schedule.ts';
import { ALERT_LIMITS } from '../modules/budgets/use/sendAlerts.ts';
import { ensureObservationPartitions } from '../modules/gate/store/observations.ts';
import { scheduleAddressRefresh } from '../modules/gate/use/schedule.ts';
import { scheduleHostSweep } from '../modules/hosts/use/schedule.ts';
import { ensureMessageWorkflow } from '../modules/mail/use/start.ts';
import { keepGauges } from '../modules/operations/use/gauges.ts';
import { watchProcess } from '../modules/operations/use/processWatch.ts';
import type { RetentionPeriods } from '../modules/operations/use/retention.ts';
import { scheduleReconciliation } from '../modules/reconciliation/use/schedule.ts';
import { scheduleRollupCheck } from '../modules/reports/use/schedule.ts';
import { ACCEPTED_CHANNEL } from '../modules/settlement/store/announce.ts';
import type { Flights } from '../modules/settlement/use/batch/flights.ts';
import { openFlights } from '../modules/settlement/use/batch/flights.ts';
import type { SettlementDeps, StartBatch } from '../modules/settlement/use/deps.ts';
import { checkRails } from '../modules/settlement/use/rails/rails.ts';
import { createBatchStart, prepareRelayers, scheduleSweeps } from '../modules/settlement/use/startWorkflows.ts';
import { DELIVERY_CHANNEL } from '../modules/webhooks/store/events.ts';
import { WEBHOOK_LIMITS } from '../modules/webhooks/use/deps.ts';
import { createNotified } from '../modules/webhooks/use/manageRetries.ts';
import { createNotices } from '../modules/webhooks/use/notices.ts';
import { createRetryStarter, ensureDispatchers, scheduleWindowClosing } from '../modules/webhooks/use/start.ts';
import { createWake } from '../modules/webhooks/use/wake.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import { createOutbound } from '../platform/outbound/outbound.ts';
import type { Log } from '../platform/telemetry/log.ts';
import { withLogFields } from '../platform/telemetry/logFields.ts';
import { openTemporal, requireTemporal } from '../platform/temporal/connection.ts';
import { RUNS_THAT_FAIL } from '../platform/temporal/schedules.ts';
import { createSecretBox } from '../platform/tokens/secretBox.ts';
import type { WorkerConfig } from '../process/config.ts';
import { readWorkerConfig } from '../process/config.ts';
import { createHostDeps, openOutbound } from '../process/hosts.ts';
import { openMailer } from '../process/mailer.ts';
import { compareNetworks } from '../process/networks.ts';
import { openRelayerKeys } from '../process/relayerKeys.ts';
import { runProcess } from '../process/run.ts';
import { createSettlementDeps } from '../process/settlement.ts';
import { TASK_QUEUE } from '../process/taskQueue.ts';
import type { Telemetry } from '../process/telemetry.ts';
import { openTelemetry, withTelemetry } from '../process/telemetry.ts';
import { temporalServerOf } from '../process/temporal.ts';
import { processName } from '../process/version.ts';
import { whenDatabaseAnswers, whileAway } from '../process/whileAway.ts';
import { openWorkflowBundle } from '../process/workflowBundle.ts';

const WEBHOOK_SHARDS = 4;
const SHUTDOWN_GRACE = '25s';
const CLOCK_LOOK_MS = 10_000;
/** After Temporal ended a worker. */
const RETURN_MS = 1_000;
/** How often publishers' anomaly rules are evaluated. */
const ANOMALY_INTERVAL_MS = 300_000;

/**
 * The worker process, until SIGTERM, after which what is in flight may end (safety 20): payments are sent and settled from their rows as soon as
 * Postgres is there, and workflows and activities are carried out while Temporal is. It starts, and stays up, without nodes or Temporal.
 */
async function main(config: WorkerConfig, log: Log): Promise<void> {
  installRuntime(log);
  const telemetry = await openTelemetry(config, 'svc-worker', log);
  const { metrics, plugins } = telemetry;
  const workflowBundle = await openWorkflowBundle(plugins.length > 0);
  const database = await whenDatabaseAnswers({ log }, () => openPool(config, telemetry));
  const outbound = openOutbound(config);
  const settlement = await openSettlementDeps(config, telemetry, { database, log, outbound });
  await whenDatabaseAnswers({ log }, () => prepareRelayers(settlement));
  await checkRails(settlement);
  await whenDatabaseAnswers({ log }, () => ensureObservationPartitions(database));

  const clientConnection = openTemporal(temporalServerOf(config));
  const client = new Client({ connection: clientConnection, namespace: config.temporalNamespace, plugins });
  const warn = (message: string, fields: object): void => log.warn(fields, message);
  const { wake, notices, retries, listener } = listenToDeliveries(config, client);
  const start = createBatchStart(client, TASK_QUEUE);
  const stopping = stopOnSignals(log);
  const flights = await openWokenFlights(config, settlement, start, telemetry);
  const askTemporal = () => requireTemporal(clientConnection);
  const gauged = { ...settlement, askTemporal };
  const endGauges = telemetry.setGauges ? keepGauges(gauged, config.metricsIntervalMs, telemetry.setGauges) : null;
  const chatOutbound = createOutbound();
  const mailer = openMailer(config);
  const sending = {
    database,
    outbound,
    secretBox: createSecretBox(config.secretsKey, config.secretsKeyPrevious),
    stopping,
    warn,
  };
  const standing = () =>
    client.withAbortSignal(stopping, async () => {
      await askTemporal(); // so that it is soon said to be away: other calls are tried again for long
      await startStanding(client, config, settlement.networks.ids);
    });
  await workForTemporal(
    config,
    { log, stopping, standing },
    {
      namespace: config.temporalNamespace,
      taskQueue: TASK_QUEUE,
      plugins,
      interceptors: { activity: [logActivity] },
      workflowBundle,
      activities: {
        ...createSettlementActivities(settlement, flights, start),
        ...createReportActivities({ database, clock: Date.now, retention: retentionOf(config), metrics }),
        ...createLicenceActivities(settlement),
        ...createHostActivities({ ...createHostDeps(config, database, outbound, log), metrics }),
        ...createReconcileActivities(settlement),
        ...createAddressActivities({ database, outbound, clock: Date.now, warn }),
        ...createAnomalyActivities({ database, clock: Date.now, warn }),
        ...createMessageActivities({ ...sending, mailer, limits: ALERT_LIMITS }),
        ...createWebhookActivities({
          ...sending,
          chatOutbound,
          retries,
          wake,
          notices,
          shards: WEBHOOK_SHARDS,
          windowMs: config.eventWindowMs,
          limits: WEBHOOK_LIMITS,
          metrics,
        }),
      },
      workflowFailureErrorTypes: RUNS_THAT_FAIL,
      maxCachedWorkflows: 500,
      maxConcurrentActivityTaskExecutions: 60 + WEBHOOK_SHARDS + 1, // dispatchers and the closing of windows hold a place each
      stickyQueueScheduleToStartTimeout: '2s',
      shutdownGraceTime: SHUTDOWN_GRACE,
      shutdownForceTime: '30s',
    },
  );
  endGauges?.();
  await Promise.all([listener.close(), flights.close()]);
  await Promise.all([mailer?.close(), outbound.close(), chatOutbound.close()]);
  await Promise.all([clientConnection.close(), database.close()]);
  await telemetry.close();
}

/** What Temporal's half of the worker runs beside. */
interface Standing {
  readonly log: Log;
  /** Aborted when the worker is to end. */
  readonly stopping: AbortSignal;
  /** Sees to the standing workflows and schedules. */
  readonly standing: () => Promise<void>;
}

/**
 * Carries out workflows and activities until the worker is to end: from the moment at which Temporal answers, and again should it end us. Nothing
 * that it says ends the process, which sends payments all the same.
 */
async function workForTemporal(
  config: WorkerConfig,
  { log, stopping, standing }: Standing,
  options: Omit<WorkerOptions, 'connection'>,
): Promise<void> {
  const open = async () => {
    // Before this worker takes anything up: the first sweep is one by the schedule of this configuration.
    await standing();
    const connection = await NativeConnection.connect(temporalServerOf(config));
    try {
      return { connection, worker: await Worker.create({ ...options, connection }) };
    } catch (error) {
      await connection.close();
      throw error;
    }
  };
  while (!stopping.aborted) {
    const waiting = { part: 'temporal', log, isAway: () => true, signal: stopping } as const;
    const opened = await whileAway(waiting, open).catch(() => null); // the worker ends
    if (opened === null) return;
    const { connection, worker } = opened;
    const end = (): void => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    try {
      const running = worker.run();
      stopping.addEventListener('abort', end);
      log.info({ taskQueue: TASK_QUEUE }, 'the worker is running');
      if (stopping.aborted) end();
      await running;
    } catch (error) {
      log.error({ err: error }, 'the worker lost Temporal, and asks it again; payments settle meanwhile');
      await sleep(RETURN_MS, undefined, { signal: stopping }).catch(() => undefined);
    } finally {
      stopping.removeEventListener('abort', end);
      await connection.close().catch(() => undefined);
    }
  }
}

/** What a notification of deliveries wakes: the dispatchers of this process, which signal the workflow of the endpoint that it names. */
function listenToDeliveries(config: WorkerConfig, client: Client) {
  const wake = createWake();
  const notices = createNotices(WEBHOOK_SHARDS);
  const retries = createRetryStarter(client, TASK_QUEUE);
  const notified = createNotified({ wake, notices });
  return { wake, notices, retries, listener: listen(config.databaseDirectUrl ?? config.databaseUrl, DELIVERY_CHANNEL, notified) };
}

/**
 * Flights woken by the notification of an accepted payment: its network comes with it, and maybe its trace. At the start and after a lost
 * connection all networks are woken, since some may have been missed. A process whose clock is wrong takes nothing off: being first, it would
 * refuse what others send.
 */
async function openWokenFlights(
  { databaseDirectUrl, databaseUrl }: WorkerConfig,
  settlement: SettlementDeps,
  start: StartBatch,
  telemetry: Telemetry,
): Promise<Flights> {
  const { networks } = settlement;
  const watch = await watchProcess(settlement, { intervalMs: CLOCK_LOOK_MS, set: null });
  const flights = openFlights(settlement, start);
  const wake: Flights['wake'] = (networkId, within) => {
    const take = () => flights.wake(networkId, within);
    watch.requireRightClock().then(take, () => undefined); // a wrong one was logged
  };
  const accepted = listen(databaseDirectUrl ?? databaseUrl, ACCEPTED_CHANNEL, (payload) => {
    if (payload === undefined) {
      for (const networkId of networks.ids) wake(networkId);
      return;
    }
    const [networkId = '', trace] = payload.split(' ');
    if (!networks.ids.includes(networkId)) return; // of an API with other networks
    wake(networkId, (work) => telemetry.goOn(trace, 'sendAtOnce', work));
  });
  const close = async (): Promise<void> => {
    watch.close();
    await accepted.close();
    await flights.close();
  };
  return { ...flights, wake, close };
}

/** The connections of everything that the worker does. */
async function openPool(config: WorkerConfig, telemetry: Telemetry): Promise<Database> {
  const database = await openDatabase({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    pipelined: true,
    applicationName: processName('worker'),
    statementNames: config.databaseStatementNames,
    onConflict: () => telemetry.metrics.count('svc.database.conflicts'),
    onDiskFull: () => telemetry.metrics.count('svc.database.full'),
  });
  telemetry.watchPool('payments', database);
  return database;
}

/** What settlement needs, with its keys opened and its chains compared. Throws where a key cannot sign. */
async function openSettlementDeps(
  config: WorkerConfig,
  telemetry: Awaited<ReturnType<typeof openTelemetry>>,
  { database, log, outbound }: { readonly database: Database; readonly log: Log; readonly outbound: Outbound },
): Promise<SettlementDeps> {
  const relayers = await openRelayerKeys(config, telemetry.metrics);
  const opened = withTelemetry(createSettlementDeps(config, database, log, { outbound, relayers }), telemetry);
  return { ...opened, rpcOf: (await compareNetworks(opened)).rpcOf };
}

/** Aborted on SIGTERM or SIGINT: the worker takes no more tasks and lets those that run end; until they have, payments are sent as they come. */
function stopOnSignals(log: Log): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) return;
      log.info({ signal }, 'the worker is stopping');
      stopping.abort();
    });
  }
  return stopping.signal;
}

/** How long what is no money is kept. */
function retentionOf(config: WorkerConfig): RetentionPeriods {
  const { keepWebhooksDays: webhooks, keepUserAgentsDays: userAgents, keepSignInsDays: signIns } = config;
  return { webhooks, userAgents, signIns };
}

/** Sees to it that the standing workflows run and the schedules are there, with the intervals of this worker. */
async function startStanding(client: Client, config: WorkerConfig, networks: readonly string[]): Promise<void> {
  const taskQueue = TASK_QUEUE;
  await scheduleSweeps(client, { networks, taskQueue, intervalMs: config.sweepIntervalMs });
  await scheduleReconciliation(client, { networks, taskQueue, intervalMs: config.reconcileIntervalMs });
  await scheduleWindowClosing(client, { taskQueue, windowMs: config.eventWindowMs });
  await scheduleAnomalySweep(client, { taskQueue, intervalMs: ANOMALY_INTERVAL_MS });
  await scheduleRollupCheck(client, taskQueue);
  await scheduleAddressRefresh(client, taskQueue);
  await scheduleHostSweep(client, taskQueue);
  await ensureDispatchers(client, { shards: WEBHOOK_SHARDS, taskQueue });
  await ensureMessageWorkflow(client, taskQueue);
}

/** Puts the workflow, the activity and the tenant it works for on every line that an activity writes. */
function logActivity(context: ActivityContext): ActivityInterceptors {
  return {
    inbound: {
      execute: (input, next) => {
        const first = input.args[0] as { readonly tenantId?: unknown } | null | undefined;
        const workflowId = context.info.workflowExecution?.workflowId;
        const tenantId = typeof first?.tenantId === 'string' ? { tenantId: first.tenantId } : {};
        const fields = { activity: context.info.activityType, ...(workflowId === undefined ? {} : { workflowId }), ...tenantId };
        return withLogFields(fields, () => next(input));
      },
    },
  };
}

/** Temporal's native part, whose lines come through our log, too: it would write coloured text between them. */
function installRuntime(log: Log): void {
  const logging = { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } as const;
  Runtime.install({ shutdownSignals: [], logger: temporalLogger(log), telemetryOptions: { logging } });
}

/** Temporal's own lines, as lines of our log. */
function temporalLogger(log: Log) {
  const at = (level: 'trace' | 'debug' | 'info' | 'warn' | 'error') => (message: string, meta?: Record<string, unknown>) =>
    log[level](meta ?? {}, message);
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  return {
    log: (level: keyof typeof levels, message: string, meta?: Record<string, unknown>) => at(levels[level])(message, meta),
    trace: at('trace'),
    debug: at('debug'),
    info: at('debug'),
    // The interceptors that trace workflows are in the bundle; the SDK only sees that it did not put them there.
    warn: (message: string, meta?: Record<string, unknown>) =>
      /workflowModules because/.test(message) || at('warn')(message, meta),
    error: at('error'),
  };
}

await runProcess('worker', readWorkerConfig, main);
