import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { startTestApi } from '../support/api.ts';
import type { ApiDocument } from '../support/openapi-client.ts';
import { generateClient } from '../support/openapi-client.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = `${root}.test/client-${process.pid}/`;
let api: Awaited<ReturnType<typeof startTestApi>>;
let document: ApiDocument;

/** What a stranger would write against the generated types. */
const USAGE = `
import { createClient } from './client.generated.ts';
const client = createClient('http://127.0.0.1', 'key');
export async function use(): Promise<number> {
  const quote = await client.getQuote({ query: { slug: 'solo', kind: 'read' } });
  if (quote.status === 200) return quote.body.price;
  if (quote.status === 403) return quote.body.error.length;
  const self = await client.getTenantSelf({});
  if (self.status === 200) return self.body.tenants[0]?.price_usdc ?? 0;
  const report = await client.getReconciliation({ query: { from: '0' } });
  if (report.status === 200) return report.body.settled.micro + report.body.exceptions.length;
  const wanted = { host: 'a.example', scope: ['/articles/*'], terms: ['ai-input' as const], periodDays: 30, kind: 'read' as const };
  const offered = await client.buyLicence({ body: wanted, headers: { 'SIGN-IN-WITH-X': 'e30=' } });
  if (offered.status === 402) return (offered.headers['payment-required'] ?? '').length;
  const bought = await client.buyLicence({ body: wanted, headers: { 'PAYMENT-SIGNATURE': 'e30=', 'Idempotency-Key': 'one' } });
  if (bought.status === 200) return bought.body.priceMicro + bought.headers['payment-response'].length;
  if (bought.status === 503) return Number(bought.headers['retry-after']);
  const observed = await client.observe({ body: { resource: 'https://a.example/', verdict: 'denied', classifiedAs: 'agent' } });
  return observed.status === 202 ? observed.body.accepted : 0;
}
// @ts-expect-error a status that is not described cannot be asked for
export const wrong = async () => (await client.getQuote({})).status === 299;
// @ts-expect-error a header that no operation takes
export const unknown = () => client.getQuote({ headers: { 'X-Pay': 'e30=' } });
// @ts-expect-error a use that is not among the words
export const use_ = () => client.quoteLicence({ body: { scope: ['/'], terms: ['ai-everything'], periodDays: 1 } });
// @ts-expect-error the path of an access call is needed
export const missing = () => client.openLicenceAccess({});
`;

beforeAll(async () => {
  api = await startTestApi();
  document = (await api.request('/_svc/openapi.json')).body;
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}client.generated.ts`, generateClient(document));
  await writeFile(`${folder}usage.ts`, USAGE);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await api.stop();
});

test('the served description is the committed one, at its own address', () => {
  const committed = JSON.parse(readFileSync(`${root}openapi.json`, 'utf8'));
  expect(document).toEqual({ ...committed, servers: [{ url: 'https://svc.example' }] });
});

test('every operation of the specification is described, with its statuses', () => {
  const listed = Object.entries(document.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`));
  expect(listed).toEqual(expect.arrayContaining(Object.keys(SPECIFIED)));
  for (const [name, statuses] of Object.entries(SPECIFIED)) {
    const [method = '', path = ''] = name.split(' ');
    expect([name, Object.keys(document.paths[path]?.[method]?.responses ?? {})]).toEqual([
      name,
      expect.arrayContaining(statuses.split(' ')),
    ]);
  }
});

