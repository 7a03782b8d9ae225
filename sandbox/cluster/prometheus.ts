import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { choosePort } from '../parts/ports.ts';
import type { PartProcess } from '../parts/processes.ts';
import { startProcess } from '../parts/processes.ts';

const ALERT_RULES = fileURLToPath(new URL('../../deploy/alerts.yml', import.meta.url));

/** A Prometheus that reads a cluster's processes and judges deploy/alerts.yml. */
export interface Prometheus {
  /** Of its page. */
  readonly url: string;
  readonly process: PartProcess;
  /** Reads these processes from now on: where each serves its metrics, by its name, `api-1` or `worker-2`. */
  follow(urls: ReadonlyMap<string, string>): void;
}

/** Where a program is on `path`, the value of `PATH`; null when it is not installed. */
export function findOnPath(program: string, path = ''): string | null {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file)) ?? null;
}

/** Starts the program on a free port of 127.0.0.1; its configuration and its data are in `folder`. */
export async function startPrometheus(program: string, folder: string, logs: string): Promise<Prometheus> {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, value: unknown): void => writeFileSync(join(folder, name), JSON.stringify(value));
  write('targets.json', []);
  // JSON is YAML. Jobs have the names that the rules know from deploy/prometheus.yml; looked at twice as often, since acts are short.
  write('prometheus.yml', {
    global: { scrape_interval: '5s', scrape_timeout: '2s', evaluation_interval: '5s' },
    rule_files: [ALERT_RULES],
    scrape_configs: [{ job_name: 'cluster', file_sd_configs: [{ files: [join(folder, 'targets.json')] }] }],
  });
  const port = await choosePort();
  const process = await startProcess({
    name: 'prometheus',
    command: program,
    args: [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    logFile: join(logs, 'prometheus.log'),
  });
  const follow = (urls: ReadonlyMap<string, string>): void =>
    write(
      'targets.json',
      [...urls].map(([name, url]) => ({ targets: [new URL(url).host], labels: { job: name.split('-')[0], instance: name } })),
    );
  return { url: `http://127.0.0.1:${port}`, process, follow };
}
