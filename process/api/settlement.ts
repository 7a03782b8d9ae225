import type { Client } from '@temporalio/client';
import { isServiceError } from '../../modules/kernel/errors.ts';
import type { Metrics } from '../../modules/kernel/metrics.ts';
import { newPaymentId } from '../../modules/settlement/use/accept/paymentId.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import { settle } from '../../modules/settlement/use/accept/settle.ts';
import { openWaiter } from '../../modules/settlement/use/accept/waiter.ts';
import type { SettleReceipt } from '../../modules/settlement/use/answer/receipt.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import type { SettlementDeps } from '../../modules/settlement/use/deps.ts';
import { createPurchaseStart } from '../../modules/storefront/use/licences/startPurchaseWorkflow.ts';
import type { Keyring } from '../../platform/tokens/jws.ts';
import { TASK_QUEUE } from '../taskQueue.ts';

/** What the API's half of settlement is made from. */
export interface SettlementParts {
  readonly settlement: SettlementDeps;
  readonly client: Client;
  readonly keyring: Keyring;
  readonly issuerOf: (tenantId: string) => Promise<string>;
  readonly baseUrl: string;
  /** Postgres without a pooler, for LISTEN. */
  readonly directUrl: string;
  /** The trace of the call that runs, for the worker that sends its payment. */
  readonly trace: () => string | null;
}

/** Binds the settlement service to this process: it accepts payments and waits for their rows; it holds no relayer key. */
export function openSettlement({ settlement, client, keyring, issuerOf, baseUrl, directUrl, trace }: SettlementParts) {
  const { database, log } = settlement;
  const { licenceLifeSeconds } = settlement.settings;
  const waiter = openWaiter({ database, directUrl, log });
  const onPurchase = createPurchaseStart(client, TASK_QUEUE, log);
  const answering = { waiter, signer: keyring, licenceLifeSeconds, issuerOf, baseUrl, onPurchase, trace };
  const deps = { ...settlement, ...answering, newId: newPaymentId };
  return {
    settle: (request: SettleRequest): Promise<SettleReceipt> => measured(settlement.metrics, () => settle(deps, request)),
    close: (): Promise<void> => waiter.close(),
  };
}

/** Counts an answer under `settled` or its reason, with the time it took. A PaymentError was counted where it was made. */
async function measured(metrics: Metrics | undefined, work: () => Promise<SettleReceipt>): Promise<SettleReceipt> {
  const startedMs = performance.now();
  let reason = 'settled';
  let isCounted = false;
  try {
    return await work();
  } catch (error) {
    isCounted = error instanceof PaymentError;
    reason = isServiceError(error) ? error.code : 'defect';
    throw error;
  } finally {
    if (!isCounted) metrics?.count('svc.settle.outcome', 1, { reason });
    metrics?.record('svc.settle.duration', performance.now() - startedMs, { reason });
  }
}
