import { defineEntity, p } from '@mikro-orm/postgresql';
import { MIGRATED } from './columns.ts';
import { crossing, leg } from './ledger.ts';
import { chainTransfer } from './reconciliation.ts';
import { crossingPart } from './reports.ts';
import { paymentIntake, paymentState, shownState } from './settlement.ts';

export const ArchivedMonth = defineEntity({
  name: 'ArchivedMonth',
  tableName: 'month',
  schema: 'archive',
  properties: {
    month: p.date().primary(),
    state: p.text().$type<'attached' | 'detached'>().defaultRaw("'attached'::text"),
    payments: p.bigint('string').defaultRaw('0'),
    crossings: p.bigint('string').defaultRaw('0'),
    legs: p.bigint('string').defaultRaw('0'),
    transfers: p.bigint('string').defaultRaw('0'),
    micro: p.decimal('string').columnType('numeric').default(0),
    closedAt: p.datetime(3).defaultRaw('now()'),
  },
});

const { tenantId, paymentId, ...intake } = paymentIntake;
/** Its key begins with the site. */
const archivedIntake = { tenantId, paymentId, ...intake, acceptedAt: p.datetime(3).primary() };

/** What is generated there is plain here. */
const archivedState = {
  ...paymentState,
  acceptedAt: p.datetime(3).primary(),
  stage: p.text(),
  watchSide: p.text().nullable(),
};

export const ArchivedChainTransfer = defineEntity({
  name: 'ArchivedChainTransfer',
  tableName: 'chain_transfer',
  schema: 'archive',
  properties: { ...chainTransfer, blockTime: p.datetime(3).primary() },
});

export const ArchivedCrossing = defineEntity({
  name: 'ArchivedCrossing',
  tableName: 'crossing',
  schema: 'archive',
  properties: { ...crossing, at: p.datetime(3).primary() },
});

export const ArchivedLeg = defineEntity({
  name: 'ArchivedLeg',
  tableName: 'leg',
  schema: 'archive',
  properties: { ...leg, at: p.datetime(3).primary() },
});

export const ArchivedPaymentIntake = defineEntity({
  name: 'ArchivedPaymentIntake',
  tableName: 'payment_intake',
  schema: 'archive',
  properties: archivedIntake,
});

export const ArchivedPaymentState = defineEntity({
  name: 'ArchivedPaymentState',
  tableName: 'payment_state',
  schema: 'archive',
  properties: archivedState,
});

export const LedgerChainTransfer = defineEntity({
  name: 'LedgerChainTransfer',
  tableName: 'chain_transfer',
  schema: 'ledger',
  view: true,
  expression: MIGRATED,
  properties: chainTransfer,
});

export const LedgerCrossing = defineEntity({
  name: 'LedgerCrossing',
  tableName: 'crossing',
  schema: 'ledger',
  view: true,
  expression: MIGRATED,
  properties: crossing,
});

export const LedgerLeg = defineEntity({
  name: 'LedgerLeg',
  tableName: 'leg',
  schema: 'ledger',
  view: true,
  expression: MIGRATED,
  properties: leg,
});

export const LedgerPaymentIntake = defineEntity({
  name: 'LedgerPaymentIntake',
  tableName: 'payment_intake',
  schema: 'ledger',
  view: true,
  expression: MIGRATED,
  properties: paymentIntake,
});

export const LedgerPaymentState = defineEntity({
  name: 'LedgerPaymentState',
  tableName: 'payment_state',
  schema: 'ledger',
  view: true,
  expression: MIGRATED,
  properties: paymentState,
});

export const LedgerPayment = defineEntity({
  name: 'LedgerPayment',
  tableName: 'payment',
  schema: 'ledger',
  view: true,
  expression: MIGRATED,
  properties: { ...shownState, ...paymentIntake },
});

export const LedgerCrossingPart = defineEntity({
  name: 'LedgerCrossingPart',
  tableName: 'crossing_part',
  schema: 'ledger',
  view: true,
  expression: MIGRATED,
  properties: crossingPart,
});
