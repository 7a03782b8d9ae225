/** What callers of each door get while Postgres is away, and what the operator reads of it: in each the door's own shape, one line with the reason. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccountClient, createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { Browser } from '../support/console.ts';
import { mcpClients } from '../support/mcp.ts';
import { tokenForm } from '../support/olp.ts';
import type { CutProxy } from '../support/proxy.ts';
import { startProxy } from '../support/proxy.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

let service: TestService;
let site: TestSite;
let postgres: CutProxy;
let ownerToken: string;
let basic: string;
let browser: Browser;

beforeAll(async () => {
  service = await startTestService({ apis: 0, worker: false });
  const databaseUrl = new URL(service.urls.appUrl);
  postgres = await startProxy(Number(databaseUrl.port));
  databaseUrl.port = String(postgres.port);
  await service.startApi({ DATABASE_URL: databaseUrl.href, PUBLIC_BASE_URL: '' });
  site = await service.site();
  const deps = { database: service.database, pepper: pepperOf(service.secrets), clock: Date.now };
  ({ token: ownerToken } = await createOwnerToken(deps, { tenantId: site.tenantId, userId: 'ada' }));
  const { accountId } = await createBuyerAccount(deps);
  const { clientId, clientSecret } = await createAccountClient(deps, { accountId });
  basic = `Basic ${btoa(`${clientId}:${clientSecret}`)}`;
  browser = new Browser(service.baseUrl);
  expect((await browser.send('POST', '/_svc/console/session', { body: { token: ownerToken } })).status).toBe(200);
  expect((await browser.get('/_svc/console/session')).body).toMatchObject({ signedIn: true });
  postgres.cut();
});
afterAll(async () => {
  await service.stop();
  await postgres.close();
});

/** Lines of the log at `warn` and above that belong to a request. */
function linesOf(requestId: string): readonly Record<string, unknown>[] {
  const log = readFileSync(service.apis[0]!.process.logFile, 'utf8');
  const lines = log
    .split('\n')
    .flatMap((line) => (line.includes(requestId) ? [JSON.parse(line) as Record<string, unknown>] : []));
  return lines.filter(({ level, msg }) => level !== 'info' && /could not/.test(String(msg)));
}

const REASON = /^Error: .*(terminated|ECONN|closed)/;
const WAIT = { action: 'wait', seconds: 2 };
const PLAIN = { error: expect.stringMatching(/^database_unavailable: /), next: WAIT };

/** A call of a door that is named in the log: 503 with Retry-After, the code as a header where the door has it, and one line. */
async function expectAway(answer: { readonly status: number; readonly headers: Headers }): Promise<void> {
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
  const requestId = answer.headers.get('x-request-id') ?? '';
  await expect.poll(() => linesOf(requestId).length).toBe(1);
  expect(linesOf(requestId)).toMatchObject([
    { level: 'warn', code: 'database_unavailable', reason: expect.stringMatching(REASON) },
  ]);
}

test('the console tells its screens so in its own shape, and keeps their session', async () => {
  const read = await browser.get('/_svc/console/session');
  await expectAway(read);
  expect(read.body).toEqual(PLAIN);
  const asked = await browser.send('POST', '/_svc/console/graphql', { body: { query: '{ sites { tenantId } }' } });
  await expectAway(asked);
  expect(asked.body).toEqual(PLAIN);
  expect(browser.cookies.size).toBe(1);
  const signIn = await new Browser(service.baseUrl).send('POST', '/_svc/console/session', { body: { token: ownerToken } });
  await expectAway(signIn);
});

test('a crawler that asks for a licence token is told to come again, and never that its client is unknown', async () => {
  const license = '<license><payment type="purchase"/></license>';
  const answer = await fetch(`${service.baseUrl}/_svc/olp/token`, {
    method: 'POST',
    headers: { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' },
    body: tokenForm({ url: `https://${site.host}/articles/*`, license }).toString(),
  });
  await expectAway(answer);
  expect(await answer.json()).toEqual(PLAIN);
});

test('an agent that calls a tool reads in its result that the database is away, and how long to wait', async () => {
  const { ask } = mcpClients(() => service.baseUrl);
  const told = await ask({ name: 'find_pages', arguments: { query: 'anything' } });
  expect(told).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: expect.stringMatching(/^database_unavailable: /) }],
    structuredContent: { next: WAIT },
  });
});
