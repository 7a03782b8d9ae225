import { isDeepStrictEqual } from 'node:util';
import { alternate } from '../harness/alternate.ts';
import type { Parts, Work } from '../harness/cpu.ts';
import { withCpu } from '../harness/cpu.ts';
import type { Figure } from '../harness/figure.ts';
import { makeFigure, percentile } from '../harness/figure.ts';
import { DAYS } from './load.ts';
import type { Asked } from './ours.ts';
import { ourAudit, ourEarnings, ourEarningsBy } from './ours.ts';
import type { Answer, BenchWindow } from './plain.ts';
import { plainAudit, plainEarnings, plainEarningsBy } from './plain.ts';
import type { RecordStore } from './store.ts';

const DAY_MS = 86_400_000;

/** A report and the plain aggregate that must say the same. */
interface Pair {
  readonly name: string;
  readonly what: string;
  /** The target of its p50 over 30 days. */
  readonly mostMs: number;
  readonly ours: (window: BenchWindow) => Promise<Answer>;
  readonly plain: (window: BenchWindow) => Promise<Answer>;
}

/** The reports with totals, each with its list of the newest 50, over HTTP and parsed. */
export function pairsOf({ database }: RecordStore, asked: Asked): Pair[] {
  const by = (group: 'slug' | 'author', what: string): Pair => ({
    name: `earnings-by-${group}`,
    what,
    mostMs: 10,
    ours: (window) => ourEarningsBy(asked, window, group),
    plain: (window) => plainEarningsBy(database, window, group),
  });
  const whole = { mostMs: 5 };
  return [
    {
      ...whole,
      name: 'earnings',
      what: 'earnings',
      ours: (w) => ourEarnings(asked, w),
      plain: (w) => plainEarnings(database, w),
    },
    { ...whole, name: 'audit', what: 'audit', ours: (w) => ourAudit(asked, w), plain: (w) => plainAudit(database, w) },
    by('slug', 'earnings by page'),
    by('author', 'earnings by author'),
  ];
}

/** The two lengths of windows that are measured. */
export const LENGTHS: readonly { readonly id: string; readonly what: string; readonly days: number }[] = [
  { id: '30d', what: '30 days', days: 30 },
  { id: 'all', what: 'all time', days: DAYS - 5 },
];

/**
 * A report beside the plain aggregate: p50 with its ratio, and p99. Windows begin and end at any moment, another one for every call;
 * each round compares both answers first and throws where they differ.
 */
export async function measurePair(
  { nowMs, parts }: { readonly nowMs: number; readonly parts: Parts },
  pair: Pair,
  days: number,
  quick: boolean,
): Promise<Measured> {
  const windows = Array.from({ length: quick ? 3 : 100 }, () => randomWindow(nowMs, days));
  const ours: number[] = [];
  const plain: number[] = [];
  const few = windows.slice(0, quick ? 1 : 3);
  for (const window of few) {
    const [one, other] = [await pair.ours(window), await pair.plain(window)];
    if (!isDeepStrictEqual(one, other)) throw new Error(`${pair.name} of ${days} days is not the plain aggregate`);
  }
  // A process that runs for months has its code compiled, and its statements planned on every connection.
  if (!quick) await timed(windows, pair.ours, []);
  const { postgres, client } = parts;
  const rounds = await alternate({
    rounds: quick ? 1 : 3,
    sides: {
      ours: () => withCpu(parts, async () => half(await timed(windows, pair.ours, ours))),
      reference: () =>
        withCpu({ ...(postgres && { postgres }), ...(client && { client }) }, async () =>
          half(await timed(few, pair.plain, plain)),
        ),
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

const half = (times: readonly number[]): Work => ({ value: percentile(times, 0.5), operations: times.length });

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

/** Three figures of one report: p50, p99, and how often faster. */
export function figuresOf(
  { name, what: report, mostMs }: Pair,
  length: (typeof LENGTHS)[number],
  { rounds, p99, plainP99 }: Measured,
  rows: number,
): Figure[] {
  const id = `reports.${name}-${length.id}`;
  const what = `${report}, ${length.what}, ${rows.toLocaleString('en-US')} rows`;
  const common = { unit: 'ms', referenceName: 'plain aggregate' } as const;
  const faster = rounds.ratios.map((ratio) => 1 / ratio);
  const inMs = (atMost: number) => ({ atMost, of: 'ours' }) as const;
  return [
    makeFigure({
      ...common,
      id: `${id}-p50`,
      what: `${what}: p50`,
      rounds,
      isDetail: true,
      target: inMs(length.id === '30d' ? mostMs : 20),
    }),
    makeFigure({
      ...common,
      id: `${id}-p99`,
      what: `${what}: p99`,
      rounds: { ours: p99, reference: plainP99, ratios: [p99 / plainP99] },
      isDetail: true,
      target: inMs(20),
    }),
    makeFigure({
      ...common,
      id,
      what: `${what}: p50, times as fast`,
      rounds: { ...rounds, ratios: faster },
      target: null,
      isDetail: true,
    }),
  ];
}

const ROLLUPS = ['crossing_hour', 'crossing_day', 'crossing_month', 'observation_day', 'observation_month'];
const LEDGER = ['crossing', 'leg', 'observation'];

/** What sums take of the disk beside the rows that they are made of, both with their indexes. */
export async function bytesFigure({ database }: RecordStore, rows: number): Promise<Figure> {
  const sizeOf = async (tables: readonly string[]): Promise<number> => {
    const [row] = await database.query<{ bytes: string }>(
      `select sum(pg_total_relation_size(c.oid)) as bytes from pg_class as c left join pg_inherits as i on i.inhrelid = c.oid
       where c.relkind = 'r' and (c.oid = any ($1::regclass[]) or i.inhparent = any ($1::regclass[]))`,
      [tables],
    );
    return Number(row?.bytes) / 1024 ** 2;
  };
  const [ours, reference] = [await sizeOf(ROLLUPS), await sizeOf(LEDGER)];
  return makeFigure({
    id: `reports.bytes-${rows / 1_000_000}m`,
    what: `rollups of ${rows.toLocaleString('en-US')} rows`,
    unit: 'MB',
    referenceName: 'crossings, legs and observations',
    rounds: { ours, reference, ratios: [ours / reference] },
    target: { atMost: 1 },
    ...(rows < 10_000_000 ? { isDetail: true } : {}),
  });
}
