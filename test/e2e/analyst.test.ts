import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXAMPLES } from '../../graphql/schema/examples.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { WALLETS } from '../support/api.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import { askGraph } from '../support/graphql.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';

/** An analyst's session: the questions of docs/graphql.md, asked of a service that really sold pages. */

const [A, B, C, D] = WALLETS as [string, string, string, string];
/** Pages sold: solo twice, trio once, duo once as a citation; 1,000 micro a read, ten times that a citation. */
const SALES = [
  ['solo', 'read'],
  ['solo', 'read'],
  ['trio', 'read'],
  ['duo', 'citation'],
] as const;

let service: TestService;
let site: TestSite;
let receiver: Receiver;
let earnedMicro: number;
const paidTo = new Map<string, number>();

beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
  receiver = await startReceiver();
  const outbound = createOutbound({ allowLoopback: true });
  const secretBox = createSecretBox(Buffer.from(service.secrets.secretsKey, 'base64url'));
  await createEndpoint({ database: service.database, secretBox, outbound }, site.tenantId, { url: receiver.url });
  await outbound.close();
  earnedMicro = 0;
  for (const [slug, kind] of SALES) {
    const quote = await askQuote(service.baseUrl, site.key, slug, kind);
    const buyer = await service.payer(BigInt(quote.price));
    const sold = await sellUntilDecided(service.baseUrl, site.key, quote, await payFor(buyer, quote));
    expect(sold.status, sold.text).toBe(200);
    earnedMicro += quote.price;
    for (const leg of quote.legs) {
      const wallet = leg.toAddress.toLowerCase();
      paidTo.set(wallet, (paidTo.get(wallet) ?? 0) + leg.amountMicro);
    }
  }
  await failOnce(await service.payer(0n));
  await observe();
});

afterAll(async () => {
  await receiver?.stop();
  await service?.stop();
});

/** A payer without money: the payment fails. */
async function failOnce(poor: PrivateKeyAccount): Promise<void> {
  const quote = await askQuote(service.baseUrl, site.key, 'solo');
  const failed = await sellUntilDecided(service.baseUrl, site.key, quote, await payFor(poor, quote));
  expect(failed.status).toBe(402);
}

