import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ALERT_KINDS } from '../../db/alerts.ts';
import type { MetricName } from '../../modules/kernel/metrics.ts';
import { METRICS } from '../../modules/kernel/metrics.ts';

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
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}
const rules = (parse(read('deploy/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
interface PrometheusFile {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly dns_sd_configs?: readonly { readonly names: readonly string[]; readonly port: number }[];
    readonly static_configs?: readonly { readonly targets: readonly string[] }[];
  }[];
}
interface Compose {
  readonly services: Readonly<
    Record<string, { readonly environment?: Readonly<Record<string, string>>; readonly volumes?: readonly string[] }>
  >;
}
interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const { panels } = JSON.parse(read('deploy/grafana/dashboard.json')) as { panels: Panel[] };

test('every measure that an alert or a panel reads is one that is served', () => {
  const exprs = [...rules.map(({ expr }) => expr), ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))];
  const unknown = exprs.flatMap(namesIn).filter((name) => !served.has(name));
  expect(unknown).toEqual([]);
  expect(exprs.filter((expr) => namesIn(expr).length === 0 && !/\bup\b|\bnode_filesystem_/.test(expr))).toEqual([]);
});

test('every measure has a panel', () => {
  const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr))));
  const unseen = (Object.keys(METRICS) as MetricName[]).filter((name) => {
    const base = name.replaceAll('.', '_');
    return ![base, `${base}_total`, `${base}_bucket`, `${base}_count`].some((one) => shown.has(one));
  });
  expect(unseen).toEqual([]);
});

test('Prometheus reads the processes of docker-compose.yml where they serve, and every job a rule names is one of its own', () => {
  const { scrape_configs: jobs, rule_files } = parse(read('deploy/prometheus.yml')) as PrometheusFile;
  const { services } = parse(read('docker-compose.yml'), { merge: true }) as Compose;
  const places = jobs.flatMap(({ job_name: job, dns_sd_configs: found = [], static_configs: fixed = [] }) => [
    ...found.flatMap(({ names, port }) => names.map((name) => ({ job, name, port }))),
    ...fixed.flatMap(({ targets }) =>
      targets.map((one) => ({ job, name: one.split(':')[0] ?? '', port: Number(one.split(':')[1]) })),
    ),
  ]);
  for (const { job, name, port } of places) {
    const served = services[name]?.environment?.['METRICS_PORT'];
    expect([job, Object.hasOwn(services, name), Number(served ?? port)]).toEqual([job, true, port]);
  }
  expect(read('deploy/haproxy.cfg')).toContain(`bind :${places.find(({ job }) => job === 'proxy')?.port}\n`);
  const named = rules.flatMap(({ expr }) => [...expr.matchAll(/\bup\{job="(\w+)"\}/g)].map(([, job]) => job));
  expect(named.filter((job) => !jobs.some(({ job_name }) => job_name === job))).toEqual([]);
  const mounts = services['prometheus']?.volumes ?? [];
  for (const file of rule_files) expect(mounts).toContain(`./deploy/${file.split('/').at(-1)}:${file}:ro`);
});

test('every alert leads to its place in the runbook, which says how urgent it is, what it means, how to check it and what to do', () => {
  const runbook = read('docs/runbook.md');
  for (const { alert, labels, annotations } of rules) {
    expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    const [, section = ''] = new RegExp(`^### ${alert}\\n([\\s\\S]*?)(?=^##)`, 'm').exec(`${runbook}\n##`) ?? [];
    expect(section, alert).toMatch(new RegExp(`^Severity: ${labels.severity}$`, 'm'));
    expect(section, alert).toMatch(/Meaning:[\s\S]+Check:[\s\S]+Action:/);
  }
});

test('the runbook says of every kind of operator alert what it means and what to do, and of no other', () => {
  const [, section = ''] = /^## Operator alerts\n([\s\S]*?)(?=^## )/m.exec(`${read('docs/runbook.md')}\n## `) ?? [];
  const told = [...section.matchAll(/^\| `(\w+)` \| .+ \| .+ \|$/gm)].map(([, kind]) => kind);
  expect(told).toEqual([...ALERT_KINDS]);
});
