import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isServiceError } from '../modules/kernel/errors.ts';
import { compilePattern, MAX_PATTERNS, MAX_STARS } from '../modules/kernel/pages/scope.ts';
import type { CataloguePage } from '../modules/pricing/rules/catalogue.ts';
import { priceScopeSteps } from '../modules/pricing/rules/catalogue.ts';
import { inSlices } from '../platform/pacing/slices.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, median } from './harness/figure.ts';

const SIZES = [20_000, 200_000];
/** How finely the delay of the loop is measured, in milliseconds; what is told includes it. */
const RESOLUTION_MS = 1;

/** The longest time that the dearest scopes we let through keep the event loop, beside a loop that does nothing. */
export const scopesBench: Bench = {
  id: 'scopes',
  title: 'The dearest scopes',
  run: async ({ quick }) => {
    const figures: Figure[] = [];
    for (const pages of SIZES) figures.push(...(await longestBlock(pages, quick)));
    return figures;
  },
};

/** Pages of two to fifty authors, with paths that nearly match one another for long. */
function catalogue(count: number): { readonly pages: readonly CataloguePage[]; readonly paths: readonly string[] } {
  const pages = Array.from({ length: count }, (_, n) => ({
    path: `/articles/section-${n % 50}/${'ab'.repeat(n % 60)}${'a'.repeat(n % 40)}-${n}`,
    slug: `page-${n}`,
    authors: Array.from({ length: n % 20 === 0 ? 50 : 2 }, (_, k) => ({
      ...({ authorId: `author-${k}`, wallet: `0x${(k + 0x1000).toString(16).padStart(40, 'd')}`, role: 'author' } as const),
      weight: BigInt(1 + ((n + k) % 97)),
    })),
  }));
  const sorted = pages.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { pages: sorted, paths: sorted.map(({ path }) => path) };
}

/** Scopes at the edge of what is let through: many patterns, many stars, long literals, the most pages. */
function* dearScopes(pages: number, count: number): Generator<readonly string[]> {
  const parts = ['ab', 'a', 'ba', `${'ab'.repeat(8)}b`, `${'a'.repeat(20)}b`, '-', '9'];
  for (let n = 0; n < count; n++) {
    const many = 1 + ((n * 37) % MAX_PATTERNS);
    yield Array.from({ length: many }, (_, k) => {
      const stars = 1 + ((n + k) % MAX_STARS);
      const rest = Array.from({ length: stars }, (_, s) => `*${parts[(n * 3 + k * 5 + s) % parts.length]}`).join('');
      const first = n % 3 === 0 ? '/articles/' : `/articles/section-${(n + k) % 50}/`;
      return `${first}${rest}`.slice(0, 190) + (k % 2 === 0 ? '' : '$');
    });
  }
  yield Array.from({ length: MAX_PATTERNS }, (_, n) => `/articles/section-${n % 50}/${n}`);
  // As many pages as a licence may cover, many authors among them.
  const sections = Math.max(1, Math.floor(4_900 / (pages / 50)));
  yield Array.from({ length: sections }, (_, n) => `/articles/section-${n}/`);
  yield ['/articles/section-7/*9$', '/articles/section-8/*a*1'];
}

/** How long the loop was kept at most, in milliseconds. */
interface Longest {
  /** Of the clock: with what other processes took of the processor meanwhile. */
  readonly delayMs: number;
  /** Of this thread's processor time between two turns of the loop. */
  readonly processorMs: number;
}

async function watchLoop(work: () => Promise<unknown>): Promise<Longest> {
  const processor = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let [processorMs, last, isOver] = [0, processor(), false];
  const turn = (): void => {
    const now = processor();
    processorMs = Math.max(processorMs, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  await sleep(20);
  delay.reset();
  last = processor();
  setImmediate(turn);
  await work();
  isOver = true;
  delay.disable();
  return { delayMs: delay.max / 1e6, processorMs };
}

async function longestBlock(count: number, quick: boolean): Promise<readonly Figure[]> {
  const offered = catalogue(count);
  const scopes = [...dearScopes(count, quick ? 3 : 40)];
  const ask = async (scope: readonly string[]): Promise<void> => {
    try {
      const compiled = scope.map((pattern) => compilePattern(pattern));
      await inSlices(priceScopeSteps(offered, compiled, () => ({ priceMicro: 1_000n })));
    } catch (error) {
      if (!isServiceError(error)) throw error;
    }
  };
  // Four at once, as many as a process takes.
  const askAll = async (): Promise<void> => {
    for (let n = 0; n < scopes.length; n += 4) await Promise.all(scopes.slice(n, n + 4).map(ask));
  };
  const seen: Record<'ours' | 'reference', Longest[]> = { ours: [], reference: [] };
  const watched = async (side: 'ours' | 'reference', work: () => Promise<unknown>): Promise<number> => {
    const longest = await watchLoop(work);
    seen[side].push(longest);
    return longest.processorMs;
  };
  const rounds = await alternate({
    rounds: quick ? 1 : 5,
    sides: {
      ours: () => watched('ours', askAll),
      reference: () => watched('reference', () => sleep(quick ? 100 : 2_000)),
    },
  });
  const delays = (side: 'ours' | 'reference') => seen[side].map(({ delayMs }) => delayMs);
  const [ours, reference] = [delays('ours'), delays('reference')];
  const byClock = {
    ours: median(ours),
    reference: median(reference),
    ratios: ours.map((value, n) => value / (reference[n] as number)),
  };
  const what = `keep the event loop at one time: ${scopes.length} of the dearest over ${count.toLocaleString('en')} pages, four at once`;
  const referenceName = 'the same loop with nothing to do';
  return [
    makeFigure({
      id: `scopes.processor.${count}`,
      what: `Processor time that scopes ${what}`,
      unit: 'ms',
      referenceName,
      rounds,
      target: { atMost: 20, of: 'ours' },
      ...(count === SIZES[0] ? { isDetail: true } : {}),
      notes: 'of the thread, so that it knows nothing of other processes; scopes beyond the budget are refused within it',
    }),
    makeFigure({
      id: `scopes.delay.${count}`,
      what: `Time that scopes ${what}`,
      unit: 'ms',
      referenceName,
      rounds: byClock,
      target: { atMost: 20, of: 'ours' },
      isDetail: true,
      notes: `monitorEventLoopDelay, resolution ${RESOLUTION_MS} ms, included; other processes' turns on a busy machine are included, too`,
    }),
  ];
}
