import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Keyring } from '../../adapters/jws.ts';
import type { Networks } from '../../chain/network.ts';
import type { Rpc } from '../../chain/rpc.ts';
import type { Database } from '../../db/database.ts';
import type { CrashPoint, Log } from '../../services/settlement/deps.ts';
import type { SettleReceipt } from '../../services/settlement/outcome.ts';
import type { SettleRequest } from '../../services/settlement/settle.ts';
import { settle } from '../../services/settlement/settle.ts';
import { createBatchStarter } from '../../services/settlement/starter.ts';
import { openWaiter } from '../../services/settlement/waiter.ts';
import type { ApiConfig } from '../config.ts';
import { TASK_QUEUE } from '../taskQueue.ts';

/** After this long without a receipt the fees of a batch are raised. */
const STUCK_AFTER_MS = 30_000;

/** What the API's half of settlement is made from. */
export interface SettlementParts {
  readonly config: ApiConfig;
  readonly client: Client;
  readonly database: Database;
  readonly networks: Networks;
  readonly rpcOf: (networkId: string) => Rpc;
  readonly keyring: Keyring;
  readonly issuerOf: (tenantId: string) => Promise<string>;
  readonly directUrl: string;
  readonly log: Log;
}

/** Binds the settlement service to this process: it accepts payments, starts batches, and waits for rows; it holds no relayer key. */
export function openSettlement({ config, client, keyring, directUrl, ...parts }: SettlementParts) {
  const { database, log } = parts;
  const waiter = openWaiter({ database, directUrl, log });
  const starter = createBatchStarter({
    log,
    groupByTenant: false,
    start: async (proposal) => {
      await client.workflow.start('settlePayments', {
        taskQueue: TASK_QUEUE,
        workflowId: `settle:${proposal.network}:${proposal.batchId}`,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowTaskTimeout: '5s',
        args: [proposal],
        memo: { payments: proposal.payments.map(({ paymentId }) => paymentId) },
      });
    },
  });
  const { licenceLifeSeconds } = config;
  const deps = {
    ...parts,
    waiter,
    starter,
    signer: keyring,
    licenceLifeSeconds,
    now: Date.now,
    newId: randomUUID,
    relayersOf: () => [],
    settings: {
      waitMs: config.settleWaitMs,
      licenceLifeSeconds,
      inFlightLimit: config.relayerInFlight,
      gasBudgetWeiPerDay: config.gasBudgetWeiPerDay ?? null,
      stuckAfterMs: STUCK_AFTER_MS,
      groupByTenant: false,
    },
    crashAt: (point: CrashPoint) => {
      if (config.crashAt === point.replaceAll('_', '-')) process.kill(process.pid, 'SIGKILL');
    },
  };
  return {
    settle: (request: SettleRequest): Promise<SettleReceipt> => settle(deps, request),
    close: async () => {
      starter.close();
      await waiter.close();
    },
  };
}
