import { defineEntity, p } from '@mikro-orm/postgresql';
import type { CrossingKind } from '../../modules/kernel/terms.ts';
import { MIGRATED } from './columns.ts';

const shard = { shard: p.smallint().primary() };

/** What crossings are counted by, of whichever length of time. */
const counted = {
  tenantId: p.uuid().primary(),
  dimension: p.text().$type<'total' | 'slug' | 'author' | 'site-slug' | 'site-author'>().primary(),
  bucket: p.datetime(3).primary(),
  host: p.text().primary(),
  kind: p.text().primary(),
  key: p.text().primary(),
};
const sums = { events: p.bigint('string'), micro: p.bigint('string') };
const citations = { citations: p.bigint('string').defaultRaw('0') };

export const CrossingHour = defineEntity({
  name: 'CrossingHour',
  tableName: 'crossing_hour',
  properties: { ...counted, ...shard, ...sums },
});

export const CrossingDay = defineEntity({
  name: 'CrossingDay',
  tableName: 'crossing_day',
  properties: { ...counted, ...shard, ...sums, ...citations },
});

export const CrossingMonth = defineEntity({
  name: 'CrossingMonth',
  tableName: 'crossing_month',
  properties: { ...counted, ...sums, ...citations },
});

/** Columns of the view `crossing_part`: each crossing once a dimension that reports count by. */
export const crossingPart = {
  tenantId: p.uuid().primary(),
  crossingId: p.uuid().primary(),
  at: p.datetime(3),
  dimension: p.text().$type<'total' | 'slug' | 'author'>().primary(),
  host: p.text(),
  kind: p.text().$type<CrossingKind>(),
  key: p.text().primary(),
  events: p.integer(),
  micro: p.bigint('string'),
};

export const CrossingPart = defineEntity({
  name: 'CrossingPart',
  tableName: 'crossing_part',
  view: true,
  expression: MIGRATED,
  properties: crossingPart,
});

/** What observations are counted by, of a day or a month. */
const observed = {
  tenantId: p.uuid().primary(),
  dimension: p.text().$type<'total' | 'full' | 'label'>().primary(),
  bucket: p.datetime(3).primary(),
  host: p.text().primary(),
  verdict: p.text().primary(),
  classifiedAs: p.text().primary(),
  kind: p.text().primary(),
  reason: p.text().primary(),
  agent: p.text().primary(),
};
const hits = {
  hits: p.bigint('string'),
  micro: p.bigint('string'),
  verified: p.bigint('string'),
  verifiedMicro: p.bigint('string'),
  invalid: p.bigint('string'),
};

export const ObservationDay = defineEntity({
  name: 'ObservationDay',
  tableName: 'observation_day',
  properties: { ...observed, ...shard, ...hits },
});

export const ObservationMonth = defineEntity({
  name: 'ObservationMonth',
  tableName: 'observation_month',
  properties: { ...observed, ...hits },
});
