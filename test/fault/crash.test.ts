import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callChain } from '../../sandbox/parts/chain.ts';
import type { ApiProcess } from '../../sandbox/processes-of-service.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../support/buying.ts';
import { saveHistory } from '../support/histories.ts';
import { checkService } from '../support/invariants.ts';
import { scaled } from '../support/patience.ts';
import { lastRunOf } from '../support/scheduled.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';

let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await startTestService({
    worker: false,
    environment: { SETTLE_WAIT_MS: '5000', PUBLIC_BASE_URL: 'https://service.example' },
  });
  site = await service.site();
});
afterAll(() => service.stop());

const count = async (statement: string, slug: string): Promise<number> => {
  const rows = await service.database.query<{ count: string }>(statement, [slug]);
  return Number(rows[0]?.count);
};

/** Works with Temporal as its client. */
async function asClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: service.temporal.address });
  try {
    return await work(new Client({ connection, namespace: service.temporal.namespace }));
  } finally {
    await connection.close();
  }
}

/** Keeps a workflow's history for the replay test, in a run that was asked to record. */
const saveWorkflow = (workflowId: string, name: string) => asClient((client) => saveHistory(client, workflowId, name));

/** What a workflow came to. */
const resultOf = (workflowId: string) => asClient((client) => client.workflow.getHandle(workflowId).result());

/** Of an API whose callers are to wait until their payment is decided, however busy the machine is. */
const PATIENT = { SETTLE_WAIT_MS: '60000' };
let pair: Promise<readonly ApiProcess[]> | null = null;
/** Two such APIs, the same for every test. */
const patientApis = () => (pair ??= Promise.all([service.startApi(PATIENT), service.startApi(PATIENT)]));

describe('a worker killed with SIGKILL', () => {
  test.for([
    ['after the row is written', 'after_insert'],
    ['after the bytes are signed and stored', 'after_sign'],
    ['after its workflow is started', 'after_start'],
    ['after they are broadcast', 'after_broadcast'],
    ['after the receipt is read', 'after_receipt'],
    ['after the outcome is recorded', 'after_record'],
  ] as const)('%s leaves exactly one settlement, one crossing and one event', async ([, point]) => {
    const payer = await service.payer(1_000_000n);
    const quote = await askQuote(service.baseUrl, site.key, 'trio');
    const before = await balancesOf(
      service,
      quote.legs.map((leg) => leg.toAddress),
    );
    const payment = await payFor(payer, quote);
    const doomed = await service.startWorker({ CRASH_AT: point });
    const first = sell(service.baseUrl, site.key, quote, payment);
    await doomed.process.exited;
    const worker = await service.startWorker();
    await first;
    const answer = await sellUntilDecided(service.baseUrl, site.key, quote, payment);
    expect(answer.body).toMatchObject({ ok: true, chargedMicro: String(quote.price) });
    const after = await balancesOf(
      service,
      quote.legs.map((leg) => leg.toAddress),
    );
    expect(after.map((balance, n) => balance - (before[n] ?? 0n))).toEqual(quote.legs.map((leg) => BigInt(leg.amountMicro)));
    expect(await balancesOf(service, [payer.address])).toEqual([1_000_000n - BigInt(quote.price)]);
    const ofPayer = payer.address.toLowerCase();
    expect(await count("select count(*) from payment where payer = $1 and state in ('settled', 'final')", ofPayer)).toBe(1);
    expect(await count('select count(*) from crossing where payer = $1', ofPayer)).toBe(1);
    await expect
      .poll(
        () =>
          count(
            `select count(*) from webhook_event_leg join crossing using (tenant_id, crossing_id)
                where payer = $1 group by event_id limit 1`,
            ofPayer,
          ),
        { timeout: scaled(180_000), interval: 200 },
      )
      .toBeGreaterThan(0);
    expect(
      await count(
        `select count(distinct event_id) from webhook_event_leg join crossing using (tenant_id, crossing_id) where payer = $1`,
        ofPayer,
      ),
    ).toBe(1);
    // Whichever process claimed the batch, and however far it came: one workflow owns it to its end.
    const [batch, ...others] = await service.database.query<{ workflow_id: string }>(
      'select workflow_id from settlement_batch join payment using (batch_id) where payer = $1',
      [ofPayer],
    );
    expect(others).toEqual([]);
    const owned = () => resultOf(batch?.workflow_id ?? '').catch((error: unknown) => String(error));
    await expect.poll(owned, { timeout: scaled(60_000), interval: 200 }).toMatchObject({ settled: 1, failed: 0, reverted: 0 });
    if (point === 'after_sign') await saveWorkflow(batch?.workflow_id ?? '', 'settlePayments-adopted');
    await checkService(service);
    await worker.stop();
  });
});

