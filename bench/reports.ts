/**
 * Reports of a busy site over HTTP, over 1 and 10 million crossings and as many observations of 200 sites, beside the plain aggregate
 * of the same rows, whose answers must be the same.
 */
import type { Bench, BenchOptions } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure } from './harness/figure.ts';
import { startRecordsApi } from './records/api.ts';
import type { RecordStore } from './records/store.ts';
import { sharedRecordStore } from './records/store.ts';
import type { Measured } from './records/totals.ts';
import { bytesFigure, figuresOf, LENGTHS, measurePair, pairsOf } from './records/totals.ts';

/** Figures of reports. */
export const reportsBench: Bench = {
  id: 'reports',
  title: 'Reports',
  run: async (options) => {
    const [few, many] = options.quick ? [null, 20_000] : [1_000_000, 10_000_000];
    const small = few === null ? null : await measureTotals(await sharedRecordStore(few, options), few, options);
    const bytes = few === null ? [] : [await bytesFigure(await sharedRecordStore(few, options), few)];
    const store = await sharedRecordStore(many, options);
    const large = await measureTotals(store, many, options);
    const flat = LENGTHS.flatMap(({ id }) =>
      ['earnings', 'audit'].map((name) => flatness(`${name}-${id}`, (small ?? large).p50, large.p50)),
    );
    return [...large.figures, ...flat, ...bytes, await bytesFigure(store, many)];
  },
};

interface Totals {
  readonly figures: Figure[];
  readonly p50: ReadonlyMap<string, Measured>;
}

async function measureTotals(store: RecordStore, rows: number, { quick, log }: BenchOptions): Promise<Totals> {
  const figures: Figure[] = [];
  const p50 = new Map<string, Measured>();
  const { api, key, parts } = await startRecordsApi(store);
  try {
    for (const pair of pairsOf(store, { url: api.url, key })) {
      for (const length of LENGTHS) {
        const measured = await measurePair({ nowMs: store.nowMs, parts }, pair, length.days, quick);
        p50.set(`${pair.name}-${length.id}`, measured);
        figures.push(...figuresOf(pair, length, measured, rows));
        log(`${pair.what}, ${length.what}: ${inWords(measured)}`);
      }
    }
  } finally {
    await api.stop();
  }
  return { figures, p50 };
}

function inWords({ rounds: { ours, reference, cpu }, p99 }: Measured): string {
  const of = Object.entries(cpu?.ours ?? {}).map(([kind, ms]) => `${kind} ${ms.toFixed(2)}`);
  return `p50 ${ours.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, CPU ${of.join(', ')} ms, plain ${reference.toFixed(1)} ms`;
}

function flatness(name: string, small: Totals['p50'], large: Totals['p50']): Figure {
  const [before, after] = [small.get(name)?.rounds.ours ?? Number.NaN, large.get(name)?.rounds.ours ?? Number.NaN];
  return makeFigure({
    id: `reports.flat-${name}`,
    what: `${name}: p50 with ten times the rows`,
    unit: 'ms',
    referenceName: 'a tenth of them, earlier in the run',
    rounds: { ours: after, reference: before, ratios: [after / before] },
    isDetail: true,
    target: { atMost: 2 },
  });
}
