import type { OperationExamples } from './shape.ts';
import { NOW_MS } from './values.ts';

const DAY_MS = 86_400_000;
const today = NOW_MS - (NOW_MS % DAY_MS);

/** Examples of what an account spends and is told of it. */
export const spendingExamples: Readonly<Record<string, OperationExamples>> = {
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
