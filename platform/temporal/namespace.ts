import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../modules/kernel/workflow/attributes.ts';
import type { TemporalServer } from './connection.ts';

const DAY_SECONDS = 86_400;
const LIMIT_MS = 60_000;

/** How long closed workflows are kept where it matters: a payment asked about a month later still finds its workflow. */
export const RETENTION_DAYS = 30;

/** Registers a namespace with its search attributes, closed workflows kept for a day, and waits until the server knows it (60 s at most). */
export function registerNamespace(server: TemporalServer, namespace: string): Promise<void> {
  return withService(server, async (service, connection) => {
    await register(service, namespace, 1);
    await untilKnown(service, namespace);
    await addAttributes(connection, namespace);
  });
}

/**
 * A namespace with closed workflows kept for 30 days and the search attributes of workflows, known when this resolves (60 s at most):
 * registered if there is none, its retention raised if it was shorter. A second call changes nothing. A server that lets a client do none of
 * this (Temporal Cloud) is only looked at.
 *
 * @throws Error that says what such a server's own tools must make.
 */
export function ensureNamespace(server: TemporalServer, namespace: string): Promise<void> {
  return withService(server, async (service, connection) => {
    try {
      await register(service, namespace, RETENTION_DAYS);
    } catch (error) {
      if (!isThere(error) && !isNotOurs(error)) throw error;
    }
    await untilKnown(service, namespace);
    await prepare(connection, namespace);
  });
}

/** Gives a namespace what it lacks of 30 days of retention and the search attributes. Throws when there is no such namespace. */
export function prepareNamespace(server: TemporalServer, namespace: string): Promise<void> {
  return withService(server, (_service, connection) => prepare(connection, namespace));
}

/** The search attributes that workflows name and a namespace lacks. */
export async function missingAttributes(connection: Connection, namespace: string): Promise<readonly string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return Object.keys(SEARCH_ATTRIBUTES).filter((name) => customAttributes?.[name] === undefined);
}

type Service = Connection['workflowService'];
type Retention = NonNullable<Parameters<Service['registerNamespace']>[0]['workflowExecutionRetentionPeriod']>;

/** A plain number is taken where the protocol's types want one of 64 bits. */
function days(count: number): Retention {
  return { seconds: count * DAY_SECONDS } as unknown as Retention;
}

async function withService<T>(
  server: TemporalServer,
  work: (service: Service, connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ ...server, connectTimeout: LIMIT_MS });
  try {
    return await work(connection.workflowService, connection);
  } finally {
    await connection.close();
  }
}

async function register(service: Service, namespace: string, retentionDays: number): Promise<void> {
  await retried(() => service.registerNamespace({ namespace, workflowExecutionRetentionPeriod: days(retentionDays) }), isUnready);
}

async function untilKnown(service: Service, namespace: string): Promise<void> {
  await retried(
    () => service.listOpenWorkflowExecutions({ namespace, maximumPageSize: 1 }),
    () => true,
  );
}

async function prepare(connection: Connection, namespace: string): Promise<void> {
  await raise(connection.workflowService, namespace);
  await addAttributes(connection, namespace);
}

/** The types of search attributes in Temporal's protocol. */
const INDEXED = { KEYWORD: 2, KEYWORD_LIST: 7 } as const;
/** As Temporal's tools spell them. */
const NAMES = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' } as const;

async function addAttributes(connection: Connection, namespace: string): Promise<void> {
  const missing = await missingAttributes(connection, namespace);
  if (missing.length === 0) return;
  const types = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => missing.includes(name));
  const searchAttributes = Object.fromEntries(types.map(([name, type]) => [name, INDEXED[type]]));
  const wanted = types.map(([name, type]) => `${name} (${NAMES[type]})`).join(', ');
  await orByItsOwnTools(
    () => connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
    `needs the search attributes ${wanted}`,
  );
  const { workflowService } = connection;
  const query = missing.map((name) => `${name} = 'none'`).join(' AND ');
  await retried(
    () => workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1 }),
    () => true,
  );
}

async function raise(service: Service, namespace: string): Promise<void> {
  const { config } = await service.describeNamespace({ namespace });
  if (Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) >= RETENTION_DAYS * DAY_SECONDS) return;
  await orByItsOwnTools(
    () => service.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: days(RETENTION_DAYS) } }),
    `must keep closed workflows for ${RETENTION_DAYS} days`,
  );
}

/** Makes a change of the namespace; where the server leaves such changes to its own tools, says what they must make. */
async function orByItsOwnTools(change: () => Promise<unknown>, wanted: string): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!isNotOurs(error)) throw error;
    throw new Error(`the namespace ${wanted}: make it with this Temporal's own tools, since it lets no client do so`, {
      cause: error,
    });
  }
}

/** gRPC's ALREADY_EXISTS. */
function isThere(error: unknown): boolean {
  return codeOf(error) === 6;
}

/** gRPC's PERMISSION_DENIED and UNIMPLEMENTED: a managed server, whose namespaces are made by its own tools. */
function isNotOurs(error: unknown): boolean {
  return [7, 12].includes(codeOf(error));
}

function codeOf(error: unknown): number {
  return (error as { code?: number }).code ?? 0;
}

/** gRPC's UNAVAILABLE and DEADLINE_EXCEEDED: a server whose services have not found each other yet. */
function isUnready(error: unknown): boolean {
  return [14, 4].includes(codeOf(error));
}

async function retried(work: () => Promise<unknown>, again: (error: unknown) => boolean): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!again(error) || performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
