import { defineEntity, p } from '@mikro-orm/postgresql';
import { bytes, uint256 } from './columns.ts';

export const BlockedPayee = defineEntity({
  name: 'BlockedPayee',
  tableName: 'blocked_payee',
  properties: {
    network: p.text().primary(),
    payTo: p.text().primary(),
    detail: p.text(),
    since: p.datetime(3).defaultRaw('now()'),
    checkedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const FacilitatorSubmission = defineEntity({
  name: 'FacilitatorSubmission',
  tableName: 'facilitator_submission',
  properties: {
    tenantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    batchId: p.uuid().primary(),
    dueAt: p.datetime(3).defaultRaw('now()'),
    asks: p.integer().default(0),
    askedAt: p.datetime(3).nullable(),
    answeredAt: p.datetime(3).nullable(),
    said: p.text().$type<'settled' | 'refused' | 'unknown'>().nullable(),
    refusals: p.integer().default(0),
    reference: p.text().nullable(),
    detail: p.text().nullable(),
  },
});

export const GasUsage = defineEntity({
  name: 'GasUsage',
  tableName: 'gas_usage',
  properties: {
    tenantId: p.uuid().primary(),
    day: p.date().primary(),
    gasWei: uint256().default(0),
  },
});

export const NetworkGasUsage = defineEntity({
  name: 'NetworkGasUsage',
  tableName: 'network_gas_usage',
  properties: {
    network: p.text().primary(),
    day: p.date().primary(),
    gasWei: uint256(),
  },
});

export const PayerStrike = defineEntity({
  name: 'PayerStrike',
  tableName: 'payer_strike',
  properties: {
    network: p.text().primary(),
    payer: p.text().primary(),
    strikes: p.integer().default(1),
    lastAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const Relayer = defineEntity({
  name: 'Relayer',
  tableName: 'relayer',
  properties: {
    network: p.text().primary(),
    address: p.text().primary(),
    nextNonce: p.bigint('string').defaultRaw('0'),
    inFlightLimit: p.integer().default(4),
    pausedReason: p.text().nullable(),
    checkedAt: p.datetime(3).nullable(),
    seenNonce: p.bigint('string').nullable(),
    seenAt: p.datetime(3).nullable(),
  },
});

export const RelayerNonce = defineEntity({
  name: 'RelayerNonce',
  tableName: 'relayer_nonce',
  properties: {
    network: p.text().primary(),
    relayer: p.text().primary(),
    nonce: p.bigint('string').primary(),
    batchId: p.uuid(),
  },
});

export const RelayerTransaction = defineEntity({
  name: 'RelayerTransaction',
  tableName: 'relayer_transaction',
  properties: {
    batchId: p.uuid().primary(),
    attempt: p.smallint().primary(),
    network: p.text(),
    relayer: p.text(),
    nonce: p.bigint('string'),
    kind: p.text().$type<'settle' | 'void' | 'flush'>(),
    txHash: p.text().$type<`0x${string}`>(),
    raw: bytes(),
    gasLimit: p.bigint('string'),
    maxFeeWei: uint256(),
    priorityFeeWei: uint256(),
    sentAt: p.datetime(3).nullable(),
    sendResult: p.text().nullable(),
    signedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const SettlementBatch = defineEntity({
  name: 'SettlementBatch',
  tableName: 'settlement_batch',
  properties: {
    batchId: p.uuid().primary(),
    network: p.text(),
    relayer: p.text(),
    kind: p.text().$type<'settle' | 'flush' | 'facilitator'>(),
    workflowId: p.text().nullable(),
    nonce: p.bigint('string'),
    state: p.text().$type<'open' | 'mined' | 'safe'>().defaultRaw("'open'::text"),
    tenantIds: p.array().columnType('uuid[]').defaultRaw("'{}'::uuid[]"),
    paymentIds: p.array().columnType('uuid[]').defaultRaw("'{}'::uuid[]"),
    gasWei: uint256().nullable(),
    gasShares: p.json().$type<Readonly<Record<string, string>>>().nullable(),
    gasUsed: p.bigint('string').nullable(),
    heldUntil: p.datetime(3).defaultRaw('now()'),
    finalAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    closedAt: p.datetime(3).nullable(),
  },
});

export const Split = defineEntity({
  name: 'Split',
  tableName: 'split',
  properties: {
    network: p.text().primary(),
    router: p.text().$type<`0x${string}`>().primary(),
    payTo: p.text().$type<`0x${string}`>().primary(),
    legWords: p.array().$type<readonly `0x${string}`[]>(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    checkedAt: p.datetime(3).nullable(),
  },
});

export const SplitLeg = defineEntity({
  name: 'SplitLeg',
  tableName: 'split_leg',
  properties: {
    network: p.text().primary(),
    payTo: p.text().primary(),
    ordinal: p.smallint().primary(),
    toAddress: p.text(),
    weight: p.decimal('string').precision(30).scale(0),
    totalWeight: p.decimal('string').precision(33).scale(0),
  },
});

export const SplitSeller = defineEntity({
  name: 'SplitSeller',
  tableName: 'split_seller',
  properties: {
    tenantId: p.uuid().primary(),
    network: p.text().primary(),
    payTo: p.text().primary(),
  },
});
