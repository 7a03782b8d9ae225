import { canonicalPath, compilePattern, matches } from '../domain/pages/scope.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, median } from './harness/figure.ts';
import type { HttpRequest } from './harness/http.ts';
import { answerBytes, requestMedianOn, startBareServer } from './harness/http.ts';
import { sharedService } from './harness/service.ts';

const HOST = 'catalogue.example';
const PAGES = 1_000;
const AUTHORS = 40;

/** POST /_svc/licenses/quote of 1,000 pages, and the worst patterns against the longest path. */
export const licenceQuoteBench: Bench = {
  id: 'licence-quote',
  title: 'Licence quotes',
  run: async ({ quick }) => [await quoteThousand(quick), await matchWorst(quick)],
};

/** Pages of one to three of 40 authors. */
export function catalogue(pages: number): Record<string, object> {
  const author = (number: number) => ({
    authorId: `author-${number}`,
    wallet: `0x${(number + 0x1000).toString(16).padStart(40, 'd')}`,
    weight: 1 + (number % 3),
  });
  const contributors = (page: number) =>
    Array.from({ length: 1 + (page % 3) }, (_, index) => author((page + index * 7) % AUTHORS));
  return Object.fromEntries(Array.from({ length: pages }, (_, page) => [`page-${page}`, { contributors: contributors(page) }]));
}

async function quoteThousand(quick: boolean): Promise<Figure> {
  const service = await sharedService();
  await service.site({
    hosts: [HOST],
    pricing: { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline: catalogue(PAGES) },
  });
  const request: HttpRequest = {
    method: 'POST',
    path: '/_svc/licenses/quote',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ host: HOST, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' }),
  };
  const bare = await startBareServer(await answerBytes(service.baseUrl, request));
  try {
    const count = quick ? 3 : 100;
    const rounds = await alternate({
      rounds: quick ? 1 : 3,
      sides: {
        ours: () => requestMedianOn(service.parts(), service.baseUrl, request, count),
        reference: () => requestMedianOn(bare.parts, bare.url, request, count),
      },
    });
    return makeFigure({
      id: 'licence-quote.thousand',
      what: `POST /_svc/licenses/quote of ${PAGES} pages by ${AUTHORS} authors, p50`,
      unit: 'ms',
      referenceName: 'bare node:http',
      rounds,
      target: { atMost: 30, of: 'ours' },
    });
  } finally {
    await bare.stop();
  }
}

/** Patterns of 64 characters that make a matcher look at most of an 8 KiB path again and again. */
const WORST = [
  `/${'*a'.repeat(8)}${'a'.repeat(46)}b`,
  `/*${'a'.repeat(61)}b`,
  `/*b${'a'.repeat(61)}`,
  `/*${'a'.repeat(30)}b${'a'.repeat(31)}`,
  `/${'*aaaaaab'.repeat(7)}*aaaaaa`,
  `/*${'ab'.repeat(30)}aa$`,
  `/${'*'.repeat(8)}${'b'.repeat(54)}`,
];
const PATHS = ['a'.repeat(8_191), 'ab'.repeat(4_095), `${'aaaaaab'.repeat(1_170)}`].map((rest) => canonicalPath(`/${rest}`));

async function matchWorst(quick: boolean): Promise<Figure> {
  const patterns = WORST.map((pattern) => compilePattern(pattern));
  const times = quick ? 3 : 200;
  const worst = (run: (index: number, path: string) => unknown): number => {
    const medians = patterns.flatMap((_, index) =>
      PATHS.map((path) => {
        const taken = Array.from({ length: times }, () => {
          const startedAt = performance.now();
          run(index, path);
          return (performance.now() - startedAt) * 1000;
        });
        return median(taken);
      }),
    );
    return Math.max(...medians);
  };
  const rounds = await alternate({
    rounds: quick ? 1 : 3,
    sides: {
      ours: async () => worst((index, path) => matches(patterns[index] as (typeof patterns)[number], path)),
      reference: async () => worst((_, path) => path.indexOf('b?', 1)),
    },
  });
  return makeFigure({
    id: 'licence-quote.pattern',
    what: 'the worst 64-character pattern against an 8 KiB path',
    unit: 'µs',
    referenceName: 'one indexOf over the path',
    rounds,
    target: { atMost: 1_000, of: 'ours' },
    isDetail: true,
  });
}
