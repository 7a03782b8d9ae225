/** One button: an administrator, a real browser, the console, and everybody who would like to be connected in his place. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { checksumAddress } from '../../platform/chain/offer.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { WALLETS } from '../support/api.ts';
import { closeBrowser, openVisitor } from '../support/browser.ts';
import { CALM } from '../support/service.ts';
import type { Browser } from './support/browser.ts';
import { logIn } from './support/browser.ts';
import { ADMIN, HOST } from './support/wordpress.ts';
import type { World } from './support/world.ts';
import { startWorld } from './support/world.ts';

const SETTINGS = '/wp-admin/options-general.php?page=content-settlement';
const AGENT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)';
/** Where pictures go, for whoever wants to look at them. */
const PICTURES = process.env['WORDPRESS_PICTURES'];

let world: World;
let token: string;
let tokenId: string;
let page: Page;
let admin: Browser;

beforeAll(async () => {
  const more = { ...CALM, PUBLIC_BASE_URL: '', SELF_SIGN_UP: 'true', SELF_SIGN_UP_PLAN: 'studio', HOST_CHECK_GAP_MS: '0' };
  world = await startWorld({ isForPeople: true, more });
  const deps = { database: world.service.database, pepper: pepperOf(world.service.secrets) };
  ({ token, tokenId } = await createOwnerToken(deps, { tenantId: world.site.tenantId, userId: 'ada' }));
  await world.wordpress.php(`
    global $wp_rewrite;
    $wp_rewrite->set_permalink_structure( '/stories/%postname%/' );
    $wp_rewrite->flush_rules();
    $ann = wp_insert_user( array( 'user_login' => 'ann', 'user_pass' => 'ann has a password', 'display_name' => 'Ann', 'role' => 'author' ) );
    wp_insert_user( array( 'user_login' => 'sub', 'user_pass' => 'sub has a password', 'role' => 'subscriber' ) );
    wp_insert_user( array( 'user_login' => 'boss', 'user_pass' => 'boss has a password', 'role' => 'administrator' ) );
    update_user_meta( $ann, ContentSettlement\\Wallet::META, '${checksumAddress(WALLETS[0] as Address)}' );
    wp_insert_post( array( 'post_title' => 'One', 'post_name' => 'one', 'post_content' => 'The whole text of one.', 'post_status' => 'publish', 'post_author' => $ann ) );
  `);
  admin = await logIn(world.wordpress, ADMIN.user, ADMIN.password);
  page = (await openVisitor(world.wordpress.url, { viewport: { width: 1200, height: 1000 } })).page;
});
afterAll(async () => {
  await closeBrowser();
  await world?.stop();
});

