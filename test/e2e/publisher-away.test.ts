/** The service dead, hung, failing, and its key revoked: readers get their pages, agents what the package's failure table says, and nobody is charged twice. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeKey } from '../../modules/identity/use/keys/keys.ts';
import { createClient } from '../../packages/publisher/src/client.ts';
import type { Mood, MoodyService } from '../support/moody.ts';
import { startMoody } from '../support/moody.ts';
import type { PublisherSite } from '../support/publisher-site.ts';
import { openExpressSite, openFetchSite, UA } from '../support/publisher-site.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { base64Of, moneyVerdicts, payloadFor, quoteOf } from '../support/verify.ts';

let service: TestService;
let moody: MoodyService;
let site: TestSite;
beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
  moody = await startMoody(service.baseUrl);
});
afterAll(async () => {
  await moody?.close();
  await service?.stop();
});

const agent = { 'user-agent': UA.agent };
const payment = async () => {
  const account = await service.payer(5_000n);
  return { account, header: base64Of(await payloadFor(service, await quoteOf(service, site, 'solo'), account)) };
};

describe.each([
  ['Express', openExpressSite, ['dead', 'hung', 'failing']],
  ['a fetch handler', openFetchSite, ['dead', 'failing']],
] as const)('%s', (_name, open, moods) => {
  test.each(moods)('a service that is %s: readers notice nothing, agents read what has no known price', async (mood: Mood) => {
    let offsetMs = 0;
    const shop = await open({ serviceUrl: moody.url, apiKey: site.key, now: () => Date.now() + offsetMs });
    try {
      moody.mood = 'well';
      const { account, header } = await payment();
      expect((await shop.get('/articles/solo', agent)).status).toBe(402);
      const before = moody.asked.length;
      moody.mood = mood;
      for (const ua of [UA.person, UA.google]) {
        const read = await shop.get('/articles/trio', { 'user-agent': ua });
        expect([read.status, await read.text()]).toEqual([200, '<p>trio</p>']);
      }
      expect(askedForReaders(moody, before)).toEqual([]);
      // A page whose price nobody knows is free for the moment, and the owner hears of it.
      expect((await shop.get('/articles/trio', agent)).status).toBe(200);
      expect(shop.decisions.at(-1)).toMatchObject({ act: 'serve', as: 'away', resource: `https://${site.host}/articles/trio` });
      expect(shop.failures).toContainEqual(expect.objectContaining({ what: 'quote', count: 1 }));
      // A known price stays one, also when it is no longer fresh.
      offsetMs = 300_000;
      expect((await shop.get('/articles/solo', agent)).status).toBe(402);
      offsetMs = 0;
      if (mood !== 'hung') {
        const paid = await shop.get('/articles/solo', { ...agent, 'payment-signature': header });
        expect([paid.status, paid.headers.get('payment-required')]).toEqual([503, null]);
        expect(paid.headers.get('retry-after')).toMatch(/^\d+$/);
        expect(shop.failures).toContainEqual(expect.objectContaining({ what: 'verify', count: 1 }));
      }
      moody.mood = 'well';
      expect(await sold(shop, header)).toBe('<p>solo</p>');
      expect(await balancesOf(service, [account.address])).toEqual([4_000n]);
    } finally {
      moody.mood = 'well';
      await shop.close();
    }
  });

  test('a payment whose answer was lost is shown again and charged once', async () => {
    const shop = await open({ serviceUrl: moody.url, apiKey: site.key });
    const { account, header } = await payment();
    expect((await shop.get('/articles/solo', agent)).status).toBe(402);
    moody.mood = 'deaf';
    const lost = await shop.get('/articles/solo', { ...agent, 'x-payment': header });
    moody.mood = 'well';
    expect([lost.status, lost.headers.get('payment-required')]).toEqual([503, null]);
    expect(await sold(shop, header)).toBe('<p>solo</p>');
    expect(await sold(shop, header)).toBe('<p>solo</p>');
    expect(await balancesOf(service, [account.address])).toEqual([4_000n]);
    await shop.close();
  });
});

/** What is sent by the clock, not by readers, also from a site that is closed: reports, and words about pages that were sold. */
const BY_THE_CLOCK = ['/_svc/observe', '/_svc/receipts/bodies'];

