import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import type { Visitor } from '../support/browser.ts';
import { audited, closeBrowser, openVisitor, settled } from '../support/browser.ts';
import { sellLicence } from '../support/buyers.ts';
import { startTestConsole } from '../support/console.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { runPass } from '../support/webhook-pass.ts';

/** What an owner changes in the console is what the API does: one service, one browser, each screen driven. */

let world: Awaited<ReturnType<typeof startTestConsole>>;
let site: Awaited<ReturnType<typeof world.api.site>>;
let receiver: Receiver;
let outbound: ReturnType<typeof createOutbound>;
let visitor: Visitor;
const HOSTILE = '<img src=x onerror="window.hit=1">';

beforeAll(async () => {
  world = await startTestConsole();
  site = await world.api.site();
  receiver = await startReceiver();
  outbound = createOutbound({ allowLoopback: true });
  const pages = [{ slug: 'solo', path: '/articles/solo', title: HOSTILE }];
  await importPages(world.api.deps, { tenantId: site.tenantId, pages });
  visitor = await openVisitor(world.url);
  await visitor.page.goto('/_svc/console/pages?view=prices');
  await visitor.page.getByLabel(/token/i).fill((await world.tokenOf(site.tenantId)).token);
  await visitor.page.keyboard.press('Enter');
  await settled(visitor.page);
});
afterAll(async () => {
  await closeBrowser();
  await outbound.close();
  await receiver.stop();
  await world.stop();
});

const goTo = async (path: string): Promise<void> => {
  await visitor.page.goto(`/_svc/console${path}`);
  await settled(visitor.page);
};
const press = (name: string | RegExp) => visitor.page.getByRole('button', { name }).first().click();
const dialog = (name: string | RegExp) => visitor.page.getByRole('dialog', { name });
const confirm = (name: string) => visitor.page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const says = (text: string | RegExp) => visitor.page.getByText(text).first().waitFor();
const quoted = async (): Promise<number> => (await world.api.request('/_svc/quote?slug=solo', { key: site.key })).body.price;

test('a price shows its effect, is refused at its field, is told of a change meanwhile, and is what quotes cost', async () => {
  const { page } = visitor;
  const price = page.getByLabel('A read costs (USD)');
  await price.fill('a lot');
  await press('Review change');
  await says('priceUsdc: must be a decimal like "0.05", at most 6 places');
  expect([await price.inputValue(), await price.getAttribute('aria-invalid')]).toEqual(['a lot', 'true']);
  await price.fill('0.01');
  await press('Review change');
  await dialog('Change the price').getByText('3 pages change from $0.001 to $0.010').waitFor();
  await says(/A price that a buyer saw before is accepted for 10 minutes more/);
  await says('Nobody paid or was turned away in the last 28 days.');
  expect(await audited(page)).toEqual([]);
  const actor = { userId: 'somebody', via: 'token' } as const;
  await changePricing(world.api.deps, { actor, tenantId: site.tenantId }, 'price.set', { priceUsdc: '0.002' });
  await confirm('Change the price');
  await says('Somebody changed this meanwhile');
  await confirm('Look again');
  await dialog('Change the price').getByText('3 pages change from $0.002 to $0.010').waitFor();
  await confirm('Change the price');
  await says('Saved. Quotes show it within two seconds.');
  await page.getByRole('row').filter({ hasText: '$0.01, a citation 5 ×$0.002, a citation 5 ×you' }).waitFor();
  await expect.poll(quoted).toBe(10_000);
});

test('authors of a page are shown as what each gets of a read, and hostile titles stay text', async () => {
  const { page } = visitor;
  await goTo('/pages');
  await says(HOSTILE);
  await press(`Authors of ${HOSTILE}`);
  await press('Add an author');
  await page.getByLabel('Author', { exact: true }).last().fill('zoe');
  await page.getByLabel('Wallet', { exact: true }).last().fill('0x123');
  await press('Review shares');
  await says(/a wallet is 0x and 40 hex digits/);
  await page
    .getByLabel('Wallet', { exact: true })
    .last()
    .fill(`0x${'1'.repeat(40)}`);
  await press('Review shares');
  await page
    .getByRole('dialog')
    .getByRole('row', { name: /zoe.*nothing.*50 %/ })
    .waitFor();
  await confirm('Save authors');
  await page.getByRole('row', { name: /zoe 50 %, ann 50 %/ }).waitFor();
  await press(`Make free: ${HOSTILE}`);
  await dialog(/Make/).getByText('1 page becomes free: named free (now $0.010)').waitFor();
  await confirm('Make it free');
  await page.getByRole('button', { name: `Sell ${HOSTILE}` }).waitFor();
  expect([await audited(page), await page.evaluate('window.hit')]).toEqual([[], undefined]);
});

