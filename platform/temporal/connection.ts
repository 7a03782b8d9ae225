import type { ConnectionOptions, TLSConfig } from '@temporalio/client';
import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** How long a call may take whose caller named no time: one that nobody answers would keep its caller, and what that holds, for ever. */
const LIMIT_MS = 20_000;
/** gRPC would wait two minutes between two tries, and Temporal would be back unnoticed for as long. */
const LONGEST_PAUSE_MS = 5_000;

/** One that takes longer to say its version counts as away. */
const LOOK_MS = 3_000;

/** How often a call is sent that Temporal refuses: ten times last as long as it may take; four times last a second, where somebody waits. */
const TRIES = { patient: 10, brief: 4 } as const;

/** Where Temporal is and how it is reached, as the SDK's client and worker take it. */
export interface TemporalServer {
  /** host:port of the frontend. */
  readonly address: string;
  /** TLS, and a client's certificate where the server wants one; absent: plain text. */
  readonly tls?: TLSConfig;
  /** Sent as a bearer token with every call, over TLS alone. */
  readonly apiKey?: string;
}

/**
 * A connection to Temporal that is opened by its first call, and again after each loss: a process starts, and stays up, while Temporal is
 * away. Calls then reject, within 20 s unless `withDeadline` said otherwise; `brief` ones within seconds where it refuses them. The caller closes it.
 */
export function openTemporal(server: TemporalServer, tries: keyof typeof TRIES = 'patient'): Connection {
  const withinLimit: Interceptor = (options, next) =>
    next({ ...options, deadline: options.deadline ?? Date.now() + LIMIT_MS }) as ReturnType<Interceptor>;
  return Connection.lazy({
    ...server,
    channelArgs: { 'grpc.max_reconnect_backoff_ms': LONGEST_PAUSE_MS },
    interceptors: [withinLimit, makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: TRIES[tries] }))],
  });
}

/** Resolves when Temporal answers; rejects where it does not within three seconds. */
export async function requireTemporal(connection: Connection): Promise<void> {
  await connection.withDeadline(Date.now() + LOOK_MS, () => connection.workflowService.getSystemInfo({}));
}
