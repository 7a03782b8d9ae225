/** Documents about the site at the site's own address, made by a service that the test plays. */
import { expect, test } from 'vitest';
import { createClient } from '../../../packages/publisher/src/client.ts';
import { documentRows } from '../../../packages/publisher/src/documents.ts';
import { serviceThat } from '../../support/lying-service.ts';
import { openExpressSite, openFetchSite, UA } from '../../support/publisher-site.ts';

const MANIFEST = '{"x402Version":2,"items":[]}';
const tagged = (text: string) => new Response(text, { headers: { etag: '"one"' } });

/** A service whose documents are what `say` says; `asked` has the calls for them. */
function world(say: (path: string, etag: string | null) => Response | Promise<Response>) {
  const asked: string[] = [];
  const time = { ms: 1_700_000_000_000 };
  const rest = serviceThat({});
  const service: typeof fetch = async (input, init) => {
    const { pathname } = new URL(String(input));
    if (!pathname.startsWith('/_svc/discovery/')) return rest(input, init);
    asked.push(pathname);
    return say(pathname, new Headers(init?.headers).get('if-none-match'));
  };
  const options = { serviceUrl: 'https://svc.example', apiKey: 'k', fetch: service, now: () => time.ms };
  return { asked, time, options };
}

test.each([
  ['Express', openExpressSite],
  ['fetch', openFetchSite],
])(
  '%s: a document stands at the site until the site has one of its own there, and no page is in its way',
  async (_name, open) => {
    const { asked, options } = world((path) =>
      path.endsWith('/x402.json') ? tagged(MANIFEST) : new Response('{}', { status: 404 }),
    );
    const site = await open({ ...options, documents: { '/llms.txt': true } });
    try {
      const answer = await site.get('/.well-known/x402.json');
      expect([answer.status, await answer.text()]).toEqual([200, MANIFEST]);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      const again = await site.get('/.well-known/x402.json', { 'if-none-match': '"one"' });
      expect([again.status, await again.text()]).toEqual([304, '']);
      expect(await (await site.get('/llms.txt')).text()).toMatch(/home|Cannot GET/);
      expect(asked).toEqual(['/_svc/discovery/alpha.example/x402.json', '/_svc/discovery/alpha.example/llms.txt']);
    } finally {
      await site.close();
    }
  },
);

const ASKED = { '/robots.txt': true, '/llms.txt': true } as const;
const never = () => new Promise<Response>(() => undefined);

test.each([
  ['Express', openExpressSite],
  ['fetch', openFetchSite],
])("%s: what speaks in the publisher's name is served only where he asked for it", async (_name, open) => {
  const { asked, options } = world(() => tagged('License: ours'));
  for (const [documents, text] of [
    [undefined, /home|Cannot GET/],
    [{ '/license.xml': false } as const, /home|Cannot GET/],
    [ASKED, /^License: ours$/],
  ] as const) {
    const site = await open({ ...options, ...(documents ? { documents } : {}) });
    try {
      for (const path of ['/robots.txt', '/llms.txt']) expect(await (await site.get(path)).text()).toMatch(text);
    } finally {
      await site.close();
    }
    if (documents !== ASKED) expect(asked).toEqual([]);
  }
});

test('the own document of a site wins, as it stands, whole or in part', async () => {
  const { options } = world(() => tagged('ours'));
  const site = await openExpressSite({ ...options, documents: ASKED }, (app) =>
    app.get('/llms.txt', (_request, response) => void response.set('x-own', 'yes').type('text/plain').send('its own')),
  );
  try {
    const answer = await site.get('/llms.txt');
    expect([answer.status, await answer.text(), answer.headers.get('x-own')]).toEqual([200, 'its own', 'yes']);
    const again = await site.raw('/llms.txt', { 'if-none-match': answer.headers.get('etag') ?? '' });
    expect([again.status, again.headers['etag']]).toEqual([304, answer.headers.get('etag')]);
  } finally {
    await site.close();
  }
});

