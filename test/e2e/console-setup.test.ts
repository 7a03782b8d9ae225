/** A stranger in a browser, from nothing to a page that sells: no command line of ours, nothing but the console and a web server. */
import type { Page } from 'playwright-core';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { layered, limits } from '../../sandbox/limits.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import type { SandboxWeb } from '../../sandbox/site.ts';
import { startSandboxWeb } from '../../sandbox/site.ts';
import type { Trial } from '../../sandbox/trial.ts';
import { startTrial } from '../../sandbox/trial.ts';
import type { Visitor } from '../support/browser.ts';
import { audited, closeBrowser, openVisitor } from '../support/browser.ts';
import type { TestService } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';

const HOST = 'stranger.sandbox.example';

let web: SandboxWeb;
let service: TestService;
let visitor: Visitor;
let page: Page;
/** What stands for the stranger's own web server, in a tab beside. */
let server: Page;
let trial: Trial;
beforeAll(async () => {
  web = await startSandboxWeb(0);
  const environment = layered(CALM, limits({ hostCheckGapMs: 0 }), {
    PUBLIC_BASE_URL: '',
    TEST_KEYS_ENABLED: 'true',
    SELF_SIGN_UP: 'true',
    SELF_SIGN_UP_PLAN: 'studio',
    OUTBOUND_SANDBOX_WEB: web.url,
  });
  service = await startTestService({ environment, apis: 0 });
  const { tenantId } = await service.site();
  const deps = { database: service.database, pepper: pepperOf(service.secrets) };
  const { token } = await createOwnerToken(deps, { tenantId, userId: 'demo' });
  const { url: serviceUrl } = await service.startApi({ CONSOLE_DEMO_TOKEN: token });
  const buyerKey = newPrivateKey();
  await mintUsdc(service.chain.rpcUrl, privateKeyToAccount(buyerKey).address.toLowerCase() as Address, 1_000_000n);
  trial = await startTrial({ serviceUrl, web, buyerKey });
  visitor = await openVisitor(serviceUrl);
  page = visitor.page;
  server = (await openVisitor(trial.url)).page;
  await server.goto(trial.url);
});
afterAll(async () => {
  await closeBrowser();
  await trial?.close();
  await service?.stop();
  await web?.close();
});

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
/** Sends a form of the stranger's own server, and waits for what it says. */
const press = async (name: string, says: string | RegExp): Promise<void> => {
  const form = server.locator('form').filter({ has: server.getByRole('button', { name }) });
  await form.getByRole('button').click();
  const said = form.locator('output').filter({ hasText: /^(?!One moment)./ });
  await said.waitFor();
  expect(await said.textContent()).toMatch(says);
};
const field = (label: string) => page.getByLabel(label, { exact: true });
const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();

/** Nothing is wrong with the page as it is. */
const expectAccessible = async (): Promise<void> => expect(await audited(page)).toEqual([]);

test('a stranger sets a site up in the console, and its first page sells', async () => {
  await page.goto(`${service.baseUrl}/_svc/console`);
  await page.getByRole('link', { name: 'Open the demo site' }).click();
  await page.getByRole('link', { name: 'Set up', exact: true }).click();
  await button('Set up another site').click();
  await field('Host name').fill('localhost');
  await button('Begin').click();
  await page.getByText('Not saved').waitFor();
  await field('Host name').fill(HOST);
  await button('Begin').click();

  await heading('Prove your host');
  await button('Check now').click();
  await page.getByText('The file is not there yet.').waitFor();
  await expectAccessible();
  await page.reload(); // where one was is the site's own state
  await heading('Prove your host');
  const [url = '', body] = await page.locator('.publish code').allTextContents();
  await server.getByLabel('Address').fill(url);
  await server.getByLabel('Text').fill(body ?? '');
  await press('Serve it', 'Served.');
  await button('Check now').click();

  await heading('Who is paid');
  await field('Author').fill('ann');
  await field('Wallet').fill('0x123');
  await page.getByText('0x and 40 hexadecimal digits.').waitFor();
  await field('Wallet').fill(`0x${'1a'.repeat(20)}`);
  await expectAccessible();
  await button('Save the payee').click();

  await heading('The price');
  await field('USD for one read').fill('0.005');
  await field('Where your articles are').fill('/articles/');
  await page.getByText('An agent pays $0.005 to read a page').waitFor();
  await button('Set the price').click();

  await heading('A key for your server');
  await button('Mint the key').click();
  await page.getByText('Your key, shown until you leave this page').waitFor();
  await button(/^Go on/).click();
  await heading('The package in front of your pages');
  const lines = (await page.locator('.snippet code').allTextContents()).join('\n');
  expect(lines).toContain(`SVC_URL=${service.baseUrl}`);
  const key = /svc_live_\w+/.exec(lines)?.[0] ?? '';
  await expectAccessible();

  await button('Go on: A test purchase').click();
  await field('Page').fill('first');
  await button('Buy it in test mode').click();
  await page.getByText('This page does not sell yet').waitFor(); // no server answers for the host
  await server.getByLabel('Host').fill(HOST);
  await server.getByLabel('Key').fill(key);
  await press('Start', `The package stands in front of ${HOST}.`);
  await button('Buy it in test mode').click();
  await page.getByText('This page sells').waitFor();
  await expectAccessible();

  await button(/^Go on/).click();
  await heading('The first sale');
  await server.getByLabel('Page').fill(`https://${HOST}/articles/first`);
  await press('Buy it', /^Sold\. Transaction 0x/);
  await page.getByText('Your site sells.').waitFor();
  await page.getByText('8 of 8 done').waitFor();

  await page.getByRole('link', { name: 'Earnings', exact: true }).click();
  await page.getByRole('link', { name: 'Payments', exact: true }).click();
  const payments = page.getByRole('region', { name: 'Payments', exact: true }).locator('tbody tr');
  await payments.nth(2).waitFor();
  const tests = payments.filter({ has: page.getByText('Test', { exact: true }) });
  expect([await payments.count(), await tests.count()]).toEqual([3, 2]); // both test purchases were paid, before the page sold and after
  await tests.first().getByRole('link').click();
  await page.getByText('A test payment: no money moved.').waitFor();
  await expectAccessible();
  expect([visitor.mishaps, visitor.strangers]).toEqual([[], []]);
});

