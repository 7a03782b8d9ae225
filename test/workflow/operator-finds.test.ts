/** What an operator asks of Temporal, asked of its own API: a list by a query, a description, and the query `status`. */
import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentQuery, SEARCH_ATTRIBUTES, siteKey } from '../../modules/kernel/workflow/attributes.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { askQuote, payFor, sell } from '../support/buying.ts';
import { saveHistory } from '../support/histories.ts';
import { leaves, rpcOf } from '../support/leaves.ts';
import { call, signInWith } from '../support/licences.ts';
import { scaled } from '../support/patience.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { base64Of, payloadFor } from '../support/verify.ts';

const NETWORK = 'eip155:84532';
/** The key of the service under test, so that an endpoint which a test makes can be signed for. */
const SECRETS_KEY = Buffer.alloc(32, 7);
const LONG = { timeout: scaled(120_000), interval: 200 };
let service: TestService;
let site: TestSite;
let connection: Connection;
let client: Client;

beforeAll(async () => {
  service = await startTestService({ environment: { SECRETS_KEY: SECRETS_KEY.toString('base64url') } });
  site = await service.site();
  connection = await Connection.connect({ address: service.temporal.address });
  client = new Client({ connection, namespace: service.temporal.namespace });
});
afterAll(async () => {
  await connection?.close();
  await service?.stop();
});

interface Found {
  readonly workflowId: string;
  readonly status: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

async function find(query: string): Promise<Found[]> {
  const found: Found[] = [];
  for await (const { workflowId, status, typedSearchAttributes } of client.workflow.list({ query })) {
    const attributes = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
    found.push({ workflowId, status: status.name, attributes });
  }
  return found;
}

/** The summaries of what a workflow did, from its history. */
async function summariesOf(workflowId: string): Promise<string[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ userMetadata }) => {
    const data = userMetadata?.summary?.data;
    return data ? [JSON.parse(Buffer.from(data).toString('utf8')) as string] : [];
  });
}

async function paymentsOf(payer: string): Promise<{ payment_id: string; state: string; tx_hash: Hex | null }[]> {
  return service.database.query('select payment_id, state, tx_hash from payment where payer = $1', [payer.toLowerCase()]);
}

const rpc = (method: string, ...params: readonly unknown[]): Promise<unknown> => rpcOf(service)(method, ...params);

test('a payment id, a site, a transaction each lead to the one workflow, which says what became of it', async () => {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'trio');
  expect((await sell(service.baseUrl, site.key, quote, await payFor(payer, quote))).body).toMatchObject({ ok: true });
  const [payment] = await paymentsOf(payer.address);
  const { payment_id: paymentId, tx_hash: txHash } = payment ?? { payment_id: '', tx_hash: null };

  const finished = `WorkflowType = 'settlePayments' AND ExecutionStatus = 'Completed'`;
  await expect.poll(async () => (await find(`(${paymentQuery(paymentId)}) AND ${finished}`)).length, LONG).toBe(1);
  const [one] = await find(paymentQuery(paymentId));
  expect(one?.attributes).toMatchObject({
    Network: NETWORK,
    SiteIds: [siteKey(site.tenantId)],
    PaymentIds: [paymentId],
    TxHash: txHash,
    Outcome: 'settled',
  });
  for (const query of [`TxHash = '${txHash}'`, `SiteIds = '${siteKey(site.tenantId)}'`])
    expect((await find(`${query} AND Outcome = 'settled'`)).map(({ workflowId }) => workflowId)).toEqual([one?.workflowId]);

  const handle = client.workflow.getHandle(one?.workflowId ?? '');
  const counts = { settled: 1, failed: 0, reverted: 0, undecided: 0, reasons: [] };
  expect(await handle.result()).toEqual({ ...counts, txHash, payments: [{ paymentId, became: 'settled' }] });
  expect(await (await handle.describe()).staticSummary()).toMatch(/^1 payment of 1 site, 0x[0-9a-f]{8}…, nonce \d+$/);
  expect(await handle.query('status')).toMatchObject({ state: 'settled', network: NETWORK, payments: 1, transaction: txHash });
  expect(await handle.query('status')).toMatchObject({ [paymentId]: 'settled' });
  await saveHistory(client, handle.workflowId, 'settlePayments');
  const shown = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(shown.currentDetails).toContain('| state | settled |');
  expect(shown.currentDetails).toContain(`| ${paymentId} | settled |`);
});