test('a worker killed while a batch waits for the safe block leaves it to the next one, which ends the same workflow', async () => {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'solo');
  const doomed = await service.startWorker();
  await callChain(service.chain.rpcUrl, 'evm_setIntervalMining', [0]);
  await callChain(service.chain.rpcUrl, 'evm_setAutomine', [true]);
  const answer = await sellUntilDecided(service.baseUrl, site.key, quote, await payFor(payer, quote));
  expect(answer.body).toMatchObject({ ok: true });
  const [batch] = await service.database.query<{ workflow_id: string }>(
    'select workflow_id from settlement_batch join payment using (batch_id) where payer = $1',
    [payer.address.toLowerCase()],
  );
  const workflowId = batch?.workflow_id ?? '';
  const standing = () => asClient((client) => client.workflow.getHandle(workflowId).query('status'));
  await expect
    .poll(standing, { timeout: scaled(60_000), interval: 200 })
    .toMatchObject({ state: 'settled, waits for the safe block' });
  await doomed.kill();
  const worker = await service.startWorker();
  await callChain(service.chain.rpcUrl, 'evm_setIntervalMining', [1]);
  expect(await resultOf(workflowId)).toMatchObject({ settled: 1, failed: 0, reverted: 0 });
  await checkService(service);
  await worker.stop();
});

test('the same payment fifty times at once over two API processes gives one settlement and fifty equal answers', async () => {
  const worker = await service.startWorker();
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'trio');
  const payment = await payFor(payer, quote);
  const apis = await patientApis();
  const urls = apis.map((api) => api.url);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => sell(urls[n % urls.length] as string, site.key, quote, payment)),
  );
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
  expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
  expect(await balancesOf(service, [payer.address])).toEqual([1_000_000n - BigInt(quote.price)]);
  expect(await count('select count(*) from crossing where payer = $1', payer.address.toLowerCase())).toBe(1);
  await checkService(service);
  await worker.stop();
});

test('ten authorizations of one payer for one page at once over two API processes charge once', async () => {
  const worker = await service.startWorker();
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'duo');
  const payments = await Promise.all(Array.from({ length: 10 }, () => payFor(payer, quote)));
  const apis = await patientApis();
  const urls = apis.map((api) => api.url);
  const answers = await Promise.all(
    payments.map((payment, n) => sell(urls[n % urls.length] as string, site.key, quote, payment)),
  );
  expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(200));
  expect(new Set(answers.map((answer) => answer.body.settlementRef)).size).toBe(1);
  expect(await balancesOf(service, [payer.address])).toEqual([1_000_000n - BigInt(quote.price)]);
  await checkService(service);
  await worker.stop();
});

test('an API killed while its caller waits loses nothing: the same payment sent to the other API gets the receipt', async () => {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'solo');
  const payment = await payFor(payer, quote);
  const doomed = await service.startApi(PATIENT);
  const lost = sell(doomed.url, site.key, quote, payment).catch(() => null);
  await expect
    .poll(() => count("select count(*) from payment where payer = $1 and state = 'accepted'", payer.address.toLowerCase()))
    .toBe(1);
  await doomed.kill();
  expect(await lost).toBeNull();
  const worker = await service.startWorker();
  const answer = await sellUntilDecided(service.baseUrl, site.key, quote, payment);
  const swept = await asClient((client) => lastRunOf(client, 'sweepPayments:eip155:84532'));
  await saveWorkflow(swept?.workflowId ?? '', 'sweepPayments');
  expect(answer.body).toMatchObject({ ok: true, payer: expect.stringMatching(new RegExp(payer.address, 'i')) });
  expect(await balancesOf(service, [payer.address])).toEqual([1_000_000n - BigInt(quote.price)]);
  await checkService(service);
  await worker.stop();
});
