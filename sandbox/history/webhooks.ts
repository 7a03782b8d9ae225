import type { Database } from '../../db/database.ts';
import { bucketsOfShard } from '../../modules/webhooks/rules/endpoint.ts';
import { leaseFirstAttempts } from '../../modules/webhooks/store/leases.ts';
import { closeDueWindows } from '../../modules/webhooks/use/closeWindows.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { recordOf } from '../../modules/webhooks/use/post.ts';
import { createRecorder } from '../../modules/webhooks/use/recorder.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import type { SandboxSecrets } from '../secrets.ts';
import { DEMO } from './cast.ts';
import type { Past } from './past.ts';

/** As the sandbox's own (`eventWindowMs`). */
const EVENT_WINDOW_MS = 2_000;
const LEASE_MS = 25_000;
/** What receivers answer, by what their endpoint is called. */
const RECEIVERS = {
  accounting: { description: 'Accounting', path: '/hook', status: 200, durationMs: 84, responseStart: 'ok' },
  newsroom: { description: 'Newsroom bot (moved)', path: '/newsroom-bot', status: 404, durationMs: 37, responseStart: '' },
} as const;
type Receiver = keyof typeof RECEIVERS;

/** Webhooks of the history. Their attempts are made by nobody: the answer is said, and what follows from it is the product's. */
export interface Post {
  /** Adds an endpoint of the site at the moment that is set; what happened before is announced to nobody. */
  addEndpoint(receiver: Receiver): Promise<void>;
  /** Announces what has happened, and makes the first attempts. */
  deliver(): Promise<void>;
}

/** Opens it; `sinkUrl` receives what is sent from now on. */
export function openPost(past: Past, secrets: SandboxSecrets, sinkUrl: string): Post {
  const { database, nowMs } = past;
  const secretBox = createSecretBox(Buffer.from(secrets.secretsKey, 'base64url'));
  const recorder = createRecorder(database);
  const answers = new Map<string, (typeof RECEIVERS)[Receiver]>();
  return {
    addEndpoint: async (receiver) => {
      await closeDueWindows(database, EVENT_WINDOW_MS);
      const { description, path } = RECEIVERS[receiver];
      const outbound = createOutbound({ allowLoopback: true });
      const url = new URL(path, sinkUrl).href;
      const { endpointId } = await createEndpoint({ database, secretBox, outbound }, DEMO.tenantId, { url, description });
      await outbound.close();
      answers.set(endpointId, RECEIVERS[receiver]);
    },
    deliver: async () => {
      await closeDueWindows(database, EVENT_WINDOW_MS);
      if (answers.size === 0) return;
      const leased = await database.transaction((sql) => leaseFirstAttempts(sql, bucketsOfShard(0, 1), 10, LEASE_MS));
      const ends = leased.map((delivery) => {
        const answer = answers.get(delivery.endpointId) ?? RECEIVERS.accounting;
        const { status, durationMs, responseStart } = answer;
        const record = recordOf(delivery, {
          status,
          durationMs,
          responseStart,
          reason: null,
          retryAfter: null,
          startedAtMs: nowMs(),
        });
        // It counts from the clock of this machine.
        return recorder.record({ ...record, dueAtMs: record.dueAtMs && record.dueAtMs - Date.now() + nowMs() });
      });
      await Promise.all(ends);
    },
  };
}

/** Tells the endpoints of the history where the sink of this run is. */
export async function pointToSink(database: Database, sinkUrl: string): Promise<void> {
  for (const { description, path } of Object.values(RECEIVERS)) {
    const url = new URL(path, sinkUrl).href;
    const change = 'update webhook_endpoint set url = $3 where tenant_id = $1 and description = $2';
    await database.query(change, [DEMO.tenantId, description, url]);
  }
}
