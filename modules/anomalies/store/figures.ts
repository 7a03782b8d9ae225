import type { Sql } from '../../../db/database.ts';
import type { Span } from '../../kernel/time/window.ts';
import { sumObservations } from '../../reports/store/audit/observations.ts';
import { sumCrossings } from '../../reports/store/earnings/earnings.ts';
import type { AnomalyMetric } from '../../webhooks/rules/anomalyRule.ts';
import type { EarningsSum, Figures } from '../rules/measure.ts';
import { figuresOf } from '../rules/measure.ts';

const NOTHING: EarningsSum = { events: 0, micro: 0n };

/** Reads what a metric is computed from, for the window of `rangeMs` that ends at `nowMs`, from the same rollups as reports. */
export async function readFigures(
  sql: Sql,
  of: { readonly tenantId: string; readonly host: string | null; readonly metric: AnomalyMetric },
  nowMs: number,
  rangeMs: number,
): Promise<Figures> {
  const window = { fromMs: nowMs - rangeMs, toMs: nowMs };
  const before = { fromMs: window.fromMs - rangeMs, toMs: window.fromMs };
  const scope = { tenantId: of.tenantId, host: of.host, kind: null };
  const needs = figuresOf(of.metric);
  return {
    traffic: needs === 'traffic' ? await sumObservations(sql, { ...scope, verdict: null, agent: null }, window) : [],
    earned: needs === 'traffic' ? NOTHING : await sumEarnings(sql, scope, window),
    earnedBefore: needs === 'earned_and_before' ? await sumEarnings(sql, scope, before) : NOTHING,
  };
}

async function sumEarnings(
  sql: Sql,
  scope: { readonly tenantId: string; readonly host: string | null; readonly kind: null },
  window: Span,
): Promise<EarningsSum> {
  const sums = await sumCrossings(sql, scope, window);
  return {
    events: sums.reduce((total, { events }) => total + Number(events), 0),
    micro: sums.reduce((total, { micro }) => total + micro, 0n),
  };
}
