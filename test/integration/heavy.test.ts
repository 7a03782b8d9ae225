/** What one site has at once of all heavy work together: reports, files, documents and questions, as on two cores. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { GRAPHQL_PATH } from '../../graphql/request/path.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { exportCsv } from '../../modules/reports/use/exportCsv.ts';
import { accountName, siteName } from '../../platform/pacing/heavy.ts';
import { startTestConsole } from '../support/console.ts';

const QUESTION = '{ tenant { plan earnings { totals { events } } } }';
const [AUDIT, EARNINGS, CSV, PDF] = [
  '/_svc/audit',
  '/_svc/earnings',
  '/_svc/earnings/export.csv?from=1',
  '/_svc/earnings/export.pdf?from=1',
];
const MOST_WAITING = 20;

let world: Awaited<ReturnType<typeof startTestConsole>>;
beforeAll(async () => {
  world = await startTestConsole();
});
afterAll(() => world?.stop());

/** A call of a key, read to its end; of `GRAPHQL_PATH` a question. */
async function ask(key: string, path: string, signal?: AbortSignal) {
  const isQuestion = path === GRAPHQL_PATH;
  const response = await fetch(`${world.url}${path}`, {
    ...(isQuestion ? { method: 'POST', body: JSON.stringify({ query: QUESTION }) } : {}),
    ...(signal ? { signal } : {}),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function statusOf(...asked: Parameters<typeof ask>): Promise<number> {
  return (await ask(...asked)).status;
}

/** Works while a report of a site has the turn, which ends when the work does. */
async function whileReporting<T>({ tenantId }: { readonly tenantId: string }, work: () => Promise<T>): Promise<T> {
  const leave = await world.heavy.enter({ kind: 'reports', who: `a report of ${tenantId}`, of: siteName(tenantId) });
  try {
    return await work();
  } finally {
    leave();
  }
}

test('while a report of a site is on its way, its question, its file and its document wait, and another site has all of its own', async () => {
  const [busy, other] = [await world.api.site(), await world.api.site()];
  const second = (await mintKey(world.api.deps, { ...busy, name: 'second', scopes: ['earnings.read.all', 'tenant.read'] })).token;
  const answered: string[] = [];
  const waiting = await whileReporting(busy, async () => {
    const asked = [
      [second, GRAPHQL_PATH],
      [second, CSV],
      [busy.key, PDF],
    ] as const;
    const statuses = asked.map(async ([key, path]) => {
      const status = await statusOf(key, path);
      answered.push(path);
      return status;
    });
    for (const path of [GRAPHQL_PATH, EARNINGS, AUDIT, CSV]) expect([path, await statusOf(other.key, path)]).toEqual([path, 200]);
    expect(answered).toEqual([]);
    return statuses;
  });
  expect(await Promise.all(waiting)).toEqual([200, 200, 200]);
});

test('files of two sites that wait for their turns keep no other site from its own, and a third of a site is refused at once', async () => {
  const [one, two, other] = [await world.api.site(), await world.api.site(), await world.api.site()];
  const keysOf = async (site: typeof one, count: number) =>
    await Promise.all(
      Array.from({ length: count }, (_, n) =>
        mintKey(world.api.deps, { ...site, name: `file ${n}`, scopes: ['earnings.read.all', 'tenant.read'] }),
      ),
    );
  const [third, ...keys] = [...(await keysOf(one, 3)), ...(await keysOf(two, 2))];
  const answered: number[] = [];
  const begun = vi.spyOn(world.heavy, 'beginFile');
  const waiting = await whileReporting(one, () =>
    whileReporting(two, async () => {
      const files = keys.map(async ({ token }) => {
        const status = await statusOf(token, CSV);
        answered.push(status);
        return status;
      });
      await expect.poll(() => begun.mock.calls.length).toBe(4);
      expect(await statusOf(third?.token ?? '', CSV)).toBe(429);
      for (const path of [CSV, PDF]) expect([path, await statusOf(other.key, path)]).toEqual([path, 200]);
      expect(answered).toEqual([]);
      return files;
    }),
  );
  expect(await Promise.all(waiting)).toEqual([200, 200, 200, 200]);
  begun.mockRestore();
});

test('twenty pieces of a site wait and are answered; more are 429 with a time to wait, in the shape of each API', async () => {
  const [busy, other] = [await world.api.site(), await world.api.site()];
  const waiting = await whileReporting(busy, async () => {
    const line = Array.from({ length: MOST_WAITING + 4 }, (_, n) => ask(busy.key, n % 2 ? GRAPHQL_PATH : EARNINGS));
    const refused: { readonly status: number; readonly headers: Headers; readonly text: string }[] = [];
    for (const one of line) void one.then((answer) => refused.push(answer));
    await expect.poll(() => refused.length).toBe(4);
    for (const { status, headers, text } of refused) {
      expect([status, headers.get('retry-after')]).toEqual([429, '1']);
      expect(text).toMatch(/"THROTTLED"|"error":"throttled/);
    }
    expect(await statusOf(other.key, EARNINGS)).toBe(200);
    return line;
  });
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  expect([statuses.filter((one) => one === 200).length, statuses.filter((one) => one === 429).length]).toEqual([MOST_WAITING, 4]);
});

test('a key that fills the line of its site gives way to another key', async () => {
  const busy = await world.api.site();
  const second = (await mintKey(world.api.deps, { ...busy, name: 'second', scopes: ['tenant.read'] })).token;
  const statuses: number[] = [];
  const late = await whileReporting(busy, async () => {
    for (let n = 0; n <= MOST_WAITING; n++) void statusOf(busy.key, GRAPHQL_PATH).then((status) => statuses.push(status));
    await expect.poll(() => statuses).toEqual([429]);
    const other = statusOf(second, GRAPHQL_PATH);
    await expect.poll(() => statuses).toEqual([429, 429]);
    return [other];
  });
  expect(await Promise.all(late)).toEqual([200]);
  await expect.poll(() => statuses.length).toBe(MOST_WAITING + 1);
  expect(statuses.filter((status) => status === 200)).toHaveLength(MOST_WAITING - 1);
});

test('questions of buyer accounts have half of what runs and a line of their own, however many there are: a site’s begins at once', async () => {
  const gone = new AbortController();
  const asked = Array.from({ length: 7 }, (_, account) => accountName(`free ${account}`)).flatMap((of) =>
    Array.from({ length: MOST_WAITING }, () => world.heavy.enter({ kind: 'questions', who: of, of }, gone.signal)),
  );
  let begun = 0;
  let refused = 0;
  for (const one of asked)
    void one.then(
      () => begun++,
      () => refused++,
    );
  await new Promise((next) => setImmediate(next));
  expect([begun, asked.length - begun - refused]).toEqual([2, MOST_WAITING]);
  (await world.heavy.enter({ kind: 'questions', who: 'a key', of: siteName('quiet') }))();
  gone.abort();
  for (const one of await Promise.allSettled(asked)) if (one.status === 'fulfilled') one.value();
});

test('a caller that goes away gives its place in the line to the next', async () => {
  const busy = await world.api.site();
  const next = await whileReporting(busy, async () => {
    const leaving = new AbortController();
    const line = Array.from({ length: MOST_WAITING + 1 }, () => statusOf(busy.key, EARNINGS, leaving.signal));
    const ended = Promise.allSettled(line);
    expect(await Promise.race(line)).toBe(429); // the one that came last: the line is full
    leaving.abort();
    expect((await ended).filter(({ status }) => status === 'rejected')).toHaveLength(MOST_WAITING);
    await expect.poll(() => statusOf(busy.key, GRAPHQL_PATH, AbortSignal.timeout(500)).catch(() => 'waits')).toBe('waits');
    return [statusOf(busy.key, EARNINGS), statusOf(busy.key, GRAPHQL_PATH)];
  });
  expect(await Promise.all(next)).toEqual([200, 200]);
});

test('a screen of the console that asks several questions at once is answered, one after another', async () => {
  const { tenantId } = await world.api.site();
  const browser = world.browser();
  await browser.signIn((await world.tokenOf(tenantId)).token);
  const answers = await Promise.all([1, 2, 3, 4].map(() => browser.ask(QUESTION)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

test('a download that its client does not read keeps its site from reports for two seconds at most', async () => {
  const { heavy, database } = world;
  const { tenantId, host, keyId } = await world.api.site();
  const site = { tenantId, keyId, hosts: [host], plan: null };
  const file = await exportCsv({ database, heavy, clock: Date.now }, site, { fromMs: null, toMs: null });
  let isIn = false;
  const entered = heavy.enter({ kind: 'reports', who: 'another key', of: siteName(tenantId) });
  void entered.then(() => {
    isIn = true;
  });
  await sleep(100);
  expect(isIn).toBe(false);
  (await entered)();
  await file.close();
});