/** What the site's own gate reports: trio is refused three times and solo once; one agent's signature was false. */
async function observe(): Promise<void> {
  const report = (slug: string, agent: object = { ua: 'GPTBot/1.0' }) => ({
    resource: `https://${site.host}/articles/${slug}`,
    slug,
    verdict: 'denied',
    classifiedAs: 'agent',
    kind: 'read',
    priceMicro: 1_000,
    agent,
  });
  for (const body of [report('trio'), report('trio'), report('trio', { ua: 'GPTBot/1.0', sigInvalid: true }), report('solo')]) {
    const answer = await fetch(`${service.baseUrl}/_svc/observe`, {
      method: 'POST',
      headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status, await answer.text()).toBe(202);
  }
}

async function ask(name: string) {
  const example = EXAMPLES.find((one) => one.name === name);
  if (!example) throw new Error(`there is no question ${name}`);
  const answer = await askGraph(`${service.baseUrl}/_svc/graphql`, site.key, example.query);
  expect(answer.errors, example.question).toEqual([]);
  return answer.data.tenant;
}

const wallet = (text: string): string => text.toLowerCase();

test('which agents earned us most: the sum over agents is what was sold', async () => {
  const { agents } = await ask('earnedByAgent');
  const earned = agents.nodes.map(({ earnedMicro: micro }: { earnedMicro: string }) => Number(micro));
  expect(earned.reduce((sum: number, micro: number) => sum + micro, 0)).toBe(earnedMicro);
  expect(earned).toEqual([...earned].sort((a, b) => b - a));
});

test('which authors wait for money: nobody, once the chain shows every leg', async () => {
  await expect.poll(async () => Number((await ask('authorsWaiting')).reconciliation.outstanding.amountMicro)).toBe(0);
  expect((await ask('authorsWaiting')).reconciliation.waiting.nodes).toEqual([]);
});

test('which pages are refused most, and what was missed there', async () => {
  const { nodes } = (await ask('pathsRefused')).audit.breakdown;
  expect(nodes.slice(0, 2)).toMatchObject([
    { key: 'trio', denied: 3, missedMicro: '3000' },
    { key: 'solo', denied: 1, missedMicro: '1000' },
  ]);
});

test('what we earned this week, and the week before: nothing', async () => {
  const { totals, previous } = (await ask('weekAgainstWeek')).earnings;
  expect(totals).toEqual({ grossMicro: String(earnedMicro), events: 4, reads: 3, citations: 1, authors: 4 });
  expect(previous).toEqual({ grossMicro: '0', events: 0 });
});

test('which pages earn most', async () => {
  const { totalCount, nodes } = (await ask('bestPages')).earnings.breakdown;
  expect([totalCount, nodes.map(({ key }: { key: string }) => key)]).toEqual([3, ['duo', 'solo', 'trio']]);
  expect(nodes[1]).toEqual({ key: 'solo', grossMicro: '2000', reads: 2, citations: 0 });
});

test('what each author was paid, and for what', async () => {
  const { totalMicro, statements } = (await ask('statements')).statements;
  expect(totalMicro).toBe(String(earnedMicro));
  type Statement = { wallet: string; grossMicro: string; lines: { nodes: { slug: string }[] } };
  const paid = new Map(statements.nodes.map((row: Statement) => [wallet(row.wallet), Number(row.grossMicro)]));
  expect(paid).toEqual(paidTo);
  expect([A, B, C, D].every((address) => paid.has(address))).toBe(true);
  const ofA = statements.nodes.find((row: Statement) => wallet(row.wallet) === A) as Statement;
  expect(ofA.lines.nodes.map(({ slug }) => slug).sort()).toEqual(['solo', 'solo', 'trio']);
});

test('why payments fail, and which were the last ones', async () => {
  const { audit, observations, payments } = await ask('failedPayments');
  expect(audit.totals.paymentFailed).toBe(1);
  expect(audit.totals.failedByReason).toContainEqual({ reason: 'INSUFFICIENT_FUNDS', count: 1 });
  expect(observations.nodes.map(({ reason, slug }: { reason: string; slug: string }) => [reason, slug])).toEqual([
    ['insufficient_funds', 'solo'],
  ]);
  expect(payments.nodes).toEqual([]); // who has no money leaves no payment
});

test('where the money of the newest payments is: transaction, workflow, legs', async () => {
  const { nodes } = (await ask('paymentOnChain')).payments;
  expect(nodes).toHaveLength(SALES.length);
  for (const payment of nodes.filter(({ state }: { state: string }) => state !== 'FAILED')) {
    expect(payment.evidence.txHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(payment.batch.workflowId).toMatch(/^settle:/);
    const [crossing] = payment.crossings;
    const legs = crossing.legs.reduce((sum: number, { amountMicro }: { amountMicro: string }) => sum + Number(amountMicro), 0);
    expect([crossing.amountMicro, legs]).toEqual([payment.amountMicro, Number(payment.amountMicro)]);
  }
});

test('who pretends to be somebody else', async () => {
  const { audit, observations } = await ask('masqueraders');
  expect(audit.totals.masqueradeAttempts).toBe(1);
  expect(observations.nodes.filter(({ sigInvalid }: { sigInvalid: boolean | null }) => sigInvalid)).toMatchObject([
    { agentUa: 'GPTBot/1.0', verdict: 'DENIED', slug: 'trio' },
  ]);
});

test('whether our webhooks arrive', async () => {
  const delivered = async () =>
    (await ask('webhooksHealth')).deliveries.nodes.filter(({ state }: { state: string }) => state === 'DELIVERED');
  await expect.poll(async () => (await delivered()).length).toBeGreaterThan(0);
  const { webhookEndpoints } = await ask('webhooksHealth');
  expect(webhookEndpoints.nodes).toEqual([
    { origin: new URL(receiver.url).origin, enabled: true, failuresInRow: 0, disabledReason: null },
  ]);
  for (const delivery of await delivered()) expect(delivery.attempts.at(-1)).toMatchObject({ status: 200, reason: null });
});

test('what was earned on each day: all of it today, by the clock of Berlin', async () => {
  const { totals, series } = (await ask('revenueByDay')).earnings;
  expect(totals).toEqual({ grossMicro: String(earnedMicro), events: 4 });
  expect(series).toHaveLength(28);
  const sum = series.reduce((total: number, { grossMicro }: { grossMicro: string }) => total + Number(grossMicro), 0);
  expect(sum).toBe(earnedMicro);
});

test('which authors earn more than a week before: all of them', async () => {
  const { nodes } = (await ask('authorsByWeek')).earnings.breakdown;
  expect(nodes).toHaveLength(4);
  for (const { grossMicro, previous } of nodes) expect([Number(grossMicro) > 0, previous]).toEqual([true, { grossMicro: '0' }]);
});

test('how many buyers came back: none of four', async () => {
  const { nodes } = (await ask('repeatBuyers')).earnings.breakdown;
  expect(nodes).toEqual([{ key: 'new', payers: 4, events: 4, grossMicro: String(earnedMicro) }]);
});

test('what a page costs in the middle, and that no licence was sold', async () => {
  const { pages, licences } = await ask('medianPrice');
  expect(pages.prices).toEqual({ smallest: '1000', median: '1000', p95: '5000', largest: '5000' });
  expect(licences.totals).toEqual({ grossMicro: '0', events: 0 });
});

test('which licences end: none', async () => {
  expect((await ask('licencesEnding')).licencesSold).toEqual({ totalCount: 0, nodes: [] });
});

test('which agents others pretend to be, and when', async () => {
  const { agents, audit } = await ask('pretenders');
  expect(agents.nodes[0].masqueradeAttempts).toBe(1);
  expect(audit.series.at(-1).totals).toEqual({ masqueradeAttempts: 1 });
});

test('which webhooks fail just now: none', async () => {
  await expect.poll(async () => (await ask('failingWebhooks')).deliveries).toEqual({ totalCount: 0, nodes: [] });
});

test('how long sales took to be settled and final', async () => {
  const times = async () => (await ask('timeToFinal')).settlementTimes;
  await expect.poll(async () => (await times()).final.payments).toBe(4);
  const { settled, final } = await times();
  expect(settled.payments).toBe(4);
  expect(settled.p50Ms).toBeGreaterThan(0);
  expect(settled.p95Ms).toBeGreaterThanOrEqual(settled.p50Ms);
  expect(final.p50Ms).toBeGreaterThanOrEqual(settled.p50Ms);
});

test('all eighteen questions of the documentation are asked here', () => {
  expect(EXAMPLES).toHaveLength(18);
});
