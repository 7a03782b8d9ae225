import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ALERT_KINDS } from '../../db/alerts.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { METRICS } from '../../domain/metrics.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const served = new Set(
  (Object.keys(METRICS) as MetricName[]).flatMap((name) => {
    const base = name.replaceAll('.', '_');
    const { kind } = METRICS[name];
    if (kind === 'histogram') return [`${base}_bucket`, `${base}_count`, `${base}_sum`];
    return [kind === 'counter' ? `${base}_total` : base];
  }),
);
const namesIn = (text: string): string[] => [...new Set(text.match(/\bsvc_[a-z_]+/g) ?? [])];

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}
const rules = (parse(read('deploy/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const { panels } = JSON.parse(read('deploy/grafana/dashboard.json')) as { panels: Panel[] };

test('every measure that an alert or a panel reads is one that is served', () => {
  const exprs = [...rules.map(({ expr }) => expr), ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))];
  const unknown = exprs.flatMap(namesIn).filter((name) => !served.has(name));
  expect(unknown).toEqual([]);
  expect(exprs.filter((expr) => namesIn(expr).length === 0)).toEqual([]);
});

test('every measure has a panel', () => {
  const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr))));
  const unseen = (Object.keys(METRICS) as MetricName[]).filter((name) => {
    const base = name.replaceAll('.', '_');
    return ![...shown].some(
      (one) => one === base || one === `${base}_total` || one === `${base}_bucket` || one === `${base}_count`,
    );
  });
  expect(unseen).toEqual([]);
});

test('the runbook says of every alert what it means, how to check it and what to do', () => {
  const runbook = read('docs/operations.md');
  for (const { alert } of rules) {
    const [, section = ''] = new RegExp(`^### ${alert}\\n([\\s\\S]*?)(?=^##)`, 'm').exec(`${runbook}\n##`) ?? [];
    expect(section, alert).toMatch(/Meaning:[\s\S]+Check:[\s\S]+Action:/);
  }
});

test('the runbook says of every kind of operator alert what it means and what to do, and of no other', () => {
  const [, section = ''] = /^## Operator alerts\n([\s\S]*?)(?=^## )/m.exec(read('docs/operations.md')) ?? [];
  const told = [...section.matchAll(/^\| `(\w+)` \| .+ \| .+ \|$/gm)].map(([, kind]) => kind);
  expect(told).toEqual([...ALERT_KINDS]);
});