test('a service that does not answer delays no robots.txt: neither that of the site nor a copy of ours, and a first one hardly', async () => {
  const states = { isFrozen: true };
  const { asked, time, options } = world(() => (states.isFrozen ? never() : tagged('License: ours')));
  const own = await openExpressSite({ ...options, documents: ASKED, fetch: never }, (app) =>
    app.get('/robots.txt', (_request, response) => void response.type('text/plain').send('User-agent: *')),
  );
  const fresh = await openExpressSite({ ...options, documents: ASKED });
  const kept = await openExpressSite({ ...options, documents: ASKED });
  try {
    expect(await (await own.get('/robots.txt')).text()).toBe('User-agent: *');
    expect((await fresh.get('/robots.txt')).status).toBe(404);
    states.isFrozen = false;
    expect(await (await kept.get('/robots.txt')).text()).toBe('License: ours');
    states.isFrozen = true;
    time.ms += 61_000;
    const before = asked.length;
    const copies = await Promise.all([kept.get('/robots.txt'), kept.get('/robots.txt')]);
    expect(await Promise.all(copies.map((copy) => copy.text()))).toEqual(['License: ours', 'License: ours']);
    expect(asked.length).toBe(before + 1);
  } finally {
    await Promise.all([own, fresh, kept].map((site) => site.close()));
  }
});

test('any of them can be turned off, and all', () => {
  const client = createClient({ serviceUrl: 'https://svc.example', apiKey: 'k' });
  const deps = { client, now: Date.now };
  const isServed = (rows: ReturnType<typeof documentRows>, path: string) => rows.some((row) => row.path.test(path));
  expect(documentRows({ ...deps, documents: false })).toEqual([]);
  const rows = documentRows({ ...deps, documents: { '/license.xml': false } });
  expect([isServed(rows, '/license.xml'), isServed(rows, '/.well-known/x402.json')]).toEqual([false, true]);
});

test('a document is asked for once a minute whoever asks how often, again by its tag, and the last copy stands for a day without the service', async () => {
  let isAway = false;
  const { asked, time, options } = world((_path, etag) =>
    isAway ? new Response('', { status: 503 }) : etag === '"one"' ? new Response(null, { status: 304 }) : tagged(MANIFEST),
  );
  const client = createClient(options);
  const [row] = documentRows({ client, now: options.now });
  const read = async () =>
    (await row?.answer('/.well-known/x402.json', { host: 'alpha.example', header: () => null }))?.body ?? null;
  await Promise.all(Array.from({ length: 50 }, read));
  expect(asked.length).toBe(1);
  time.ms += 61_000;
  expect([await read(), asked.length]).toEqual([MANIFEST, 2]);
  await Promise.all(row?.reading?.() ?? []);
  isAway = true;
  time.ms += 61_000;
  expect([await read(), await read(), asked.length]).toEqual([MANIFEST, MANIFEST, 3]);
  await Promise.all(row?.reading?.() ?? []);
  time.ms += 86_400_000;
  expect(await read()).toBeNull();
});

test.each([
  ['crawler-max-price', 'USD 0.000999', 'over_budget', 'InvalidCrawlerMaxPrice'],
  ['crawler-exact-price', '0.0005', 'over_budget', 'InvalidCrawlerExactPrice'],
  ['crawler-exact-price', 'USD 0.01', 'crawler_list', 'InvalidCrawlerExactPrice'],
  ['crawler-max-price', 'USD 0.001', 'crawler_list', null],
  ['crawler-max-price', 'USD 0.0009999', 'crawler_list', null],
])('%s: %s gets the ordinary 402, and is told to the audit as %s, to the reader as %s', async (name, value, reason, error) => {
  const told: string[] = [];
  const rest = serviceThat({});
  const service: typeof fetch = (input, init) => {
    if (String(input).endsWith('/_svc/observe')) told.push(String(init?.body));
    return rest(input, init);
  };
  const site = await openFetchSite({ serviceUrl: 'https://svc.example', apiKey: 'k', fetch: service });
  try {
    const answer = await site.get('/articles/solo', { 'user-agent': UA.agent, [name]: value });
    const header = (name: string) => answer.headers.get(name);
    expect([answer.status, header('crawler-price'), header('crawler-error')]).toEqual([402, 'USD 0.001', error]);
    expect(site.decisions.map((one) => one.act)).toEqual(['offer']);
    await site.flush();
    expect(told.join()).toContain(`"classifyReason":"${reason}"`);
  } finally {
    await site.close();
  }
});

test('a crawler that the owner refuses is told so in the words of pay per crawl', async () => {
  const refusal = () =>
    new Response('{"error":"agent_refused: no"}', { status: 403, headers: { 'x-svc-error-code': 'agent_refused' } });
  const site = await openFetchSite({ serviceUrl: 'https://svc.example', apiKey: 'k', fetch: serviceThat({ quote: refusal }) });
  try {
    const answer = await site.get('/articles/solo', { 'user-agent': UA.agent, 'crawler-max-price': 'USD 0.0001' });
    expect([answer.status, answer.headers.get('crawler-error')]).toEqual([403, 'CrawlerForbidden']);
  } finally {
    await site.close();
  }
});