test('a client generated from the description type-checks, and its types know what the specification says', async () => {
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'esnext', '--module', 'nodenext', '--lib', 'esnext,dom'];
  const files = [`${folder}client.generated.ts`, `${folder}usage.ts`];
  const args = [
    `${root}node_modules/typescript/bin/tsc`,
    '--ignoreConfig',
    ...options,
    '--allowImportingTsExtensions',
    '--types',
    '',
    ...files,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

test('the generated client calls every operation, and every answer has a status that is described', async () => {
  const { createClient } = await import(pathToFileURL(`${folder}client.generated.ts`).href);
  const site = await api.site();
  const { token } = await createBuyerAccount(api.deps, { name: 'client' });
  const buyer = createClient(api.url, token);
  const given: Record<string, object> = {
    getQuote: { query: { slug: 'solo' } },
    openLicenceAccess: { path: { jti: 'ffffffff-ffff-4fff-8fff-ffffffffffff' } },
    getOfferLegs: { path: { offerId: 'ffffffff-ffff-4fff-8fff-ffffffffffff' } },
    observe: { body: [{ resource: `https://${site.host}/articles/solo`, verdict: 'denied', classifiedAs: 'agent' }] },
    verifyPayment: {
      body: { payment: 'e30=', legs: [], quote: { price: 1_000 }, resource: `https://${site.host}/articles/solo` },
    },
    checkLicense: { body: { license: 'x', resource: `https://${site.host}/articles/solo`, slug: 'solo' } },
    quoteLicence: { body: { host: site.host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' } },
    buyLicence: { body: { host: site.host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' } },
  };
  const answered = new Map<string, number>();
  for (const item of Object.values(document.paths)) {
    for (const { operationId, responses, requestBody } of Object.values(item)) {
      const isBuyers = ['buyLicence', 'listHeldLicences', 'openLicenceAccess'].includes(operationId);
      const key = await keyOf(site.tenantId, operationId);
      const input = given[operationId] ?? (requestBody ? { body: {} } : {});
      const { status } = await (isBuyers ? buyer : createClient(api.url, key))[operationId](input);
      expect([operationId, Object.keys(responses)]).toEqual([operationId, expect.arrayContaining([String(status)])]);
      answered.set(operationId, status);
    }
  }
  expect(Object.fromEntries(answered)).toMatchObject({
    getQuote: 200,
    observe: 202,
    verifyPayment: 402,
    checkLicense: 200,
    getEnforceConfig: 200,
    getEnforceStatus: 200,
    getTenantSelf: 200,
    listMembers: 200,
    getEarnings: 200,
    getStatements: 200,
    getReconciliation: 200,
    exportEarningsCsv: 200,
    exportEarningsPdf: 200,
    getAudit: 200,
    listHostChallenges: 200,
    listHeldLicences: 200,
    openLicenceAccess: 404,
    quoteLicence: 200,
    buyLicence: 402,
    getOpenApi: 200,
    getJwks: 200,
  });
});

/** A key of its own for a call; revoked before the next, since a site has at most 20. */
async function keyOf(tenantId: string, name: string): Promise<string> {
  await api.deps.database.query('update api_key set revoked_at = now() where tenant_id = $1', [tenantId]);
  return (await mintKey(api.deps, { tenantId, name, scopes: SCOPES })).token;
}

/** The 22 operations of the specification and the statuses it names. */
const SPECIFIED: Readonly<Record<string, string>> = {
  'post /_svc/verify': '200 400 401 402 403',
  'get /_svc/quote': '200 204 400 401 403',
  'get /_svc/enforce-config': '200 400 401 403',
  'post /_svc/observe': '202 400 401 403',
  'get /_svc/enforce-status': '200 401',
  'post /_svc/license/check': '200 400 401 403',
  'post /_svc/verify-host': '201 400 401 409',
  'get /_svc/verify-host': '200 401',
  'post /_svc/verify-host/check': '200 400 401 409 429',
  'post /_svc/licenses/quote': '200 400 404 409',
  'get /_svc/licenses/held': '200 401',
  'post /_svc/licenses/{jti}/access': '200 401 403 404 409 503',
  'post /_svc/licenses': '200 401 402',
  'get /_svc/tenants/self': '200 401 403',
  'get /_svc/earnings': '200 401 403',
  'get /_svc/earnings/statements': '200 401 403',
  'get /_svc/earnings/reconciliation': '200 401 403',
  'get /_svc/earnings/export.csv': '200 401 403',
  'get /_svc/earnings/export.pdf': '200 401 403',
  'get /_svc/audit': '200 401 403',
  'get /_svc/members': '200 401 403',
  'get /_svc/openapi.json': '200',
};
