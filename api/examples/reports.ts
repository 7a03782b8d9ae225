import type { OperationExamples } from './shape.ts';
import { ANN, BOB, HOST, JWS, NOW_MS, SLUG, TENANT_ID, TRANSACTION, WINDOW } from './values.ts';

const parameters = { from: String(WINDOW.from), to: String(WINDOW.to), limit: '50' };
const frame = { generatedAt: NOW_MS, window: WINDOW };
const totals = { tenants: 1, events: 2, reads: 1, citations: 1, authors: 3, grossMicroUsdc: 6000 };
const audit = {
  observations: 4,
  agentHits: 3,
  denied: 1,
  answered: 1,
  paid: 2,
  servedFree: 0,
  paymentFailed: 1,
  missedMicroUsdc: 1000,
  failedMicroUsdc: 1000,
  earnedMicroUsdc: 6000,
  failedByReason: {
    insufficient_funds: 1,
    authorization_invalid: 0,
    malformed_payment: 0,
    network_unsupported: 0,
    settlement_failed: 0,
  },
  verifiedHits: 2,
  verifiedEarnedMicroUsdc: 6000,
  masqueradeAttempts: 0,
};

/** Examples of the groups Earnings, Audit, Config and Members. */
export const reportExamples: Readonly<Record<string, OperationExamples>> = {
  getEarnings: {
    parameters: { ...parameters, groupBy: 'slug', compare: '0', host: HOST, kind: 'read' },
    response: {
      ...frame,
      totals,
      breakdown: [{ key: SLUG, label: SLUG, events: 2, reads: 1, citations: 1, grossMicroUsdc: 6000 }],
      tenants: [
        {
          id: TENANT_ID,
          hosts: [HOST],
          events: 2,
          reads: 1,
          citations: 1,
          authors: 3,
          grossMicroUsdc: 6000,
          lastEventAt: NOW_MS,
        },
      ],
      recent: [{ host: HOST, slug: SLUG, kind: 'read', micro: 1000, at: NOW_MS }],
      nextCursor: NOW_MS,
    },
  },
  getStatements: {
    parameters,
    response: {
      ...frame,
      statements: [
        {
          wallet: ANN,
          events: 1,
          reads: 1,
          citations: 0,
          grossMicroUsdc: 500,
          lines: [{ host: HOST, slug: SLUG, kind: 'read', share: 0.5, micro: 500, at: NOW_MS }],
        },
      ],
      totalMicroUsdc: 500,
      authors: 1,
    },
  },
  getReconciliation: {
    parameters,
    response: {
      ...frame,
      recorded: { events: 2, grossMicroUsdc: 6000 },
      settled: { legs: 5, micro: 5700 },
      outstanding: { legs: 1, micro: 300 },
      exceptions: [
        {
          eventId: TENANT_ID,
          host: HOST,
          slug: SLUG,
          kind: 'read',
          toAddress: BOB,
          micro: 300,
          recordedAt: NOW_MS,
          ageMs: 4_000,
          reason: 'settlement_pending',
          settlementRef: TRANSACTION,
          settlementRefKind: 'txHash',
        },
      ],
    },
  },
  exportEarningsCsv: { parameters },
  exportEarningsPdf: { parameters },
  getAudit: {
    parameters: { ...parameters, groupBy: 'agent', verdict: 'denied', host: HOST },
    response: {
      ...frame,
      totals: audit,
      breakdown: [
        {
          key: 'readerbot',
          label: 'readerbot',
          hits: 3,
          denied: 1,
          answered: 1,
          paid: 2,
          missedMicroUsdc: 1000,
          earnedMicroUsdc: 6000,
          verifiedEarnedMicroUsdc: 6000,
        },
      ],
      byAgent: [{ agent: 'reader.example', hits: 3, denied: 1, answered: 1, paid: 2, verified: true }],
      recent: [{ host: HOST, slug: SLUG, kind: 'read', verdict: 'denied', classifiedAs: 'agent', micro: 1000, at: NOW_MS }],
    },
  },
  getTenantSelf: {
    response: {
      tenants: [
        {
          id: TENANT_ID,
          hosts: [HOST],
          origin_url: `https://${HOST}`,
          article_prefixes: ['/articles/'],
          price_usdc: 0.001,
          citation_multiplier: 5,
          credits_api_url: null,
          license_issuer: null,
          plan: 'studio',
          status: 'active',
          owner_user_id: 'user_1',
          created_at: '2026-01-05T09:00:00.000Z',
          updated_at: '2026-11-20T09:00:00.000Z',
        },
      ],
      chainsEnabled: ['eip155:8453'],
    },
  },
  readLinkedStatement: { request: { token: JWS } },
  acceptInvitation: {
    request: { inviteToken: 'q0mYb8h2cS5tK1vX7zR4nW6eJ3uP9aLdq0mYb8h2cS5' },
    response: { accepted: true, tenantId: TENANT_ID, authorId: 'ann' },
  },
  listMembers: {
    response: {
      org: 'user_1',
      authors: [
        {
          tenantId: TENANT_ID,
          authorId: 'ann',
          email: 'ann@news.example',
          userId: null,
          accepted: false,
          inviteToken: 'q0mYb8h2cS5tK1vX7zR4nW6eJ3uP9aLd',
        },
      ],
    },
  },
};
