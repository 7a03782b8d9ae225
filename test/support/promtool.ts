/** Prometheus' own judge of rules, where it is at hand. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '../../sandbox/cluster/prometheus.ts';
import type { Scene } from './alertFigures.ts';
import { LAST_MINUTE, targetsOf } from './alertFigures.ts';

/** The version docs/runbook.md says how to build, and its place in our cache. */
export const PROMTOOL_VERSION = '0.305.0';

/** The program: on PATH, or in our cache; null when it is not here. Nothing is fetched. */
export function findPromtool(environment: NodeJS.ProcessEnv): string | null {
  const cache = environment['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const built = join(cache, 'content-settlement', `promtool-${PROMTOOL_VERSION}`);
  return findOnPath('promtool', environment['PATH']) ?? findOnPath('promtool', built);
}

const SERIES = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

/** A scene as series of `promtool test rules`, one value a minute; a target that stops answering ends its series as a scrape does. */
export function seriesOf(scene: Scene): { readonly series: string; readonly values: string }[] {
  const samples = new Map<string, string[]>();
  for (let minute = 0; minute <= LAST_MINUTE; minute += 1) {
    for (const { job, instance, text } of targetsOf(scene(minute), minute * 60)) {
      for (const line of [...(text ?? '').split('\n'), `up ${text === null ? 0 : 1}`]) {
        const [, name, labels = '', value = ''] = SERIES.exec(line) ?? [];
        if (name === undefined) continue;
        const own = labels === '' ? '' : `${labels},`;
        const series = `${name}{${own}job="${job}",instance="${instance}"}`;
        const values = samples.get(series) ?? Array.from({ length: LAST_MINUTE + 1 }, () => '_');
        values[minute] = value;
        samples.set(series, values);
      }
    }
  }
  return [...samples].map(([series, values]) => ({ series, values: withEnd(values).join(' ') }));
}

function withEnd(values: readonly string[]): string[] {
  return values.map((value, minute) => (value === '_' && minute > 0 && values[minute - 1] !== '_' ? 'stale' : value));
}