test('a batch that nobody paid in is found by `failed` once that is decided, is a failed workflow at the safe block, and says why', async () => {
  const payer = await service.payer(1_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'solo');
  await rpc('evm_setAutomine', false);
  await rpc('evm_setIntervalMining', 0);
  const sold = sell(service.baseUrl, site.key, quote, await payFor(payer, quote));
  const isSent = async () => (await paymentsOf(payer.address))[0]?.state;
  await expect.poll(isSent, LONG).toBe('broadcast');
  const sentWithStatus = await (async () => {
    const [{ payment_id: paymentId }] = (await paymentsOf(payer.address)) as unknown as [{ payment_id: string }];
    await expect.poll(async () => (await find(paymentQuery(paymentId))).length, LONG).toBe(1);
    return (await find(paymentQuery(paymentId)))[0] as Found;
  })();
  expect(sentWithStatus).toMatchObject({ status: 'RUNNING', attributes: { Outcome: 'sent' } });
  const waiting = client.workflow.getHandle(sentWithStatus.workflowId);
  await expect
    .poll(() => waiting.query('status'), LONG)
    .toMatchObject({ state: 'sent, waits for its block', undecided: 1, settled: 0 });

  await leaves(service, payer.address, 1_000n);
  expect((await sold).headers.get('x-svc-error-code')).toBe('insufficient_funds');

  const since = new Date(Date.now() - 3_600_000).toISOString();
  const failed = async (query: string) => (await find(query)).map(({ workflowId }) => workflowId);
  await expect.poll(() => failed(`Outcome = 'failed' AND StartTime > '${since}'`), LONG).toEqual([sentWithStatus.workflowId]);
  type Failure = { cause?: { message?: string; details?: unknown[] } };
  const failure = await waiting.result().catch(({ cause }: Failure) => cause);
  const [{ payment_id: paymentId }] = (await paymentsOf(payer.address)) as unknown as [{ payment_id: string }];
  expect(failure).toMatchObject({
    message: 'none of 1 payments settled: insufficient_funds',
    details: [{ failed: 1, payments: [{ paymentId, became: 'failed', reason: 'insufficient_funds' }] }],
  });
  await expect
    .poll(() => failed(`ExecutionStatus = 'Failed' AND CloseTime > '${since}'`), LONG)
    .toEqual([sentWithStatus.workflowId]);
  await saveHistory(client, waiting.workflowId, 'settlePayments-failed');
  expect(await waiting.query('status')).toMatchObject({
    state: 'failed',
    failed: 1,
    why: 'insufficient_funds',
    [paymentId]: 'failed: insufficient_funds',
  });
});

test('a batch stays with its workflow until the safe block: a reorganisation sends it out again, and its end says so', async () => {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'duo');
  await rpc('evm_setIntervalMining', 0);
  await rpc('evm_setAutomine', true);
  expect((await sell(service.baseUrl, site.key, quote, await payFor(payer, quote))).body).toMatchObject({ ok: true });
  const [payment] = await paymentsOf(payer.address);
  const query = `(${paymentQuery(payment?.payment_id ?? '')})`;
  await expect.poll(() => find(`${query} AND Outcome = 'settled'`), LONG).toMatchObject([{ status: 'RUNNING' }]);
  const [one] = await find(query);
  const handle = client.workflow.getHandle(one?.workflowId ?? '');
  expect(await handle.query('status')).toMatchObject({ state: 'settled, waits for the safe block', settled: 1, undecided: 0 });

  await rpc('evm_setAutomine', false);
  await rpc('anvil_reorg', 1, []);
  await expect.poll(() => handle.query('status'), LONG).toMatchObject({ state: 'sent, waits for its block', settled: 0 });
  expect((await paymentsOf(payer.address))[0]?.state).toBe('broadcast');
  await rpc('evm_setAutomine', true);
  await rpc('evm_setIntervalMining', 1);
  const result = await handle.result();
  const [carried] = await paymentsOf(payer.address); // its fees are raised where nothing is mined for long
  expect(result).toMatchObject({ settled: 1, failed: 0, reverted: 0, undecided: 0, txHash: carried?.tx_hash });
  const [row] = await service.database.query(
    'select final_at is not null as final from settlement_batch where workflow_id = $1',
    [handle.workflowId],
  );
  expect(row).toEqual({ final: true });
  // What the UI shows beside each activity and timer.
  expect(await summariesOf(handle.workflowId)).toEqual(
    expect.arrayContaining([
      'first look at the receipt',
      'until the safe block should have come',
      'look at the safe block',
      'wait for the receipt and its confirmations',
    ]),
  );
  await saveHistory(client, handle.workflowId, 'settlePayments-reorganised');
});

