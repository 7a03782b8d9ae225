import { afterAll, beforeAll, expect, test } from 'vitest';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import type { Visitor } from '../support/browser.ts';
import { audited, closeBrowser, openVisitor, settled } from '../support/browser.ts';
import { startTestConsole } from '../support/console.ts';
import type { Seen } from '../support/reports.ts';
import { insertSeen } from '../support/reports.ts';

/** Price rules in the console: each change is tried on what was observed before it is made, and is what the service then says. */

let world: Awaited<ReturnType<typeof startTestConsole>>;
let site: Awaited<ReturnType<typeof world.api.site>>;
let visitor: Visitor;
const HOSTILE = '/articles/<img src=x onerror="window.hit=1">';

beforeAll(async () => {
  world = await startTestConsole();
  site = await world.api.site();
  const one: Omit<Seen, 'verdict' | 'slug' | 'agent' | 'atMs'> = {
    tenantId: site.tenantId,
    host: site.host,
    classifiedAs: 'agent',
    kind: 'read',
    reason: null,
    count: 1,
    paymentId: null,
    agentUa: null,
    classifyReason: 'crawler_list',
    verified: null,
    verifiedAgent: null,
    sigInvalid: null,
    micro: 1_000,
  };
  const rows = [
    { verdict: 'paid', slug: 'solo', agent: 'gptbot', times: 3 },
    { verdict: 'denied', slug: 'solo', agent: 'claudebot', times: 2 },
    { verdict: 'paid', slug: 'trio', agent: 'gptbot', times: 1 },
  ] as const;
  const atMs = Date.now() - 86_400_000;
  const seen = rows.flatMap(({ times, ...row }) => Array.from({ length: times }, (_, n) => ({ ...one, ...row, atMs: atMs + n })));
  await world.database.transaction((sql) => insertSeen(sql, seen));
  visitor = await openVisitor(world.url);
  await visitor.page.goto('/_svc/console/pages?view=rules');
  await visitor.page.getByLabel(/token/i).fill((await world.tokenOf(site.tenantId)).token);
  await visitor.page.keyboard.press('Enter');
  await settled(visitor.page);
});
afterAll(async () => {
  await closeBrowser();
  await world?.stop();
});

const press = (name: string | RegExp) => visitor.page.getByRole('button', { name }).first().click();
const says = (text: string | RegExp) => visitor.page.getByText(text).first().waitFor();
/** The dialog on top: with the effect, and the button that makes the change. */
const shown = () => visitor.page.getByRole('dialog').last();
const confirm = (name: string) => shown().getByRole('button', { name, exact: true }).click();
const field = (name: string) => visitor.page.getByRole('dialog').first().getByLabel(name, { exact: true });
const quoted = async (): Promise<number> => (await world.api.request('/_svc/quote?slug=solo', { key: site.key })).body.price;
const rulesOf = async (): Promise<unknown> => {
  const [row] = await world.database.query<{ rules: unknown }>(
    "select pricing -> 'rules' as rules from tenant_pricing where tenant_id = $1 and valid_until is null",
    [site.tenantId],
  );
  return row?.rules;
};

