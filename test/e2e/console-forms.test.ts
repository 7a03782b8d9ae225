import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { sendAlertMails } from '../../modules/mail/use/sendDue.ts';
import { readReceiptsPublic, setReceiptsPublic } from '../../modules/receipts/use/shown.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { presetNetwork } from '../../platform/chain/presets.ts';
import { createMailer } from '../../platform/mail.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import type { Visitor } from '../support/browser.ts';
import { audited, closeBrowser, openVisitor, settled } from '../support/browser.ts';
import { sellLicence } from '../support/buyers.ts';
import { startTestConsole } from '../support/console.ts';
import type { MailSink } from '../support/mail-sink.ts';
import { startMailSink } from '../support/mail-sink.ts';
import { runPass } from '../support/webhook-pass.ts';

/** Forms of the console that an owner fills in now and then: each is refused where it is wrong, shows its effect, and does what it said. */

const POLYGON = 'eip155:137';
let world: Awaited<ReturnType<typeof startTestConsole>>;
let site: Awaited<ReturnType<typeof world.api.site>>;
let outbound: Outbound;
let sink: MailSink;
let visitor: Visitor;

beforeAll(async () => {
  const router = `0x${'5b'.repeat(20)}` as const;
  world = await startTestConsole({ moreNetworks: [presetNetwork(POLYGON, { rpcUrls: ['http://127.0.0.1:1'], router })] });
  site = await world.api.site();
  outbound = createOutbound({ allowLoopback: true });
  sink = await startMailSink();
  visitor = await openVisitor(world.url);
  await visitor.page.goto('/_svc/console/webhooks');
  await visitor.page.getByLabel(/token/i).fill((await world.tokenOf(site.tenantId)).token);
  await visitor.page.keyboard.press('Enter');
  await settled(visitor.page);
});
afterAll(async () => {
  await closeBrowser();
  await sink?.stop();
  await outbound?.close();
  await world?.stop();
});

const goTo = async (path: string): Promise<void> => {
  await visitor.page.goto(`/_svc/console${path}`);
  await settled(visitor.page);
};
const button = (name: string) => visitor.page.getByRole('button', { name, exact: true });
const dialog = (name: string | RegExp) => visitor.page.getByRole('dialog', { name });
const field = (name: string) => visitor.page.getByLabel(name, { exact: true });
const says = (text: string | RegExp) => visitor.page.getByText(text).first().waitFor();
/** A part of a screen that stands under a title. */
const panel = (title: string) =>
  visitor.page.locator('section').filter({ has: visitor.page.getByRole('heading', { name: title, exact: true }) });
const reviewIn = (title: string) => panel(title).getByRole('button', { name: 'Review change' }).click();
const expectAccessible = async (): Promise<void> => expect(await audited(visitor.page)).toEqual([]);

test('a new endpoint shows the line a chat gets, which is the line that is sent there', async () => {
  const { page } = visitor;
  const sent: string[] = [];
  /** The client of chats, which are not on this machine: it keeps what would leave. */
  const chatOutbound: Outbound = {
    ...outbound,
    send: async ({ body }) => {
      sent.push(Buffer.from(body ?? '').toString());
      return { ok: true, status: 200, headers: {}, body: new Uint8Array(), durationMs: 1 };
    },
  };
  const fill = async (url: string): Promise<void> => {
    await field('Where to').selectOption('SLACK');
    await field('URL').fill(url);
  };
  await button('Add an endpoint').first().click();
  await fill('https://example.com/services/sales');
  await says('Slack shows one line an event. There was no event yet to show one of.');
  await button('Review change').click();
  await button('Add it').click();
  await says('a slack URL must be one that slack issued');
  await expectAccessible();
  await fill('https://hooks.slack.com/services/T0/B0/sales');
  await field('Anomaly detected').uncheck();
  await field('Note for yourself').fill('<b>for the team</b>');
  await button('Review change').click();
  await dialog('Add an endpoint')
    .last()
    .getByText('https://hooks.slack.com/services/T0/B0/sales receives: Settlement completed, on every host.')
    .waitFor();
  await dialog('Add an endpoint').last().getByText('Each message is one line.').waitFor();
  await button('Add it').click();
  await page
    .getByRole('row', { name: /https:\/\/hooks\.slack\.com.*<b>for the team<\/b>.*Slack.*Settlement completed.*Enabled/ })
    .waitFor();

  const [endpoint] = await world.database.query<{ endpoint_id: string; event_types: string[] }>(
    'select endpoint_id, event_types from webhook_endpoint where tenant_id = $1',
    [site.tenantId],
  );
  expect(endpoint?.event_types).toEqual(['settlement.completed']);
  await pingEndpoint(world, site.tenantId, endpoint?.endpoint_id ?? '');
  await runPass({ database: world.database, secretBox: world.api.secretBox, outbound, chatOutbound });
  await goTo('/webhooks');
  await button('Add an endpoint').first().click();
  await field('Where to').selectOption('SLACK');
  const line = await page.locator('.chat-line p').first().textContent();
  expect(JSON.parse(sent[0] ?? '{}').text).toBe(line);
  await expectAccessible();

  await field('Where to').selectOption('RAW');
  expect(await page.locator('.chat-line').count()).toBe(0);
  await field('URL').fill('https://hooks.publisher.example/sales');
  await field('Only of these hosts').fill(site.host);
  await button('Review change').click();
  await says(`https://hooks.publisher.example/sales receives: Settlement completed and Anomaly detected on ${site.host}.`);
  await button('Add it').click();
  expect(await dialog('The signing secret').locator('code').textContent()).toMatch(/^whsec_/);
  await expectAccessible();
});