test('there is one workflow for each batch, and none besides', async () => {
  const batches = await service.database.query<{ workflow_id: string }>(
    "select workflow_id from settlement_batch where kind <> 'flush'",
  );
  const expected = batches.map(({ workflow_id: id }) => id).sort();
  expect(expected.length).toBeGreaterThan(2);
  const ids = async () => (await find(`WorkflowType = 'settlePayments'`)).map(({ workflowId }) => workflowId).sort();
  await expect.poll(ids, LONG).toEqual(expected);
});

test('when did reconciliation run last, and what did it find: the schedule names its runs, and each has a result', async () => {
  const scheduleId = `reconcileChain:${NETWORK}`;
  const { info, state } = await client.schedule.getHandle(scheduleId).describe();
  expect(state.paused).toBe(false);
  const last = info.recentActions.at(-1);
  expect(Date.now() - (last?.takenAt.getTime() ?? 0)).toBeLessThan(LONG.timeout);
  const result = await client.workflow.getHandle(last?.action.workflow.workflowId ?? '').result();
  const { toBlock } = result as { readonly toBlock: number };
  expect(result).toEqual({
    state: 'up to date',
    fromBlock: expect.any(Number),
    toBlock: expect.any(Number),
    read: expect.any(Number),
    vanished: 0,
  });
  expect(toBlock).toBeGreaterThan(0);
  expect(
    await find(
      `WorkflowType = 'reconcileChain' AND Network = '${NETWORK}' AND ExecutionStatus != 'Completed' AND ExecutionStatus != 'Running'`,
    ),
  ).toEqual([]);
});

test('which receivers are down, and when is their next attempt: one workflow a receiver, found by its endpoint and its site', async () => {
  const outbound = createOutbound();
  const secretBox = createSecretBox(SECRETS_KEY);
  const { database } = service;
  const { tenantId } = site;
  const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, { url: 'https://nowhere.example/' });
  await pingEndpoint({ database }, tenantId, endpointId);
  const down = `WorkflowType = 'retryDeliveries' AND ExecutionStatus = 'Running'`;
  const receivers = async (query: string) => (await find(`${down} AND ${query}`)).map(({ workflowId }) => workflowId);
  await expect.poll(() => receivers(`EndpointId = '${endpointId}'`), LONG).toEqual([`endpoint:${endpointId}`]);
  expect(await receivers(`SiteIds = '${siteKey(tenantId)}'`)).toEqual([`endpoint:${endpointId}`]);
  const handle = client.workflow.getHandle(`endpoint:${endpointId}`);
  const next = expect.stringMatching(/^attempt [2-8]$/);
  await expect
    .poll(() => handle.query('status'), LONG)
    .toMatchObject({ state: 'retrying', deliveries: 1, next, 'last failure': 'dns_error' });
  const { 'due at': dueAt } = await handle.query<{ 'due at': string }>('status');
  const [row] = await database.query<{ due_at: Date }>('select due_at from delivery where endpoint_id = $1', [endpointId]);
  expect(Math.abs(Date.parse(dueAt) - (row?.due_at.getTime() ?? 0))).toBeLessThan(3_000);
  await outbound.close();
});