test('a rule is refused at its field, shows what it would have made of 28 days, and is set as it was shown', async () => {
  const { page } = visitor;
  await says('Every agent pays $0.001 for a read, and 5 times as much for a citation.');
  expect(await audited(page)).toEqual([]);
  await press('Add a rule');
  await field('Name').fill('solo');
  await field('Path').fill('articles/solo');
  await field('Price (USD)').fill('0,05');
  await press('See what it would do');
  await says('rules.0.path does not begin with a slash');
  expect([await field('Path').inputValue(), await field('Path').getAttribute('aria-invalid')]).toEqual(['articles/solo', 'true']);
  expect(await field('Path').evaluate((box) => box === document.activeElement)).toBe(true);
  expect(await audited(page)).toEqual([]);
  await field('Path').fill('/articles/solo$');
  await press('See what it would do');
  await shown().getByText('/articles/solo$: Every agent, $0.05.').waitFor();
  await shown().getByRole('row', { name: 'Earned 0.004000 USDC 4 requests 0.151000 USDC 4 requests' }).waitFor();
  await shown().getByRole('row', { name: 'Missed: not paid 0.002000 USDC 2 requests 0.100000 USDC 2 requests' }).waitFor();
  await shown().getByRole('row', { name: '/articles/solo 0.003000 USDC 0.150000 USDC' }).waitFor();
  await shown().getByRole('row', { name: 'gptbot 0.004000 USDC 0.151000 USDC' }).waitFor();
  await says(/Who paid then pays the new price, who did not pay is missed/);
  expect(await audited(page)).toEqual([]);
  const actor = { userId: 'somebody', via: 'token' } as const;
  await changePricing(world.api.deps, { actor, tenantId: site.tenantId }, 'price.set', { priceUsdc: '0.002' });
  await confirm('Add it');
  await says('Somebody changed this meanwhile');
  await confirm('Look again');
  await shown().getByRole('row', { name: 'Earned 0.004000 USDC 4 requests 0.152000 USDC 4 requests' }).waitFor();
  await confirm('Add it');
  await page.getByRole('row', { name: /\/articles\/solo\$ Every agent · solo always \$0\.05/ }).waitFor();
  expect(await rulesOf()).toMatchObject([{ id: 'solo', path: '/articles/solo$', effect: { price: '0.05' } }]);
  await expect.poll(quoted).toBe(50_000);
});

test('rules stand in the order in which they are looked at, whatever they were made in, and hostile paths stay text', async () => {
  const { page } = visitor;
  await press('Add a rule');
  await field('Name').fill('training');
  await field('Then').selectOption('REFUSE');
  await field('Training').check();
  await press('See what it would do');
  await shown().getByText('Every article: Agents for training, refused.').waitFor();
  await shown().getByRole('row', { name: 'Refused 0 1' }).waitFor();
  await confirm('Add it');
  await page.getByRole('row', { name: /Agents for training/ }).waitFor();
  await press('Add a rule');
  await field('Name').fill('hostile');
  await field('Path').fill(HOSTILE);
  await field('Then').selectOption('FREE');
  await field('From').fill('2999-12-31');
  await press('See what it would do');
  await says('It would have decided none of the requests of the last 28 days.');
  await says(/By the rules in force on 31 Dec 2999\./);
  await confirm('Add it');
  await page.getByRole('row', { name: /to come/ }).waitFor();
  const names = await page.getByRole('table', { name: 'Price rules' }).getByRole('rowheader').locator('small').allTextContents();
  expect(names).toEqual(['Every agent · hostile', 'Every agent · solo', 'Agents for training · training']);
  expect([await audited(page), await page.evaluate('window.hit')]).toEqual([[], undefined]);
});

test('a rule that another one hides is told so, and a rule is removed with what that would do', async () => {
  const { page } = visitor;
  await press(/^Change: Every article/);
  expect([await field('Name').inputValue(), await field('Training').isChecked()]).toEqual(['training', true]);
  await field('Path').fill('/articles/solo$');
  await field('Training').uncheck();
  await press('See what it would do');
  await says(/training would never apply: solo always takes precedence/);
  await shown().getByRole('button', { name: 'Close' }).first().click();
  await press(/^Remove: \/articles\/solo\$/);
  await shown().getByText('This holds no more: /articles/solo$: Every agent, $0.05.').waitFor();
  await shown().getByRole('row', { name: 'Earned 0.004000 USDC 4 requests 0.000000 USDC 0 requests' }).waitFor();
  await confirm('Remove it');
  await says('Saved. Quotes show it within two seconds.');
  await page.getByText('/articles/solo$').waitFor({ state: 'detached' });
  expect(await rulesOf()).toMatchObject([{ id: 'hostile' }, { id: 'training' }]);
  expect([visitor.strangers, visitor.mishaps]).toEqual([[], []]);
});
