import { defineEntity, p } from '@mikro-orm/postgresql';
import { MIGRATED } from './columns.ts';
import { crossing, leg } from './ledger.ts';
import { chainTransfer } from './reconciliation.ts';
import { crossingPart } from './reports.ts';
import { paymentIntake, paymentState, shownState } from './settlement.ts';

export const ArchivedMonth = defineEntity({
  name: 'ArchivedMonth',
  tableName: 'archive.month',
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
  tableName: 'archive.chain_transfer',
  properties: { ...chainTransfer, blockTime: p.datetime(3).primary() },
});

export const ArchivedCrossing = defineEntity({
  name: 'ArchivedCrossing',
  tableName: 'archive.crossing',
  properties: { ...crossing, at: p.datetime(3).primary() },
});

export const ArchivedLeg = defineEntity({
  name: 'ArchivedLeg',
  tableName: 'archive.leg',
  properties: { ...leg, at: p.datetime(3).primary() },
});

export const ArchivedPaymentIntake = defineEntity({
  name: 'ArchivedPaymentIntake',
  tableName: 'archive.payment_intake',
  properties: archivedIntake,
});

export const ArchivedPaymentState = defineEntity({
  name: 'ArchivedPaymentState',
  tableName: 'archive.payment_state',
  properties: archivedState,
});

export const LedgerChainTransfer = defineEntity({
  name: 'LedgerChainTransfer',
  tableName: 'ledger.chain_transfer',
  view: true,
  expression: MIGRATED,
  properties: chainTransfer,
});

export const LedgerCrossing = defineEntity({
  name: 'LedgerCrossing',
  tableName: 'ledger.crossing',
  view: true,
  expression: MIGRATED,
  properties: crossing,
});

export const LedgerLeg = defineEntity({
  name: 'LedgerLeg',
  tableName: 'ledger.leg',
  view: true,
  expression: MIGRATED,
  properties: leg,
});

export const LedgerPaymentIntake = defineEntity({
  name: 'LedgerPaymentIntake',
  tableName: 'ledger.payment_intake',
  view: true,
  expression: MIGRATED,
  properties: paymentIntake,
});

export const LedgerPaymentState = defineEntity({
  name: 'LedgerPaymentState',
  tableName: 'ledger.payment_state',
  view: true,
  expression: MIGRATED,
  properties: paymentState,
});

export const LedgerPayment = defineEntity({
  name: 'LedgerPayment',
  tableName: 'ledger.payment',
  view: true,
  expression: MIGRATED,
  properties: { ...shownState, ...paymentIntake },
});

export const LedgerCrossingPart = defineEntity({
  name: 'LedgerCrossingPart',
  tableName: 'ledger.crossing_part',
  view: true,
  expression: MIGRATED,
  properties: crossingPart,
});