test('the crawler policy names the agents it treats otherwise, and is set', async () => {
  const { page } = visitor;
  const seen = {
    resource: `https://${site.host}/articles/solo`,
    verdict: 'denied',
    classifiedAs: 'agent',
    agent: { ua: 'CCBot/2.0' },
  };
  expect((await world.api.post('/_svc/observe', site.key, seen)).status).toBe(202);
  await goTo('/pages?view=crawlers');
  await page.getByLabel('Block').fill('mozilla');
  await press('Review change');
  await dialog('Change the crawler policy').getByText('block mozilla').waitFor();
  await confirm('Save the policy');
  await says(/is part of a browser's User-Agent/);
  await page.getByLabel('Block').fill('ccbot');
  await press('Review change');
  await dialog('Change the crawler policy')
    .getByText('1 agent of the last seven days, with 1 request, is treated otherwise.')
    .waitFor();
  await page.getByRole('row', { name: /ccbot.*pays blocked/ }).waitFor();
  await confirm('Save the policy');
  await says(/Gates fetch it with the next price/);
  const config = await world.api.request(`/_svc/enforce-config?resource=https://${site.host}/articles/solo`, { key: site.key });
  expect(config.body.enforcement.crawlerPolicy.block).toEqual(['ccbot']);
  expect(await audited(page)).toEqual([]);
});

test('an agent is blocked by one press in the table of agents once its effect was seen, and charged again the same way', async () => {
  const { page } = visitor;
  const seen = {
    resource: `https://${site.host}/articles/solo`,
    verdict: 'denied',
    classifiedAs: 'agent',
    agent: { ua: 'ClaudeBot/1.0' },
  };
  expect((await world.api.post('/_svc/observe', site.key, seen)).status).toBe(202);
  await goTo('/agents');
  const group = page.getByRole('group', { name: 'What becomes of claudebot', exact: true });
  const pressed = () => group.locator('[aria-pressed="true"]').allTextContents();
  const lists = async () => {
    const config = await world.api.request(`/_svc/enforce-config?resource=https://${site.host}/articles/solo`, { key: site.key });
    return config.body.enforcement.crawlerPolicy;
  };
  const before = await lists();
  expect(await pressed()).toEqual(['Charge']);
  await group.getByRole('button', { name: 'Block' }).focus();
  await page.keyboard.press('Enter');
  const shown = dialog('Change: claudebot');
  await shown.getByRole('row', { name: /claudebot pays blocked/ }).waitFor();
  expect(await audited(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect([await pressed(), await lists()]).toEqual([['Charge'], before]);
  await group.getByRole('button', { name: 'Block' }).click();
  await shown.getByText('Every visitor whose User-Agent has “claudebot” in it is turned away.').waitFor();
  await confirm('Save');
  await says(/Gates fetch it with the next price/);
  await expect.poll(pressed).toEqual(['Block']);
  expect(await lists()).toEqual({ ...before, block: [...before.block, 'claudebot'] });
  await group.getByRole('button', { name: 'Charge' }).click();
  await shown.getByRole('row', { name: /claudebot blocked pays/ }).waitFor();
  await confirm('Save');
  await expect.poll(pressed).toEqual(['Charge']);
  expect(await lists()).toEqual(before);
});

test('a class of visitors is changed by one press, by keyboard and on a phone, after its effect was seen', async () => {
  const { page } = visitor;
  const seen = { resource: `https://${site.host}/articles/solo`, verdict: 'served-free', classifiedAs: 'agent' };
  expect((await world.api.post('/_svc/observe', site.key, { ...seen, agent: { ua: 'Twitterbot/1.0' } })).status).toBe(202);
  await page.setViewportSize({ width: 390, height: 844 });
  await goTo('/pages?view=crawlers');
  const group = page.getByRole('group', { name: 'Link previews', exact: true });
  const pressed = () => group.locator('[aria-pressed="true"]').allTextContents();
  expect(await pressed()).toEqual(['Read free']);
  await group.getByRole('button', { name: 'Pay', exact: true }).focus();
  await page.keyboard.press('Enter');
  const shown = dialog('Change: Link previews');
  await shown.getByText('Link previews pay; until now they read free.').waitFor();
  await shown.getByRole('row', { name: /twitterbot reads free pays/ }).waitFor();
  expect(await audited(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await pressed()).toEqual(['Read free']);
  await group.getByRole('button', { name: 'Pay', exact: true }).click();
  await shown.getByText('Link previews pay; until now they read free.').waitFor();
  await confirm('Save');
  await says(/Gates fetch it with the next price/);
  await expect.poll(pressed).toEqual(['Pay']);
  const config = await world.api.request(`/_svc/enforce-config?resource=https://${site.host}/articles/solo`, { key: site.key });
  expect(config.body.enforcement.visitorClasses).toMatchObject({ preview: 'charge', search: 'read', ai: 'charge' });
  expect([await audited(page), await page.evaluate('document.documentElement.scrollWidth <= 390')]).toEqual([[], true]);
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('an event is sent again from its details, and the new attempt is seen', async () => {
  const { page } = visitor;
  const { database } = world;
  const deps = { database, secretBox: world.api.secretBox, outbound };
  const { endpointId } = await createEndpoint(deps, site.tenantId, { url: receiver.url });
  receiver.answer((response) => {
    response.statusCode = 500;
    response.end('<b>down</b>');
  });
  await pingEndpoint({ database }, site.tenantId, endpointId);
  await runPass(deps);
  receiver.answer((response) => response.end('taken'));
  await goTo('/webhooks?view=deliveries');
  await press(/^Details of delivery/);
  await says('<b>down</b>');
  await press(/^Send again, delivery/);
  await says(/The same event goes to .* once more/);
  await confirm('Send it again');
  await says('It is on its way.');
  await runPass(deps);
  const [first, second] = receiver.received.map(({ body }) => JSON.parse(body));
  expect([second.eventId, second.id === first.id]).toEqual([first.eventId, false]);
  await goTo(`/webhooks/${endpointId}`);
  await page.getByRole('row', { name: /sent again \(1\).*Delivered/ }).waitFor();
  expect(await audited(page)).toEqual([]);
  await press('Make a new secret');
  await confirm('Make a new secret');
  const secret = await dialog('The signing secret').locator('code').textContent();
  expect(secret).toMatch(/^whsec_/);
  await page.reload();
  await settled(page);
  expect(await page.content()).not.toContain(secret);
});

test('an endpoint that fails is tried now, paused and resumed from its page', async () => {
  const { page } = visitor;
  const { database } = world;
  const deps = { database, secretBox: world.api.secretBox, outbound };
  const { endpointId } = await createEndpoint(deps, site.tenantId, { url: receiver.url });
  receiver.answer((response) => {
    response.statusCode = 500;
    response.end('<b>down</b>');
  });
  await pingEndpoint({ database }, site.tenantId, endpointId);
  await runPass(deps);
  const isDue = async () =>
    (
      await database.query<{ due: boolean }>('select due_at <= now() as due from delivery where endpoint_id = $1', [endpointId])
    )[0]?.due;
  await database.query("update delivery set due_at = now() + interval '5 hours' where endpoint_id = $1", [endpointId]);
  await goTo(`/webhooks/${endpointId}`);
  await press('Try now');
  await says('Each uses one of its eight attempts.');
  await confirm('Try now');
  await says('The attempts are being made: see the deliveries.');
  expect(await isDue()).toBe(true);
  await press('Pause');
  await says('They wait and use no attempt.');
  expect(await audited(page)).toEqual([]);
  await confirm('Pause it');
  await says('Paused until');
  expect(await page.getByRole('button', { name: 'Try now' }).count()).toBe(0);
  expect(await audited(page)).toEqual([]);
  await press('Resume');
  await confirm('Resume it');
  await page.getByText('Paused until').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
});

test('a revoked licence entitles to nothing from the next check on', async () => {
  const { api } = world;
  const { accountId, token } = await createBuyerAccount(api.deps);
  const { jti } = await sellLicence(api, accountId, {
    host: site.host,
    scope: ['/articles/trio'],
    terms: ['ai-input'],
    periodDays: 30,
    kind: 'read' as const,
  });
  const { license } = (await api.post(`/_svc/licenses/${jti}/access`, token, {})).body;
  const check = async (): Promise<unknown> =>
    (await api.post('/_svc/license/check', site.key, { license, resource: `https://${site.host}/articles/trio`, slug: 'trio' }))
      .body;
  expect(await check()).toMatchObject({ entitled: true });
  const use = { licence: license, resource: `https://${site.host}/articles/trio`, use: 'ai-input', count: 3 };
  expect((await api.post('/_svc/usage', token, { idempotencyId: 'answer-1', ...use })).status).toBe(202);
  await goTo('/licences');
  await visitor.page.getByText('AI answers 3', { exact: true }).waitFor();
  expect(await audited(visitor.page)).toEqual([]);
  const wide = visitor.page.viewportSize();
  await visitor.page.setViewportSize({ width: 1_000, height: 720 });
  const linesOfUse = await visitor.page
    .getByText('AI answers', { exact: true })
    .evaluate((words) => words.getClientRects().length);
  expect(linesOfUse, 'words of a use never break within a word').toBeLessThanOrEqual(2);
  if (wide) await visitor.page.setViewportSize(wide);
  await press(`Revoke the licence ${jti}`);
  await dialog('Revoke the licence').getByText(`The licence for 1 page of ${site.host} ends now`).waitFor();
  await confirm('Revoke it');
  await visitor.page.getByText('Revoked.', { exact: true }).waitFor();
  expect(await check()).toEqual({ entitled: false });
});

test('a rule is made in dollars, and the audit log has every change', async () => {
  const { page } = visitor;
  await goTo('/settings');
  await press('Add a rule');
  await page.getByLabel('Tell me when').selectOption('MISSED_MICRO');
  await page.getByLabel('Threshold (US dollars)').fill('2.5');
  await confirm('Review change');
  await says('You are told when: Missed earnings reach $2.50 within 24 hours, on every host.');
  await confirm('Add it');
  await page.getByRole('row', { name: /Missed earnings reach \$2\.50/ }).waitFor();
  await page.getByLabel('E-mail').fill('no address');
  expect(await audited(page)).toEqual([]);
  await goTo('/audit-log');
  for (const [what, change] of [
    ['Prices were set', /0\.002.*0\.01/],
    ['A licence was revoked', /./],
    ['A signing secret was rotated', /./],
    ['A rule was made', /missed_micro/],
  ] as const) {
    await page
      .getByRole('row')
      .filter({ hasText: new RegExp(`${what}.*${change.source}`) })
      .first()
      .waitFor();
  }
  await page.getByLabel('What happened').selectOption('price.set');
  await says('2 changes');
  expect(await audited(page)).toEqual([]);
});

test('an owner says for how long a page opens again to the wallet that paid, and is told what cannot be', async () => {
  const { page } = visitor;
  const hours = page.getByLabel('Hours from the payment');
  const panel = page.locator('section', { has: hours });
  const review = () => panel.getByRole('button', { name: 'Review change' }).click();
  const grantedHours = async () => {
    const [row] = await world.api.deps.database.query<{ hours: number | null }>(
      "select (pricing ->> 'readAgainHours')::integer as hours from tenant_pricing where tenant_id = $1 order by version desc limit 1",
      [site.tenantId],
    );
    return row?.hours;
  };
  await goTo('/settings');
  await hours.fill('a day');
  await review();
  await panel.getByText('This is a whole number of hours, or nothing.').waitFor();
  await hours.fill('8785');
  await review();
  await confirm('Save');
  await panel.getByText(/a whole number from 1 to 8,?784/).waitFor();
  await hours.fill('24');
  await review();
  await dialog('Change how long a page opens again').getByText('A page opens again for 24 hours from its payment').waitFor();
  await confirm('Save');
  await panel.getByText('Saved.').waitFor(); // what was typed stands in the field until then
  expect(await grantedHours()).toBe(24);
  await expect.poll(() => hours.inputValue()).toBe('24'); // as it is read again
  await hours.fill('');
  await review();
  await confirm('Save');
  await expect.poll(grantedHours).toBe(null);
  expect(await audited(page)).toEqual([]);
});

test('signing out everywhere ends the session here, and nothing went wrong or out on the way', async () => {
  await goTo('/settings');
  await press('Sign out everywhere');
  await confirm('Sign out everywhere');
  await visitor.page.getByLabel(/token/i).waitFor();
  expect([visitor.mishaps, visitor.strangers]).toEqual([[], []]);
});
