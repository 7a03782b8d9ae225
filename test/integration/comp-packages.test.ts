import { afterAll, beforeAll, expect, test } from 'vitest';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import type { TestAnswer } from '../support/api.ts';
import { ALPHA_PRICING, startTestApi } from '../support/api.ts';
import { StandardPackage } from '../support/comp.ts';
import { COMP_EXAMPLES } from '../support/compExamples.ts';
import { ruleOf } from '../support/rules/arbitrary.ts';

/** Packages of IAB CoMP over the wire: the standard's objects, the prices of quotes, and one 404 for whoever does not sell. */

let api: Awaited<ReturnType<typeof startTestApi>>;
let site: Awaited<ReturnType<typeof api.site>>;
beforeAll(async () => {
  api = await startTestApi();
  const rules = [
    ruleOf({ id: 'deep', path: '/articles/deep/*', effect: { price: '0.25' } }),
    ruleOf({ id: 'gift', path: '/articles/gifts/*', effect: 'free' }),
    ruleOf({ id: 'closed', path: '/articles/closed/*', effect: 'refuse' }),
    ruleOf({ id: 'train', terms: ['ai-train'], effect: { price: '2' } }),
    ruleOf({ id: 'partner', operators: ['partner.example'], effect: 'free' }),
  ];
  site = await api.site({ pricing: { ...ALPHA_PRICING, rules } });
});
afterAll(() => api.stop());

const request = (use: Record<string, unknown> = {}) => ({
  aisystem: { name: 'reader.example', ua: 'Reader/1.0', aisysuse: { lid: 'NONE', aiauth: 0, ...use } },
});
const ask = (body: object, query = ''): Promise<TestAnswer> => api.post(`/_svc/comp/packages${query}`, null, body);
const at = (path: string): string => `https://${site.host}${path}`;

test('a site is told as packages of the standard, the most specific first, with the price of a quote and where to license and report', async () => {
  const { status, body } = await ask(request({ uri: [at('/')] }));
  expect(status).toBe(200);
  for (const one of body.packages) expect(StandardPackage.parse(one)).toEqual(one);
  expect(body.package).toEqual(body.packages[0]);
  expect(body.packages.map(({ ext, scope }: { ext: object; scope: object }) => ({ ...ext, ...scope }))).toMatchObject([
    { pattern: '/articles/gifts/*', unitprice: 0, citationprice: 0 },
    { pattern: '/articles/deep/*', unitprice: 0.25, citationprice: 1.25, pricetype: 0, cur: 'USD' },
    { pattern: '/articles/', unitprice: 0.001, citationprice: 0.005 },
  ]);
  expect(body.packages[2]).toEqual({
    id: `${site.host}/articles/`,
    title: `/articles/ of ${site.host}`,
    seller: site.host,
    packager: 'svc.example',
    licenseurl: `https://svc.example/_svc/discovery/${site.host}/license.xml`,
    reporturl: 'https://svc.example/_svc/usage',
    scope: { scope: 1, ause: 5, pricetype: 0, unitprice: 0.001, cur: 'USD', max: 0, ctype: [0] },
    retrieval: { auth: 4, endpoint: at('/articles/'), type: [0] },
    ext: { pattern: '/articles/', citationprice: 0.005 },
  });
  const quote = await api.request('/_svc/quote?slug=solo', { key: site.key });
  expect(quote.body.price / 1e6).toBe(body.packages[2].scope.unitprice);
});

test('a page has its own package first; one that is refused has none; a use costs what a rule for it says', async () => {
  const patterns = async (body: object): Promise<readonly string[]> =>
    (await ask(body)).body.packages.map(({ ext }: { ext: { pattern: string } }) => ext.pattern);
  expect(await patterns(request({ uri: [at('/articles/deep/one')] }))).toEqual(['/articles/deep/*']);
  expect(await patterns(request({ uri: [at('/articles/solo'), at('/articles/deep/one')] }))).toEqual([
    '/articles/deep/*',
    '/articles/',
  ]);
  expect((await ask(request({ uri: [at('/articles/closed/one')] }))).body).toEqual({ packages: [] });
  expect((await ask(request({ uri: [at('/elsewhere')] }))).body).toEqual({ packages: [] });
  const training = await ask(request({ uri: [at('/articles/solo')], function: [2, 5] }));
  expect(training.body.package.scope).toMatchObject({ pricetype: 0, unitprice: 2 });
  const searching = await ask(request({ uri: [at('/articles/solo')], function: [5] }));
  expect(searching.body.package.scope.unitprice).toBe(0.001);
});

test('without a URL the host says which site; hosts that do not sell are one 404; several hosts and other shapes are 400', async () => {
  expect((await ask(request(), `?host=${site.host.toUpperCase()}`)).body.packages).toHaveLength(3);
  const asleep = await api.site();
  await setTenantStatus(api.deps, { tenantId: asleep.tenantId, status: 'suspended' });
  const missing = [asleep.host, 'nobody.example', 'localhost', '[::1]', 'x'.repeat(250)];
  const answers = await Promise.all(missing.map((host) => ask(request(), `?host=${encodeURIComponent(host)}`)));
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.error}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(404);
  const wrong: readonly object[] = [
    {},
    { aisystem: {} },
    { aisystem: { name: 'x', aisysuse: { lid: 'x' } } },
    { aisystem: { name: '', aisysuse: { lid: 'x', aiauth: 0 } } },
    ...[
      { aiauth: 6 },
      { uri: 'x' },
      { uri: ['ftp://x.example'] },
      { uri: [at('/'), 'https://other.example/'] },
      { function: [6] },
    ].map(request),
    request({ uri: Array.from({ length: 101 }, () => at('/')) }),
    request(),
  ];
  for (const body of wrong) expect([body, (await ask(body)).status]).toEqual([body, 400]);
});

test("requests of the standard's own examples are each answered with a package of the site it names, and the packages printed there are such objects", async () => {
  const hosts = [...new Set(COMP_EXAMPLES.map(({ host }) => host))];
  const priceUsdc = '0.5';
  await api.site({ hosts, pricing: { ...ALPHA_PRICING, priceUsdc, articlePrefixes: ['/'] } });
  for (const { title, host, aisystem, package: printed } of COMP_EXAMPLES) {
    expect(StandardPackage.parse(printed), title).toEqual(printed);
    const query = aisystem.aisysuse.uri === undefined ? `?host=${host}` : '';
    const { status, body } = await ask({ aisystem }, query);
    expect([title, status]).toEqual([title, 200]);
    const prices = (body.packages as { readonly scope: { readonly unitprice: number } }[]).map(({ scope }) => scope.unitprice);
    expect([title, prices]).toEqual([title, [0.5]]);
    expect(StandardPackage.parse(body.package), title).toEqual(body.packages[0]);
    expect(body.package).toMatchObject({ seller: host, licenseurl: `https://svc.example/_svc/discovery/${host}/license.xml` });
  }
});
