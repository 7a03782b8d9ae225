/** The console as a person meets it: a real Chromium opens each screen over the records, until nothing of it is awaited any more. */
import type { Page } from 'playwright-core';
import { pepperOf } from '../../services/credentials/pepper.ts';
import { createOwnerToken } from '../../services/tenants/tenants.ts';
import { closeBrowser, openVisitor } from '../../test/support/browser.ts';
import { alternate } from '../harness/alternate.ts';
import type { BenchOptions } from '../harness/bench.ts';
import type { Figure } from '../harness/figure.ts';
import { makeFigure, median } from '../harness/figure.ts';
import { sharedService } from '../harness/service.ts';
import { startRecordsApi } from './api.ts';
import { BUSY } from './load.ts';
import type { RecordStore } from './store.ts';

const CONSOLE = '/_svc/console';
/** Openings of a round. */
const OPENINGS = 5;

type Session = Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>;

/** An opening of a screen, ms since its address was entered. */
interface Opening {
  readonly paintMs: number;
  readonly settledMs: number;
}

/**
 * Figures of a browser that opens each screen, every time with an empty cache: the first paint of the overview, and until each screen is whole.
 * Beside it stands what `plainMs` says for the questions that the screen asks.
 */
export async function measurePaint(
  store: RecordStore,
  { quick, log }: BenchOptions,
  plainMs: (query: string) => Promise<number>,
): Promise<Figure[]> {
  const { api } = await startRecordsApi(store, { isOpened: true });
  try {
    const { secrets } = await sharedService();
    const deps = { database: store.database, pepper: pepperOf(secrets) };
    const { token } = await createOwnerToken(deps, { tenantId: BUSY, userId: 'owner' });
    const signedIn = await openVisitor(api.url);
    const { page } = signedIn;
    const paths = await signIn(page, token, store);
    const session = await signedIn.context.storageState();
    const figures: Figure[] = [];
    for (const path of paths) {
      const asked = new Set<string>();
      const open = (): Promise<Opening> => openScreen(api.url, session, path, (query) => asked.add(query));
      await open(); // which questions it asks, and what this process and Postgres keep of them
      const reference = async (): Promise<number> => {
        let sum = 0;
        for (const query of asked) sum += await plainMs(query);
        return sum;
      };
      const found = await measureScreen(path.replaceAll(/[0-9a-f-]{36}/g, 'one'), { open, reference, quick });
      figures.push(...found);
      for (const { id, ours, reference: plain } of found) log(`${id}: ${ours.toFixed(0)} ms beside ${plain.toFixed(1)} ms`);
    }
    const shown = figures.filter(({ isDetail }) => isDetail);
    const [slowest] = shown.toSorted((a, b) => b.ours - a.ours);
    if (!slowest) throw new Error('the console has no screen');
    const { isDetail: _detail, ...last } = slowest;
    return [...figures, { ...last, id: 'console.shown', what: `${last.what}: the slowest of ${shown.length}` }];
  } finally {
    await closeBrowser();
    await api.stop();
  }
}

interface Sides {
  readonly open: () => Promise<Opening>;
  readonly reference: () => Promise<number>;
  readonly quick: boolean;
}

/** How long a screen takes until it is whole; of the overview also until anything is seen. */
async function measureScreen(path: string, { open, reference, quick }: Sides): Promise<Figure[]> {
  const opened: Opening[] = [];
  const ours = async (): Promise<number> => {
    const times: Opening[] = [];
    for (let n = 0; n < (quick ? 1 : OPENINGS); n++) times.push(await open());
    opened.push(...times);
    return median(times.map(({ settledMs }) => settledMs));
  };
  const rounds = await alternate({ rounds: quick ? 1 : 3, sides: { ours, reference } });
  const said = { unit: 'ms', referenceName: 'plain SQL for its reports and lists' } as const;
  const shown = makeFigure({
    ...said,
    id: `console.shown.${path.slice(1).replaceAll('/', '-') || 'overview'}`,
    rounds,
    isDetail: true,
    what: `the screen ${path} in a browser with an empty cache, until it is whole, p50`,
    target: { atMost: 1_000, of: 'ours' },
  });
  if (path !== '/') return [shown];
  const paints = opened.map(({ paintMs }) => paintMs);
  const first = makeFigure({
    ...said,
    id: 'console.first-paint',
    target: { atMost: 500, of: 'ours' },
    what: 'first contentful paint of the overview in a browser with an empty cache, p50',
    rounds: { ...rounds, ours: median(paints), ratios: paints.map((ms) => ms / rounds.reference) },
  });
  return [first, shown];
}

/** Signs in, and says the addresses of all screens: those of the menu, and the newest of those that others lead to. */
async function signIn(page: Page, token: string, { database }: RecordStore): Promise<readonly string[]> {
  await page.goto(CONSOLE);
  await page.getByLabel('Owner token').fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor({ timeout: 60_000 });
  const links = await page
    .locator('nav[aria-label="Screens"] a')
    .evaluateAll((all) => all.map((link) => new URL((link as unknown as { href: string }).href).pathname));
  const newest = async (table: string, id: string, by: string): Promise<string[]> => {
    const [row] = await database.query(`select ${id} as id from ${table} where tenant_id = $1 order by ${by} desc limit 1`, [
      BUSY,
    ]);
    return row ? [String(row['id'])] : [];
  };
  return [
    ...links.map((path) => path.slice(CONSOLE.length) || '/'),
    ...(await newest('payment_intake', 'payment_id', 'accepted_at')).map((id) => `/earnings/payments/${id}`),
    ...(await newest('webhook_endpoint', 'endpoint_id', 'created_at')).map((id) => `/webhooks/${id}`),
  ];
}

/** Opens a screen with an empty cache, until all that it asked for has come and is drawn. */
async function openScreen(
  baseUrl: string,
  storageState: Session,
  path: string,
  onQuestion: (query: string) => void,
): Promise<Opening> {
  const visitor = await openVisitor(baseUrl, { storageState });
  try {
    const { page } = visitor;
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/graphql')) onQuestion(request.postDataJSON().query);
    });
    await page.goto(`${CONSOLE}${path === '/' ? '' : path}?site=${BUSY}`);
    const isWhole = () =>
      document.querySelector('main h1') !== null &&
      document.querySelector('[aria-busy="true"], .skeleton') === null &&
      performance.now();
    const settledMs = await (await page.waitForFunction(isWhole, null, { polling: 'raf', timeout: 60_000 })).jsonValue();
    const paint = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
    const paintMs = await (await page.waitForFunction(paint)).jsonValue();
    if (await page.locator('.notice.bad').count())
      throw new Error(`${path}: ${await page.locator('.notice.bad').first().textContent()}`);
    return { paintMs: Number(paintMs), settledMs: Number(settledMs) };
  } finally {
    await visitor.close();
  }
}