test('an address for alerts gets a code, and alerts go there once it was entered', async () => {
  const { page } = visitor;
  const mailer = createMailer({ url: sink.url, from: 'alerts@service.example' });
  await goTo('/settings');
  await field('E-mail').fill('no address');
  await reviewIn('Alerts by e-mail');
  await button('Send the code').click();
  await panel('Alerts by e-mail').locator('.error').waitFor();
  await field('E-mail').fill('ann@alpha.example');
  await reviewIn('Alerts by e-mail');
  await dialog('Change where alerts go').getByText('ann@alpha.example gets a code, good for 24 hours.').waitFor();
  await button('Send the code').click();
  await panel('Alerts by e-mail').getByText('Waits for its code').waitFor();
  await expectAccessible();
  await field('Code').fill('a guess');
  await button('Confirm the address').click();
  await panel('Alerts by e-mail').locator('.field .error').waitFor();
  const { secretBox } = world.api;
  expect(await sendAlertMails({ database: world.database, mailer, secretBox, warn: () => undefined })).toBe(1);
  mailer.close();
  const code = /^\w+\.[\w-]{22}$/m.exec(sink.mails[0] ?? '')?.[0] ?? '';
  await field('Code').fill(code);
  await button('Confirm the address').click();
  await panel('Alerts by e-mail').getByText('Confirmed', { exact: true }).waitFor();
  await page.reload();
  await settled(page);
  expect(await field('E-mail').inputValue()).toBe('ann@alpha.example');
});

test('licences are offered for training and by periods, and a line that is no period is told', async () => {
  const { page } = visitor;
  await goTo('/licences?view=offering');
  const training = page.getByLabel('Sell for training');
  await training.check();
  await field('Periods').fill('30: 1\na year: 6');
  await button('Review change').click();
  await says('This line is no period: a year: 6');
  await field('Periods').fill('30: 1\n365: 6');
  await button('Review change').click();
  const effect = dialog('Change what is offered');
  await effect.getByText('is sold then; it is not now').waitFor();
  await effect.getByText('up to 365 days, and beyond: 6 × the price a page').waitFor();
  await expectAccessible();
  await effect.getByRole('button', { name: 'Save' }).click();
  await says('Saved. New offers go by it.');
  await page.reload();
  await settled(page);
  expect([await training.isChecked(), await field('Periods').inputValue()]).toEqual([true, '30: 1\n365: 6']);
});

test('payments are taken on the chains that are ticked, on one at least', async () => {
  const taken = async () => {
    const query = `{ tenant(tenantId: "${site.tenantId}") { networks { taken } } }`;
    const browser = world.browser();
    await browser.signIn((await world.tokenOf(site.tenantId)).token);
    return (await browser.ask(query)).body.data.tenant.networks.taken;
  };
  await goTo('/settings');
  const [base, polygon] = [panel('Networks').getByLabel(/^Base Sepolia/), panel('Networks').getByLabel(/^Polygon/)];
  expect([await base.isChecked(), await polygon.isChecked()]).toEqual([true, false]);
  await base.uncheck();
  await reviewIn('Networks');
  await dialog('Change the networks').getByText('Payments on Base Sepolia (test money) are refused at once').waitFor();
  await dialog('Change the networks').getByRole('button', { name: 'Save' }).click();
  await panel('Networks').getByText('networks: name one or more of').waitFor();
  await expectAccessible();
  await base.check();
  await polygon.check();
  await reviewIn('Networks');
  await dialog('Change the networks').getByText('Payments on Polygon are taken.').waitFor();
  await dialog('Change the networks').getByRole('button', { name: 'Save' }).click();
  await panel('Networks').getByText('Saved.').waitFor();
  expect(await taken()).toEqual(['eip155:84532', POLYGON]);
});

test('records of payments are shown to anyone, or to nobody', async () => {
  const isPublic = () => readReceiptsPublic({ reading: world.database }, site.tenantId);
  await goTo('/settings');
  const box = panel('Receipts').getByLabel(/^Show records of payments/);
  const before = await isPublic();
  expect(await box.isChecked()).toBe(before);
  for (const shown of [!before, before === true]) {
    await box.setChecked(shown);
    await reviewIn('Receipts');
    await dialog('Change who sees records of payments')
      .getByText(
        shown ? 'Anyone who has the address of a record can read it' : 'Addresses of records answer “not found” within a minute',
      )
      .waitFor();
    await dialog('Change who sees records of payments').getByRole('button', { name: 'Save' }).click();
    await panel('Receipts').getByText('Saved.').waitFor();
    expect(await isPublic()).toBe(shown);
    await expect.poll(() => box.isChecked()).toBe(shown); // as it is read again
  }
  await expectAccessible();
});

