import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { durationMs } from './duration.ts';
import type { Expression } from './expression.ts';
import { readExpression } from './expression.ts';
import type { History, Labels } from './series.ts';

/** A rule of deploy/alerts.yml. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  /** How long it must hold before anybody is told: `1m`. */
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

/** An alert that is about to be told (`pending`), or is (`firing`). */
export interface Alert {
  readonly alert: string;
  readonly state: 'pending' | 'firing';
  readonly severity: string;
  readonly summary: string;
  /** ISO 8601. */
  readonly since: string;
}

/** Judges all rules again and again. */
export interface AlertWatch {
  /** All alerts at this moment; what holds since an earlier call keeps its time. */
  judge(history: History, nowMs: number): readonly Alert[];
}

/** The rules of a file in Prometheus' format. */
export function readAlertRules(file: string | URL): readonly AlertRule[] {
  return (parse(readFileSync(file, 'utf8')) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(({ rules }) => rules);
}

/** A watch over the rules. Throws SyntaxError for an expression it cannot read. */
export function watchAlerts(rules: readonly AlertRule[]): AlertWatch {
  const read = rules.map((rule): [AlertRule, Expression] => [rule, readExpression(rule.expr)]);
  const begun = new Map<string, number>();
  return {
    judge: (history, nowMs) => {
      const alerts: Alert[] = [];
      const seen = new Set<string>();
      for (const [rule, expression] of read) {
        const value = expression(history, nowMs);
        for (const point of typeof value === 'number' ? [] : value) {
          const key = JSON.stringify([rule.alert, Object.entries(point.labels).sort()]);
          const sinceMs = begun.get(key) ?? nowMs;
          begun.set(key, sinceMs);
          seen.add(key);
          const { alert, labels, annotations } = rule;
          const summary = fill(annotations.summary, point.labels, point.value);
          const state = nowMs - sinceMs >= durationMs(rule.for ?? '0s') ? 'firing' : 'pending';
          alerts.push({ alert, state, severity: labels.severity, summary, since: new Date(sinceMs).toISOString() });
        }
      }
      for (const key of begun.keys()) if (!seen.has(key)) begun.delete(key);
      return alerts;
    },
  };
}

function fill(summary: string, labels: Labels, value: number): string {
  return summary
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? '')
    .replaceAll('{{ $value | humanizeDuration }}', `${Math.round(value)} s`)
    .replaceAll('{{ $value }}', String(value));
}
