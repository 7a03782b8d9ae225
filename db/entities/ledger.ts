import { defineEntity, p } from '@mikro-orm/postgresql';
import type { LegRole, Leg as StatedLeg } from '../../modules/kernel/money/legs.ts';
import type { CrossingKind } from '../../modules/kernel/terms.ts';

/** A leg in JSON: its amount is text, and below zero where the crossing takes one back. */
type StoredLeg = Omit<StatedLeg, 'amountMicro'> & { readonly amountMicro: string; readonly share: number };

/** Columns of `crossing`, here and where its closed months stand. */
export const crossing = {
  tenantId: p.uuid().primary(),
  crossingId: p.uuid().primary(),
  paymentId: p.uuid(),
  sequence: p.smallint().default(0),
  host: p.text(),
  slug: p.text(),
  kind: p.text().$type<CrossingKind>(),
  micro: p.bigint('string'),
  legs: p.json().$type<readonly StoredLeg[]>(),
  payer: p.text(),
  agent: p.text(),
  at: p.datetime(3),
  recordedAt: p.datetime(3).defaultRaw('now()'),
};

export const Crossing = defineEntity({ name: 'Crossing', tableName: 'crossing', properties: crossing });

/** Columns of `leg`, here and where its closed months stand. */
export const leg = {
  tenantId: p.uuid().primary(),
  crossingId: p.uuid().primary(),
  ordinal: p.smallint().primary(),
  paymentId: p.uuid(),
  toAddress: p.text(),
  amountMicro: p.bigint('string'),
  role: p.text().$type<LegRole>(),
  authorId: p.text().nullable(),
  share: p.float().columnType('double precision'),
  host: p.text(),
  slug: p.text(),
  kind: p.text().$type<CrossingKind>(),
  at: p.datetime(3),
};

export const Leg = defineEntity({ name: 'Leg', tableName: 'leg', properties: leg });

export const UnannouncedCrossing = defineEntity({
  name: 'UnannouncedCrossing',
  tableName: 'unannounced_crossing',
  properties: {
    tenantId: p.uuid().primary(),
    crossingId: p.uuid().primary(),
    crossingIds: p.array().columnType('uuid[]'),
    host: p.text(),
    recordedAt: p.datetime(3).defaultRaw('now()'),
  },
});