test('receipts and the address for alerts are not set by what somebody changed meanwhile', async () => {
  const actor = { userId: 'somebody', via: 'token' } as const;
  await goTo('/settings');
  const box = panel('Receipts').getByLabel(/^Show records of payments/);
  await box.setChecked(!(await box.isChecked()));
  const wanted = await box.isChecked();
  await reviewIn('Receipts');
  await dialog('Change who sees records of payments').waitFor();
  await setReceiptsPublic(world, { actor, tenantId: site.tenantId }, !wanted);
  await dialog('Change who sees records of payments').getByRole('button', { name: 'Save' }).click();
  await says('Somebody changed this meanwhile');
  expect(await readReceiptsPublic({ reading: world.database }, site.tenantId)).toBe(!wanted);
  await button('Look again').click();
  await dialog('Change who sees records of payments').getByRole('button', { name: 'Save' }).click();
  await panel('Receipts').getByText('Saved.').waitFor();

  await field('E-mail').fill('');
  await reviewIn('Alerts by e-mail');
  await dialog('Change where alerts go').waitFor();
  await setReceiptsPublic(world, { actor, tenantId: site.tenantId }, wanted);
  await button('Stop e-mails').click();
  await says('Somebody changed this meanwhile');
  await button('Look again').click();
  await button('Stop e-mails').click();
  await panel('Alerts by e-mail').getByText('Saved.').waitFor();
});

test('pages are imported a line each; a line that names none is told, and hostile titles stay text', async () => {
  const { page } = visitor;
  const title = '<img src=x onerror="window.hit=1">';
  await goTo('/pages');
  await button('Import pages').first().click();
  await dialog('Import pages').getByLabel('Pages').fill('/articles/first, The first\nno page at all');
  await dialog('Import pages').getByRole('button', { name: 'Review', exact: true }).click();
  await says('These lines name no page: no page at all');
  await dialog('Import pages')
    .getByLabel('Pages')
    .fill(`/articles/first, The first\nhttps://${site.host}/articles/second, ${title}`);
  await dialog('Import pages').getByRole('button', { name: 'Review', exact: true }).click();
  await says(/^2 pages are in the catalogue then:/);
  await expectAccessible();
  await button('Import').click();
  await page.getByRole('row', { name: /The first.*\/articles\/first/ }).waitFor();
  await page.getByText(title).waitFor();
  const rows = await world.database.query('select slug, path, title from imported_page where tenant_id = $1 order by path', [
    site.tenantId,
  ]);
  expect(rows).toEqual([
    { slug: 'first', path: '/articles/first', title: 'The first' },
    { slug: 'second', path: '/articles/second', title },
  ]);
  expect(await page.evaluate('window.hit')).toBe(undefined);
});

test('one token is denied by its jti, and others of the same licence go on', async () => {
  const { api } = world;
  const { accountId, token } = await createBuyerAccount(api.deps);
  const { jti } = await sellLicence(api, accountId, {
    host: site.host,
    scope: ['/articles/trio'],
    terms: ['ai-input'],
    periodDays: 30,
    kind: 'read' as const,
  });
  const mint = async (): Promise<string> => (await api.post(`/_svc/licenses/${jti}/access`, token, {})).body.license;
  const check = async (license: string): Promise<boolean> =>
    (await api.post('/_svc/license/check', site.key, { license, resource: `https://${site.host}/articles/trio`, slug: 'trio' }))
      .body.entitled;
  const [denied, other] = [await mint(), await mint()];
  const idOf = (license: string) => JSON.parse(Buffer.from(license.split('.')[1] ?? '', 'base64url').toString()).jti as string;
  expect([await check(denied), await check(other), idOf(denied) === idOf(other)]).toEqual([true, true, false]);
  await goTo('/licences');
  await panel('Deny one token').getByRole('button', { name: 'Review change' }).click();
  await says('Write the jti of a token.');
  await field('jti').fill(idOf(denied));
  await panel('Deny one token').getByRole('button', { name: 'Review change' }).click();
  await dialog('Deny a token')
    .getByText(`The token ${idOf(denied)} is refused from the next check on`)
    .waitFor();
  await expectAccessible();
  await button('Deny it').click();
  await panel('Deny one token').getByText('Denied.').waitFor();
  expect([await check(denied), await check(other)]).toEqual([false, true]);
});

test('in all of this nothing else was asked for anything, and no page threw or was refused by its policy', () => {
  expect([visitor.mishaps, visitor.strangers]).toEqual([[], []]);
});
