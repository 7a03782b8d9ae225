import type { OperationExamples } from './shape.ts';
import { HOST, NOW_MS, PAYER, RESOURCE, TRANSACTION } from './values.ts';

const DAY_MS = 86_400_000;
const today = NOW_MS - (NOW_MS % DAY_MS);

/** Examples of what an account spends and is told of it. */
export const spendingExamples: Readonly<Record<string, OperationExamples>> = {
  listSpending: {
    parameters: { groupBy: 'host' },
    response: {
      totals: { payments: 1, settledMicro: 1000, openMicro: 0 },
      spending: [
        {
          ...{ at: NOW_MS, host: HOST, resource: RESOURCE, kind: 'read', purpose: 'page', amountMicro: 1000 },
          ...{ outcome: 'settled', paymentState: 'final', reason: null, network: 'eip155:8453', payer: PAYER },
          ...{ nonce: `0x${'9a'.repeat(32)}`, settlementRef: TRANSACTION, settlementRefKind: 'txHash', licenceJti: null },
        },
      ],
      groups: [{ key: HOST, payments: 1, settledMicro: 1000, openMicro: 0 }],
    },
  },
  listBudgetAlerts: {
    response: {
      url: 'https://hooks.example.com/budget',
      setAt: NOW_MS - DAY_MS,
      alerts: [
        {
          ...{ eventId: 'evt_5f0c1b6e6d3a4c559a4e2f8d1f3f7c10', percent: 80, period: 'day', state: 'delivered' },
          ...{ periodStartsAt: today, periodEndsAt: today + DAY_MS, spentMicro: 801_000, limitMicro: 1_000_000 },
          ...{ at: NOW_MS, attempts: 1, reason: null },
        },
      ],
    },
  },
  setBudgetAlerts: {
    request: { url: 'https://hooks.example.com/budget' },
    response: { url: 'https://hooks.example.com/budget', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  },
};
