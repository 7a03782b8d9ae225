import { defineEntity, p } from '@mikro-orm/postgresql';
import type { FailureReason } from '../../modules/kernel/errors.ts';
import type { Address, Leg } from '../../modules/kernel/money/legs.ts';
import type { PaymentState as State } from '../../modules/kernel/payment/state.ts';
import type { CrossingKind, ObservedAgent } from '../../modules/kernel/terms.ts';
import { bytes, MIGRATED, uint256 } from './columns.ts';

export const AuthorizationClaim = defineEntity({
  name: 'AuthorizationClaim',
  tableName: 'authorization_claim',
  properties: {
    digest: bytes().primary(),
    tenantId: p.uuid(),
    paymentId: p.uuid(),
  },
});

export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_key',
  properties: {
    tenantId: p.uuid().primary(),
    key: p.text().primary(),
    requestHash: p.text(),
    paymentId: p.uuid().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A leg in JSON: its amount is text. */
type StoredLeg = Omit<Leg, 'amountMicro'> & { readonly amountMicro: string; readonly share: number };

/** Columns of `payment_intake`, here and where its closed months stand. */
export const paymentIntake = {
  paymentId: p.uuid().primary(),
  tenantId: p.uuid().primary(),
  mode: p.text().$type<'live' | 'mock'>().defaultRaw("'live'::text"),
  network: p.text(),
  asset: p.text().$type<Address>(),
  payer: p.text().$type<Address>(),
  payTo: p.text().$type<Address>(),
  nonce: p.text().$type<`0x${string}`>(),
  validAfter: uint256(),
  validBefore: uint256(),
  signature: bytes(),
  x402Version: p.smallint().$type<1 | 2>().name('x402_version'),
  host: p.text(),
  slug: p.text(),
  resource: p.text(),
  resourceKey: p.text(),
  kind: p.text().$type<CrossingKind>(),
  purpose: p.text().$type<'page' | 'licence'>().defaultRaw("'page'::text"),
  amountMicro: p.bigint('string'),
  legs: p.json().$type<readonly StoredLeg[]>(),
  legWords: p.array().$type<readonly `0x${string}`[]>().nullable(),
  router: p.text().$type<Address>(),
  binding: p.text(),
  agent: p.json().$type<ObservedAgent & { readonly label: string }>().defaultRaw("'{}'::jsonb"),
  keyId: p.uuid().nullable(),
  accountId: p.uuid().nullable(),
  repeatsLicence: p.boolean().default(false),
  acceptedAt: p.datetime(3).defaultRaw('now()'),
  at: p.datetime(3).defaultRaw('now()'),
  licenceOfferId: p.uuid().nullable(),
  plannedGas: p.bigint('string').defaultRaw('120000'),
  waitMs: p.integer().nullable(),
  licenceSeconds: p.integer().nullable(),
  signingKid: p.text().nullable(),
};

export const PaymentIntake = defineEntity({ name: 'PaymentIntake', tableName: 'payment_intake', properties: paymentIntake });

/** Columns of `payment_state`, here and where its closed months stand. */
export const paymentState = {
  tenantId: p.uuid().primary(),
  paymentId: p.uuid().primary(),
  network: p.text(),
  mode: p.text().$type<'live' | 'mock'>(),
  payer: p.text(),
  payTo: p.text(),
  plannedGas: p.bigint('string'),
  acceptedAt: p.datetime(3),
  unusedAtBlock: p.bigint('string').nullable(),
  attempts: p.integer().default(0),
  batchSize: p.smallint().nullable(),
  batchId: p.uuid().nullable(),
  payerKind: p.text().$type<'plain' | 'contract'>().defaultRaw("'plain'::text"),
  settler: p.text().$type<'relayer' | 'facilitator' | 'mock'>().defaultRaw("'relayer'::text"),
  state: p.text().$type<State>(),
  recorded: p.boolean().default(false),
  failureObserved: p.boolean().default(false),
  forgone: p.boolean().default(false),
  watched: p.boolean().default(true),
  successorId: p.uuid().nullable(),
  reason: p.text().$type<FailureReason>().nullable(),
  rawReason: p.text().nullable(),
  sentence: p.text().nullable(),
  txHash: p.text().nullable(),
  logPosition: p.integer().nullable(),
  blockNumber: p.bigint('string').nullable(),
  blockTime: p.datetime(3).nullable(),
  decidedAt: p.datetime(3).nullable(),
  settledAt: p.datetime(3).nullable(),
  finalAt: p.datetime(3).nullable(),
  checkedAt: p.datetime(3).nullable(),
  licenceJti: p.uuid().nullable(),
  licenceIssuedAt: p.bigint('string').nullable(),
  licenceExpiresAt: p.bigint('string').nullable(),
  licenceKid: p.text().nullable(),
  reviewClosedAt: p.datetime(3).nullable(),
  reviewClosedReason: p.text().nullable(),
  ownFinality: p.boolean().default(true),
  stage: p
    .text()
    .generated(
      "(\nCASE\n    WHEN (state = ANY (ARRAY['accepted'::text, 'broadcast'::text])) THEN 'under_way'::text\n    ELSE state\nEND) stored",
    ),
  watchSide: p
    .text()
    .nullable()
    .generated(
      "(\nCASE\n    WHEN (watched AND (mode = 'live'::text) AND (state = ANY (ARRAY['failed'::text, 'superseded'::text, 'expired'::text, 'review'::text, 'held'::text]))) THEN\n    CASE\n        WHEN (batch_id IS NULL) THEN 'unsent'::text\n        ELSE 'carried'::text\n    END\n    ELSE NULL::text\nEND) stored",
    ),
};

export const PaymentState = defineEntity({ name: 'PaymentState', tableName: 'payment_state', properties: paymentState });

export const TransferClaim = defineEntity({
  name: 'TransferClaim',
  tableName: 'transfer_claim',
  properties: {
    network: p.text().primary(),
    txHash: p.text().primary(),
    logPosition: p.integer().primary(),
    tenantId: p.uuid(),
    paymentId: p.uuid(),
  },
});

/** Columns of the view `payment`: what came in, and what became of it. What only intake asks for is not in it. */
const { waitMs: _waitMs, licenceSeconds: _licenceSeconds, signingKid: _signingKid, ...shownIntake } = paymentIntake;
/** Columns of `payment_state` that views show. */
export const { forgone: _forgone, ...shownState } = paymentState;
const payment = { ...shownState, ...shownIntake };

export const Payment = defineEntity({
  name: 'Payment',
  tableName: 'payment',
  view: true,
  expression: MIGRATED,
  properties: payment,
});
