import type { OperationExamples } from './shape.ts';
import { HOST, LICENCE_ID, NOW_MS, PAYER, RESOURCE, TRANSACTION } from './values.ts';

const DAY_MS = 86_400_000;
const today = NOW_MS - (NOW_MS % DAY_MS);

const budget = {
  version: 2,
  period: 'day',
  totalMicro: 1_000_000,
  hostMicro: 200_000,
  pageMicro: 50_000,
  approveAboveMicro: 20_000,
  isStopped: false,
  updatedAt: NOW_MS,
  spentMicro: 1000,
  leftMicro: 999_000,
  periodStartsAt: today,
  periodEndsAt: today + DAY_MS,
};
const approval = {
  approvalId: LICENCE_ID,
  host: HOST,
  resource: RESOURCE,
  kind: 'citation',
  amountMicro: 25_000,
  state: 'asked',
  askedAt: NOW_MS,
  decidedAt: null,
  endsAt: NOW_MS + DAY_MS,
};
const key = { keyId: LICENCE_ID, name: 'research agent', last4: 'x7Qa', createdAt: NOW_MS };

/** Examples of what an account spends and is told of it. */
export const spendingExamples: Readonly<Record<string, OperationExamples>> = {
  getBudget: { response: { budget } },
  setBudget: {
    request: {
      ifVersion: 1,
      period: 'day',
      totalMicro: 1_000_000,
      hostMicro: 200_000,
      pageMicro: 50_000,
      approveAboveMicro: 20_000,
    },
    response: { budget },
  },
  listApprovals: { response: { approvals: [approval] } },
  decideApproval: {
    parameters: { approvalId: LICENCE_ID },
    request: { decision: 'approve' },
    response: { ...approval, state: 'approved', decidedAt: NOW_MS },
  },
  listAgentKeys: { response: { keys: [key] } },
  mintAgentKey: { request: { name: 'research agent' }, response: { ...key, token: 'svc_buyer_…' } },
  revokeAgentKey: { parameters: { keyId: LICENCE_ID } },
  listSpending: {
    parameters: { groupBy: 'host' },
    response: {
      totals: { payments: 1, settledMicro: 1000, openMicro: 0 },
      spending: [
        {
          at: NOW_MS,
          host: HOST,
          resource: RESOURCE,
          kind: 'read',
          purpose: 'page',
          amountMicro: 1000,
          outcome: 'settled',
          paymentState: 'final',
          reason: null,
          network: 'eip155:8453',
          payer: PAYER,
          nonce: `0x${'9a'.repeat(32)}`,
          settlementRef: TRANSACTION,
          settlementRefKind: 'txHash',
          licenceJti: null,
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
          eventId: 'evt_5f0c1b6e6d3a4c559a4e2f8d1f3f7c10',
          percent: 80,
          period: 'day',
          state: 'delivered',
          periodStartsAt: today,
          periodEndsAt: today + DAY_MS,
          spentMicro: 801_000,
          limitMicro: 1_000_000,
          at: NOW_MS,
          attempts: 1,
          reason: null,
        },
      ],
    },
  },
  setBudgetAlerts: {
    request: { url: 'https://hooks.example.com/budget' },
    response: { url: 'https://hooks.example.com/budget', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  },
};