let taken = 0;
async function picture(name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${++taken}-${name}.png`), fullPage: true });
}

const option = (name: string): Promise<unknown> =>
  world.wordpress.php(`wp_cache_flush(); echo wp_json_encode( get_option( 'content_settlement_${name}' ) );`);
const console_ = (): string => `${world.service.baseUrl}/_svc/console`;
const button = (name: string) => page.getByRole('button', { name, exact: true });

/** Presses Connect as the administrator without a browser: where it leads. */
async function begin(browser: Browser, address = world.service.baseUrl): Promise<URLSearchParams> {
  const html = await browser.read(SETTINGS);
  const nonce = /content_settlement_begin"><input[^>]*name="_wpnonce" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const body = new URLSearchParams({ action: 'content_settlement_begin', _wpnonce: nonce, service_url: address });
  const answer = await browser.request(SETTINGS, { method: 'POST', body });
  expect(answer.status).toBe(303);
  return new URL(answer.headers.get('location') ?? '').searchParams;
}

/** The site that has the host. */
async function siteOfHost(): Promise<string> {
  const [row] = await world.service.database.query<{ id: string }>('select tenant_id as id from tenant_host where host = $1', [
    HOST,
  ]);
  return row?.id ?? '';
}

/** An owner says yes in the console: the parameters that the browser is led back with. */
async function sayYes(asked: URLSearchParams): Promise<URLSearchParams> {
  const tenantId = await siteOfHost();
  const call = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${console_()}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: world.service.baseUrl, 'sec-fetch-site': 'same-origin', ...headers },
      body: JSON.stringify(body),
    });
  const signedIn = await call('/session', { token });
  const { csrf } = (await signedIn.json()) as { csrf: string };
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const body = {
    tenantId,
    host: asked.get('host'),
    redirectUri: asked.get('redirect_uri'),
    creditsUrl: asked.get('credits_url'),
    state: asked.get('state'),
    codeChallenge: asked.get('code_challenge'),
    codeChallengeMethod: asked.get('code_challenge_method'),
  };
  const answer = await call('/connect/authorize', body, { cookie, 'x-csrf-token': csrf });
  expect(answer.status).toBe(200);
  return new URL(((await answer.json()) as { redirectTo: string }).redirectTo).searchParams;
}

const comeBack = (browser: Browser, said: URLSearchParams) => browser.read(`/wp-admin/options-general.php?${said}`);

test('before it is connected the page says so, and nothing is ticked', async () => {
  const html = await admin.read(SETTINGS);
  expect(html).toContain('Not selling yet.');
  expect(html).not.toContain('cs-mark done');
  expect(html).not.toContain('notice-error');
});

test('press Connect, sign in, choose the site, say yes twice: connected, proven, and the first agent is asked to pay', async () => {
  await page.goto('/wp-login.php');
  await page.getByLabel('Username or Email Address').fill(ADMIN.user);
  await page.locator('#user_pass').fill(ADMIN.password);
  await page.getByRole('button', { name: 'Log In' }).click();
  await page.waitForURL(/wp-admin/);
  await page.goto(SETTINGS);
  await picture('settings-before');
  await page.locator('#cs-service').fill(world.service.baseUrl);
  await button('Connect').click();
  await page.getByLabel('Owner token').waitFor();
  await picture('console-sign-in');
  await page.getByLabel('Owner token').fill(token);
  await button('Sign in with the token').click();
  await page.getByRole('heading', { name: `Connect ${HOST}`, exact: true }).waitFor(); // the request has survived the sign-in
  await picture('console-new-site');
  await page.getByLabel('Site', { exact: true }).last().selectOption(world.site.tenantId);
  await page.getByText('This site sells home.sandbox.example until now').waitFor();
  await picture('console-other-site');
  await page.getByLabel('Site', { exact: true }).last().selectOption('new');
  await page.getByLabel('USD for one read').fill('0.004');
  await button(`Connect ${HOST}`).click();
  await page.getByRole('heading', { name: 'Is this your account?' }).waitFor();
  expect(page.url()).not.toMatch(/code=|state=/);
  expect(await page.locator('.cs-confirm').textContent()).toContain('ada');
  expect(await option('api_key')).toBe(false);
  await picture('settings-confirm');
  await button('Yes, connect').click();
  await page.getByText(`Connected, and ${HOST} is proven to be yours.`).waitFor();
  await picture('settings-connected');
  expect(await page.locator('.cs-mark.done').count()).toBe(4);
  expect(await page.locator('.cs-summary').textContent()).toContain('On.');
  expect(await page.locator('.notice-error').count()).toBe(0);
  expect(await option('proof_key')).toBe(false); // the host is proven: what may prove it is not kept
  const agent = await fetch(`${world.wordpress.url}/stories/one/`, { headers: { 'user-agent': AGENT } });
  expect([agent.status, agent.headers.get('crawler-price')]).toEqual([402, 'USD 0.004']);
});

test('no page of the admin shows a key, a code or the token of the credits API', async () => {
  const html = await admin.read(SETTINGS);
  expect(html).not.toMatch(/svc_live_[A-Za-z0-9]{20}|wpc_[0-9a-f]{48}/);
  expect(await option('credits_token')).toMatch(/^[0-9a-f]{64}$/); // its hash
});

test('nobody connects who may not manage options, and no button works without its nonce', async () => {
  const body = (action: string) =>
    new URLSearchParams({ action: `content_settlement_${action}`, service_url: 'https://evil.example' });
  for (const name of ['ann', 'sub']) {
    const other = await logIn(world.wordpress, name, `${name} has a password`);
    for (const action of ['begin', 'finish', 'disconnect'])
      expect([name, action, (await other.request(SETTINGS, { method: 'POST', body: body(action) })).status]).toEqual([
        name,
        action,
        403,
      ]);
    expect((await other.request(`${SETTINGS}&code=a&state=b&iss=c`)).status).toBe(403);
  }
  for (const action of ['begin', 'finish', 'cancel', 'disconnect'])
    expect([action, (await admin.request(SETTINGS, { method: 'POST', body: body(action) })).status]).toEqual([action, 403]);
});

test('an attacker’s code, in the victim’s browser, connects nothing: its state is not the victim’s, nor is its verifier', async () => {
  const before = await option('api_key');
  const attacker = await logIn(world.wordpress, 'boss', 'boss has a password');
  const code = await sayYes(await begin(attacker)); // whoever began it, it is the account of somebody else
  expect(await comeBack(admin, code)).toContain('Nobody began this here');
  const own = await begin(admin);
  expect(await comeBack(admin, code)).toContain('Nobody began this here'); // with an attempt of the victim's own on its way
  const mixed = new URLSearchParams(code);
  mixed.set('state', own.get('state') ?? '');
  expect(await comeBack(admin, mixed)).toContain('did not accept the answer'); // the state is right, the verifier is another one
  expect(await comeBack(admin, mixed)).toContain('Nobody began this here'); // once
  expect(await option('api_key')).toEqual(before);
});

test('the answer of another service than the one that was asked goes to nobody', async () => {
  const asked = await begin(admin, world.line.url); // stands for a service that leads the browser on to an honest one
  const said = await sayYes(asked);
  const calls = world.line.asked.length;
  expect(await comeBack(admin, said)).toContain('Another service answered');
  expect(world.line.asked.slice(calls).filter((path) => path.includes('connect'))).toEqual([]);
});

test('another administrator, and the same one in another session, cannot say yes to what they did not begin', async () => {
  const said = await sayYes(await begin(admin));
  const html = await comeBack(admin, said);
  expect(html).toContain('Is this your account?');
  const elsewhere = await logIn(world.wordpress, ADMIN.user, ADMIN.password);
  const boss = await logIn(world.wordpress, 'boss', 'boss has a password');
  for (const one of [elsewhere, boss]) expect(await one.read(SETTINGS)).not.toContain('Is this your account?');
});

test('who says no, or takes back his credential before the yes, changes nothing', async () => {
  const before = await option('api_key');
  expect(await admin.submit(SETTINGS, 'content_settlement_cancel', {})).toContain('Not connected. Nothing was saved.');
  expect(await comeBack(admin, await sayYes(await begin(admin)))).toContain('Is this your account?');
  await world.service.database.query('update owner_token set revoked_at = now() where token_id = $1', [tokenId]);
  expect(await admin.submit(SETTINGS, 'content_settlement_finish', {})).toContain('did not finish the connection');
  expect(await option('api_key')).toEqual(before);
});

test('each state is said as it is: the service away, the key revoked, disconnected', async () => {
  const { database } = world.service;
  await world.wordpress.php(
    `$settings = get_option( 'content_settlement_settings' ); $settings['service_url'] = ${JSON.stringify(world.line.url)}; update_option( 'content_settlement_settings', $settings );`,
  );
  world.line.mood = 'dead';
  const away = await admin.read(SETTINGS);
  world.line.mood = 'well';
  expect(away).toContain('does not answer now');
  expect(away).not.toContain('cs-mark done');
  await database.query('update api_key set revoked_at = now() where tenant_id = $1', [await siteOfHost()]);
  await expect.poll(() => admin.read(SETTINGS)).toContain('refuses this site’s key');
  const refused = await admin.read(SETTINGS);
  expect([refused.includes('notice-error'), refused.includes('cs-mark done')]).toEqual([true, false]);
  await page.goto(SETTINGS);
  await picture('settings-refused');
  expect(await admin.submit(SETTINGS, 'content_settlement_disconnect', {})).toContain('Disconnected: agents read free.');
  expect([await option('api_key'), await option('site'), await option('credits_token')]).toEqual(['', false, false]);
  const agent = await fetch(`${world.wordpress.url}/stories/one/`, { headers: { 'user-agent': AGENT } });
  expect(agent.status).toBe(200);
  await page.goto(SETTINGS);
  await picture('settings-disconnected');
});
