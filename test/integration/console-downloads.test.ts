import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestConsole } from '../support/console.ts';
import { insertPurchases } from '../support/reports.ts';

let world: Awaited<ReturnType<typeof startTestConsole>>;
let site: Awaited<ReturnType<typeof world.api.site>>;
let browser: ReturnType<typeof world.browser>;
beforeAll(async () => {
  world = await startTestConsole();
  site = await world.api.site();
  const legs = [{ toAddress: `0x${'a1'.repeat(20)}`, amountMicro: 1_000, authorId: 'ann' }];
  const sale = { tenantId: site.tenantId, host: site.host, kind: 'read', steps: 1, legs } as const;
  await insertPurchases(world.database, [
    { ...sale, slug: 'solo', atMs: Date.now() - 60_000 },
    { ...sale, slug: 'trio', atMs: Date.now() - 90_000 },
  ]);
  browser = world.browser();
  await browser.signIn((await world.tokenOf(site.tenantId)).token);
  world.api.time.stoppedAtMs = Date.now(); // both files say when they were made
});
afterAll(() => world.stop());

const PAIRS = [
  ['earnings.csv', '/_svc/earnings/export.csv', ''],
  ['statement.pdf', '/_svc/earnings/export.pdf', ''],
  ['statement.pdf', '/_svc/earnings/export.pdf', 'author=ann'],
  ['statements.zip', '/_svc/earnings/statements.zip', 'timeZone=Europe/Berlin'],
] as const;

test.each(PAIRS)(
  '%s is what REST gives at %s?%s, to the byte and a CSV with a byte order mark, as an attachment',
  async (name, path, query) => {
    const window = `from=${Date.now() - 3_600_000}&${query}`;
    const of = async (url: string, headers: Record<string, string>) => {
      const answer = await fetch(`${world.url}${url}`, { headers });
      const told = ['content-type', 'content-disposition', 'x-svc-row-count'].map((header) => answer.headers.get(header));
      return { status: answer.status, told, bytes: Buffer.from(await answer.arrayBuffer()) };
    };
    const rest = await of(`${path}?${window}`, { authorization: `Bearer ${site.key}` });
    const own = await of(`/_svc/console/download/${name}?tenantId=${site.tenantId}&${window}`, { cookie: browser.cookie });
    const mark = Buffer.from(name === 'earnings.csv' ? '\ufeff' : '');
    expect(own).toEqual({ ...rest, bytes: Buffer.concat([mark, rest.bytes]) });
    expect([own.status, own.told[1]]).toEqual([200, expect.stringMatching(/^attachment; filename="svc-earnings-/)]);
  },
);

test('a file of another’s site, without a session, from another site’s page or of another name is refused', async () => {
  const other = await world.api.site();
  const path = '/_svc/console/download/earnings.csv';
  expect((await browser.get(`${path}?tenantId=${other.tenantId}`)).status).toBe(404);
  expect((await world.browser().get(path)).status).toBe(401);
  expect((await browser.get(path, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await browser.get('/_svc/console/download/secrets.csv')).headers.get('content-disposition')).toBeNull();
  expect((await browser.get(`${path}?from=yesterday`)).status).toBe(400);
});

test('the places of exports are shared with REST: while one of the owner’s files is on its way, his next one waits', async () => {
  const { giveBack } = await world.heavy.beginFile({ keyId: `owner of ${site.tenantId} you`, tenantId: site.tenantId });
  const path = `/_svc/console/download/earnings.csv?tenantId=${site.tenantId}`;
  expect((await browser.get(path)).status).toBe(429);
  giveBack();
  expect((await browser.get(path)).status).toBe(200);
});
