import { isDeepStrictEqual } from 'node:util';
import { alternate } from '../harness/alternate.ts';
import type { Figure } from '../harness/figure.ts';
import { makeFigure, percentile } from '../harness/figure.ts';
import { DAYS } from './load.ts';
import { ourAudit, ourEarnings, ourEarningsBy } from './ours.ts';
import type { Answer, BenchWindow } from './plain.ts';
import { plainAudit, plainEarnings, plainEarningsBy } from './plain.ts';
import type { RecordStore } from './store.ts';

const DAY_MS = 86_400_000;

/** A report and the plain aggregate that must say the same. */
interface Pair {
  readonly name: string;
  readonly what: string;
  readonly ours: (window: BenchWindow) => Promise<Answer>;
  readonly plain: (window: BenchWindow) => Promise<Answer>;
}

/** The reports with totals, each with its list of the newest 50. */
export function pairsOf({ database, reading, nowMs }: RecordStore): Pair[] {
  const deps = { database: reading, clock: () => nowMs };
  const by = (group: 'slug' | 'author'): Pair => ({
    name: `earnings-by-${group}`,
    what: `earnings by ${group}`,
    ours: (window) => ourEarningsBy(deps, window, group),
    plain: (window) => plainEarningsBy(database, window, group),
  });
  return [
    { name: 'earnings', what: 'earnings', ours: (w) => ourEarnings(deps, w), plain: (w) => plainEarnings(database, w) },
    { name: 'audit', what: 'audit', ours: (w) => ourAudit(deps, w), plain: (w) => plainAudit(database, w) },
    by('slug'),
    by('author'),
  ];
}

/** The two lengths of windows that are measured. */
export const LENGTHS: readonly { readonly id: string; readonly what: string; readonly days: number }[] = [
  { id: '30d', what: '30 days', days: 30 },
  { id: 'all', what: 'all time', days: DAYS - 2 },
];

/**
 * A report beside the plain aggregate: p50 with its ratio, and p99. Windows begin and end at any moment, another one for every call;
 * each round compares both answers first and throws where they differ.
 */
export async function measurePair(store: RecordStore, pair: Pair, days: number, quick: boolean): Promise<Measured> {
  const windows = Array.from({ length: quick ? 3 : 50 }, () => randomWindow(store.nowMs, days));
  const ours: number[] = [];
  const plain: number[] = [];
  const few = windows.slice(0, quick ? 1 : 3);
  for (const window of few) {
    const [one, other] = [await pair.ours(window), await pair.plain(window)];
    if (!isDeepStrictEqual(one, other)) throw new Error(`${pair.name} of ${days} days is not the plain aggregate`);
  }
  const rounds = await alternate({
    rounds: quick ? 1 : 3,
    sides: {
      ours: async () => percentile(await timed(windows, pair.ours, ours), 0.5),
      reference: async () => percentile(await timed(few, pair.plain, plain), 0.5),
    },
  });
  return { rounds, p99: percentile(ours, 0.99), plainP99: percentile(plain, 0.99) };
}

/** What was found of one report. */
export interface Measured {
  readonly rounds: Awaited<ReturnType<typeof alternate>>;
  readonly p99: number;
  readonly plainP99: number;
}

async function timed(windows: readonly BenchWindow[], read: Pair['ours'], all: number[]): Promise<number[]> {
  const taken: number[] = [];
  for (const window of windows) {
    const startedAt = performance.now();
    await read(window);
    taken.push(performance.now() - startedAt);
  }
  all.push(...taken);
  return taken;
}

function randomWindow(nowMs: number, days: number): BenchWindow {
  const toMs = nowMs - Math.floor(Math.random() * DAY_MS);
  return { fromMs: toMs - days * DAY_MS + Math.floor(Math.random() * DAY_MS), toMs };
}

/** Three figures of one report: how often faster, p50 and p99. */
export function figuresOf(
  pair: Pair,
  length: (typeof LENGTHS)[number],
  { rounds, p99, plainP99 }: Measured,
  rows: number,
): Figure[] {
  const id = `reports.${pair.name}-${length.id}`;
  const what = `${pair.what}, ${length.what}, ${rows.toLocaleString('en-US')} rows`;
  const common = { unit: 'ms', referenceName: 'plain aggregate' } as const;
  const faster = rounds.ratios.map((ratio) => 1 / ratio);
  const inMs = { atMost: 20, of: 'ours' } as const;
  return [
    makeFigure({
      ...common,
      id,
      what: `${what}: p50, times as fast`,
      rounds: { ...rounds, ratios: faster },
      target: { atLeast: 50 },
    }),
    makeFigure({ ...common, id: `${id}-p50`, what: `${what}: p50`, rounds, target: inMs }),
    makeFigure({
      ...common,
      id: `${id}-p99`,
      what: `${what}: p99`,
      rounds: { ours: p99, reference: plainP99, ratios: [p99 / plainP99] },
      target: inMs,
    }),
  ];
}
