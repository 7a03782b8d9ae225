import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { HOST, LEGS, LICENCE_ID, NOW_MS, TENANT_ID, TRANSACTION } from '../examples/values.ts';

/** Deliveries to a publisher's endpoint, for the `webhooks` member of the API description. */

const SettlementLeg = z
  .object({
    toAddress: z.string(),
    amountMicro: z.int().meta({ description: 'Micro-USDC; negative where a chain reorganisation took a payment back.' }),
    role: z.enum(['author', 'coauthor', 'platform']),
    authorId: z.exactOptional(z.string()),
    settlementRef: z.string().nullable(),
    settlementRefKind: z.enum(['txHash', 'transferId', 'mock', 'none']),
    receiptId: z.string().meta({ description: 'The sale; a leg and the one that takes it back have the same.' }),
    reverses: z.exactOptional(z.string().meta({ description: 'The transaction whose payout this leg takes back.' })),
  })
  .meta({ id: 'SettlementLeg' });

const SettlementDetails = z
  .object({
    tenant: z.string(),
    host: z.string(),
    window: z.object({ toMs: z.int(), spanMs: z.int() }),
    citations: z.object({ settled: z.int() }),
    gross: z.object({ microUsdc: z.int(), usdc: z.string().meta({ description: 'For people; never parse it.' }) }),
    legs: z.array(SettlementLeg),
    settlementRefs: z.array(z.string()),
  })
  .meta({ id: 'SettlementDetails' });

const SettlementSummary = z.object({ tenant: z.string(), announced: z.int() }).meta({ id: 'SettlementSummary' });

const AnomalyDetected = z
  .object({ metric: z.string(), detail: z.string(), rangeKey: z.string(), threshold: z.number() })
  .meta({ id: 'AnomalyDetected' });

const headers = z.object({
  'Svc-Signature': z.string().meta({
    description: '`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>` with the endpoint’s secret. Two v1 in a rotation.',
  }),
  'Svc-Id': z.string().meta({ description: 'The delivery; the same in every attempt.' }),
  'Svc-Event': z.string().meta({ description: 'The event type.' }),
});

/** The body of a delivery of this type. */
export const SettlementDelivery = envelope('settlement.completed', SettlementDetails.or(SettlementSummary));
/** The body of a delivery of this type. */
export const AnomalyDelivery = envelope('anomaly.detected', AnomalyDetected);

function envelope<Type extends string, Data extends z.ZodType>(type: Type, data: Data) {
  return z.object({
    id: z.string().meta({ description: 'The delivery, as in Svc-Id.' }),
    type: z.literal(type),
    eventId: z.string().meta({ description: 'Stable for what happened: de-duplicate on this.' }),
    createdAt: z.int().meta({ description: 'Epoch milliseconds' }),
    data,
  });
}

const frame = { id: 'dlv_01KAJQ2X9N6M4T8V5R3W7Y1Z0C', createdAt: NOW_MS };

/** An example of each type. */
export const DELIVERY_EXAMPLES = {
  settlement: {
    ...frame,
    type: 'settlement.completed',
    eventId: 'evt_J3p0s8fQ2mVx',
    data: {
      tenant: TENANT_ID,
      host: HOST,
      window: { toMs: NOW_MS, spanMs: 300_000 },
      citations: { settled: 0 },
      gross: { microUsdc: 1000, usdc: '0.001000' },
      legs: LEGS.map((leg) => ({
        ...leg,
        role: 'author',
        settlementRef: TRANSACTION,
        settlementRefKind: 'txHash',
        receiptId: LICENCE_ID,
      })),
      settlementRefs: [TRANSACTION],
    },
  },
  anomaly: {
    ...frame,
    type: 'anomaly.detected',
    eventId: 'evt_9hK2d7Wq4rTz',
    data: {
      metric: 'denied',
      detail: 'Denied requests in the last hour: 120. The threshold is 100.',
      rangeKey: '1h',
      threshold: 100,
    },
  },
} as const;

/** What the service POSTs to an endpoint, by event type. */
export function describeWebhooks(): Record<string, ZodOpenApiPathItemObject> {
  return {
    'settlement.completed': delivery(
      'settlementCompleted',
      'Payouts settled to authors',
      SettlementDelivery,
      DELIVERY_EXAMPLES.settlement,
    ),
    'anomaly.detected': delivery(
      'anomalyDetected',
      'A metric crossed a threshold of yours',
      AnomalyDelivery,
      DELIVERY_EXAMPLES.anomaly,
    ),
  };
}

function delivery(operationId: string, summary: string, schema: z.ZodType, example: unknown): ZodOpenApiPathItemObject {
  return {
    post: {
      operationId,
      tags: ['Webhooks'],
      summary,
      security: [],
      requestParams: { header: headers },
      requestBody: { required: true, content: { 'application/json': { schema, example } } },
      responses: { '2XX': { description: 'Received; the body is ignored' } },
    },
  };
}