test('which hosts wait for proof, and when is the next look: one workflow a host, which says why', async () => {
  const host = 'unproven.example';
  expect((await call(`${service.baseUrl}/_svc/verify-host`, { token: site.key, body: { host } })).status).toBe(201);
  const waiting = () => find(`WorkflowType = 'verifyHost' AND ExecutionStatus = 'Running' AND Outcome = 'waits_for_proof'`);
  const workflowId = `host:${site.tenantId}:${host}`;
  await expect.poll(waiting, LONG).toMatchObject([{ workflowId, attributes: { Host: host, SiteIds: [siteKey(site.tenantId)] } }]);
  expect((await find(`Host = '${host}'`)).map((found) => found.workflowId)).toEqual([workflowId]);
  const standing = () => client.workflow.getHandle(workflowId).query('status');
  await expect.poll(standing, LONG).toMatchObject({ state: 'waits_for_proof', host, 'next look': expect.stringMatching(/^20/) });
});

test('which licences were taken back: a reorganisation after which the payer is poor ends one, found by its outcome and account', async () => {
  const payer = await service.payer(1_000_000n);
  const { token, accountId } = await signInWith(service.baseUrl, payer);
  const url = `${service.baseUrl}/_svc/licenses`;
  const body = { host: site.host, scope: ['/articles/'], terms: ['search'], periodDays: 1 };
  const offer = await call(url, { token, body });
  const [accepted] = JSON.parse(Buffer.from(offer.headers.get('payment-required') ?? '', 'base64').toString()).accepts;
  const payload = await payloadFor(service, { ...accepted, price: Number(accepted.amount) }, payer);
  await rpc('evm_setIntervalMining', 0);
  await rpc('evm_setAutomine', true);
  const bought = await call(url, { token, body, headers: { 'payment-signature': base64Of(payload) } });
  expect(bought.status).toBe(200);

  await rpc('evm_setAutomine', false);
  await rpc('anvil_reorg', 1, []);
  await rpc('anvil_dropAllTransactions');
  await leaves(service, payer.address, 1_000_000n);
  const takenBack = `WorkflowType = 'purchaseLicence' AND Outcome = 'taken_back'`;
  await expect
    .poll(() => find(takenBack), LONG)
    .toMatchObject([{ workflowId: `licence:${bought.body.jti}`, attributes: { AccountId: accountId, Host: site.host } }]);
  expect((await find(`AccountId = '${accountId}'`)).map(({ workflowId }) => workflowId)).toEqual([`licence:${bought.body.jti}`]);
  expect((await call(`${url}/held`, { token })).body.licences).toEqual([]);
});

test('every workflow says what it is for, and beside each of its activities and timers what that does', async () => {
  const newest = new Map<string, { workflowId: string; runId: string }>();
  for await (const { type, workflowId, runId } of client.workflow.list())
    if (!newest.has(type)) newest.set(type, { workflowId, runId });
  expect([...newest.keys()]).toEqual(
    expect.arrayContaining(['settlePayments', 'sweepPayments', 'dispatchWebhooks', 'closeEventWindows', 'sendMessages']),
  );
  const silent: string[] = [];
  for (const [type, { workflowId, runId }] of newest) {
    const handle = client.workflow.getHandle(workflowId, runId);
    if (!(await (await handle.describe()).staticSummary())) silent.push(type);
    const { events } = await handle.fetchHistory();
    for (const event of events ?? []) {
      const { activityTaskScheduledEventAttributes: activity, timerStartedEventAttributes: timer } = event;
      const isSilent = (activity || timer) && !event.userMetadata?.summary;
      if (isSilent) silent.push(`${type}: ${activity?.activityType?.name ?? 'a timer'}`);
    }
  }
  expect(silent).toEqual([]);
});

test('Temporal takes every query that the runbook gives for its UI', async () => {
  const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
  const [, section = ''] = runbook.split('## Workflows, in Temporal');
  const table = section.split('\n').filter((line) => line.startsWith('| '));
  const queries = table.flatMap((line) => [...line.matchAll(/`([^`]+ (?:=|>|IN) [^`]+)`/g)].map(([, query = '']) => query));
  expect(queries.length).toBeGreaterThan(8);
  for (const query of queries) await expect(find(query), query).resolves.toEqual(expect.any(Array));
});

test('every attribute that workflows name is registered with its namespace', async () => {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: service.temporal.namespace });
  expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)));
});