/** What the package asked since call `from` so that it could answer a reader. */
function askedForReaders(service: MoodyService, from: number): string[] {
  return service.asked.slice(from).filter((path) => !BY_THE_CLOCK.includes(path));
}

async function sold(shop: PublisherSite, header: string): Promise<string> {
  const bought = await shop.get('/articles/solo', { ...agent, 'payment-signature': header });
  expect(bought.status).toBe(200);
  return bought.text();
}

test('a licence that is proven at the site is honoured while the service is away, and only as long as it lives', async () => {
  let offsetMs = 0;
  const shop = await openExpressSite({ serviceUrl: moody.url, apiKey: site.key, now: () => Date.now() + offsetMs });
  const { header } = await payment();
  const bought = await shop.get('/articles/solo', { ...agent, 'payment-signature': header });
  const licence = { ...agent, authorization: `License ${bought.headers.get('x-licence')}` };
  expect((await shop.get('/articles/solo', licence)).status).toBe(200);
  const asked = moody.asked.length;
  for (let again = 0; again < 5; again++) expect((await shop.get('/articles/solo', licence)).status).toBe(200);
  expect(askedForReaders(moody, asked)).toEqual([]);
  moody.mood = 'dead';
  offsetMs = 120_000;
  expect((await shop.get('/articles/solo', licence)).status).toBe(200);
  expect(shop.decisions.at(-1)).toMatchObject({ as: 'licensed' });
  expect((await shop.get('/articles/trio', licence)).status).toBe(200);
  expect(shop.decisions.at(-1)).toMatchObject({ as: 'away' });
  offsetMs = 590_000;
  expect((await shop.get('/articles/solo', licence)).status).toBe(200);
  offsetMs = 601_000;
  await shop.get('/articles/solo', licence);
  expect(shop.decisions.at(-1)).not.toMatchObject({ as: 'licensed' });
  moody.mood = 'well';
  await shop.close();
});

test('a service that was never there: people read at once, agents after two seconds, and what was given away is told when it is back', async () => {
  moody.mood = 'hung';
  const own = await service.site();
  const shop = await openExpressSite({ serviceUrl: moody.url, apiKey: own.key, origin: `https://${own.host}` });
  const given = shop.get('/articles/solo', agent);
  expect((await shop.get('/articles/solo', { 'user-agent': UA.person })).status).toBe(200);
  expect(shop.decisions).toEqual([]); // the agent still waits
  expect((await given).status).toBe(200);
  expect(shop.decisions.at(-1)).toMatchObject({ act: 'serve', as: 'away' });
  moody.mood = 'well';
  await shop.flush();
  const rows = await service.database.query('select verdict, classify_reason, slug from observation where tenant_id = $1', [
    own.tenantId,
  ]);
  expect(rows).toEqual([{ verdict: 'served-free', classify_reason: 'service_away', slug: 'solo' }]);
  await shop.close();
});

test('a revoked key: readers notice nothing, agents read free, a payment is neither taken nor answered with an offer, and the owner hears of the key', async () => {
  const own = await service.site();
  const shop = await openExpressSite({ serviceUrl: service.baseUrl, apiKey: own.key });
  const account = await service.payer(5_000n);
  const header = base64Of(await payloadFor(service, await quoteOf(service, own, 'solo'), account));
  expect((await shop.get('/articles/solo', agent)).status).toBe(402);
  const [key] = await service.database.query<{ key_id: string }>('select key_id from api_key where tenant_id = $1', [
    own.tenantId,
  ]);
  await revokeKey({ database: service.database }, { tenantId: own.tenantId, keyId: key?.key_id ?? '' });
  const gone = createClient({ serviceUrl: service.baseUrl, apiKey: own.key });
  while ((await gone.quote({ resource: `https://${own.host}/articles/solo` })).ok);
  expect((await shop.get('/articles/trio', { 'user-agent': UA.person })).status).toBe(200);
  expect((await shop.get('/articles/trio', agent)).status).toBe(200);
  expect(shop.failures).toContainEqual(expect.objectContaining({ what: 'key', status: 401 }));
  const paid = await shop.get('/articles/solo', { ...agent, 'payment-signature': header });
  expect([paid.status, paid.headers.get('payment-required')]).toEqual([503, null]);
  expect(await balancesOf(service, [account.address])).toEqual([5_000n]);
  expect(await moneyVerdicts(service, own)).toEqual([]);
  await shop.close();
});