test('keys are shown once and revoked with a word about the effect; hostile names stay text', async () => {
  const name = '<img src=x onerror=alert(1)>';
  await page.getByRole('link', { name: 'Keys and members' }).click();
  await button('Mint a key').click();
  await expectAccessible();
  await field('What it is for').fill(name);
  await button('Mint').click();
  const token = (await page.locator('.secret code').textContent()) ?? '';
  expect(token).toMatch(/^svc_live_\w{40,}$/);
  await expectAccessible();
  expect((await ask(token)).status).toBe(200);
  await page.reload();
  await page.getByText(name, { exact: true }).waitFor();
  expect(await page.content()).not.toContain(token);
  expect(page.url()).not.toContain(token);
  await button(`Revoke ${name}`).click();
  await page.getByText('The very next call with it is refused.').waitFor();
  await button('Revoke the key').click();
  await page.getByRole('row', { name }).getByText('Revoked').waitFor();
  expect((await ask(token)).status).toBe(401);
  expect([visitor.mishaps, visitor.strangers]).toEqual([[], []]);
});

test('an invited author accepts by the link alone, and the roster says so', async () => {
  await page.getByRole('link', { name: 'Members', exact: true }).click();
  await button('Invite an author').first().click();
  await field('Author').fill('ann');
  await field('E-mail').fill('ann@example.com');
  await button('Invite').click();
  const link = (await page.locator('.secret code').textContent()) ?? '';
  expect(link.startsWith(`${service.baseUrl}/_svc/members/accept#`)).toBe(true);
  await expectAccessible();
  const author = await page.context().newPage();
  await author.goto(link);
  await author.getByRole('button', { name: 'Accept' }).click();
  await author.getByText('You are on the list of authors.').waitFor();
  await page.reload();
  await page.getByRole('row', { name: 'ann' }).getByText('Accepted').waitFor();
  await expectAccessible();
  expect([visitor.mishaps, visitor.strangers]).toEqual([[], []]);
});

test('a host is proven by DNS and removed with a word about the effect; after that DNS alone proves it', async () => {
  const host = 'second.sandbox.example';
  await page.getByRole('link', { name: 'Hosts' }).click();
  await page.getByRole('row', { name: HOST }).waitFor();
  await button('Add a host').first().click();
  await field('Host name').fill(host);
  await button('Add').click();
  await button('DNS record').click();
  await page.getByText('TXT', { exact: true }).waitFor();
  await expectAccessible();
  const [, name, value] = await page.locator('.publish code').allTextContents();
  await button('Check now').click();
  await page.getByText('The record is not seen yet.').waitFor();
  await server.getByLabel('Name').fill(name ?? '');
  await server.getByLabel('Value').fill(value ?? '');
  await press('Set it', 'Set.');
  await button('Check now').click();
  await page.getByText(`${host} is proven`).waitFor();
  await button(`Remove ${host}`).click();
  await page.getByText('For 72 hours only a DNS record proves it again').waitFor();
  await button('Remove the host').click();
  await page.getByRole('row', { name: host }).waitFor({ state: 'detached' });
  await button('Add a host').first().click();
  await field('Host name').fill(host);
  await button('Add').click();
  await page.getByText('_svc-challenge').waitFor();
  expect([visitor.mishaps, visitor.strangers]).toEqual([[], []]);
});

test('a host is proven by a line in the head of its front page', async () => {
  const host = 'third.sandbox.example';
  const front = (head: string) =>
    fetch(`${web.controlUrl}/pages`, {
      method: 'POST',
      body: JSON.stringify({
        host,
        path: '/',
        body: `<html><head>${head}</head><body>Hello</body></html>`,
        headers: { 'content-type': 'text/html' },
      }),
    });
  await front('<title>Third</title>');
  await page.getByRole('link', { name: 'Hosts' }).click();
  await button('Add a host').first().click();
  await field('Host name').fill(host);
  await button('Add').click();
  await button('Meta tag').click();
  await page.getByText('Put this line into the head').waitFor();
  await button('Check now').click();
  await page.getByText('The front page has no such tag yet.').waitFor();
  await expectAccessible();
  const [line = '', url] = await page.locator('.publish code').allTextContents();
  expect([line, url]).toEqual([expect.stringMatching(/^<meta name="[\w-]+" content="[\w-]+" ?\/?>$/), `https://${host}/`]);
  await front(line);
  await button('Check now').click();
  await page.getByText(`${host} is proven`).waitFor();
  expect([visitor.mishaps, visitor.strangers]).toEqual([[], []]);
});

const ask = (token: string) => fetch(`${service.baseUrl}/_svc/tenants/self`, { headers: { authorization: `Bearer ${token}` } });
