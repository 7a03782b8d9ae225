import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PublisherReconciliation } from '../../api/schemas/reports/reconciliation.ts';
import { askQuote, payFor } from '../support/buying.ts';
import { saveHistory } from '../support/histories.ts';
import { runsOf } from '../support/scheduled.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await startTestService();
  site = await service.site();
});
afterAll(() => service?.stop());

const ask = (query = '') =>
  fetch(`${service.baseUrl}/_svc/earnings/reconciliation${query}`, { headers: { authorization: `Bearer ${site.key}` } });

/** Quote, sign, verify. */
async function buy(slug: string, kind = 'read'): Promise<string> {
  const quote = await askQuote(service.baseUrl, site.key, slug, kind);
  const payment = await payFor(await service.payer(100_000n), quote);
  const response = await fetch(`${service.baseUrl}/_svc/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.key}` },
    body: JSON.stringify({ payment, legs: quote.legs, quote }),
  });
  const body = (await response.json()) as { settlementRef?: string };
  expect([response.status, body]).toEqual([200, expect.objectContaining({ ok: true })]);
  return body.settlementRef ?? '';
}

test('the running service reconciles what it sold with the chain, and the report is exactly that of the specification', async () => {
  await buy('solo');
  await buy('trio');
  await buy('duo', 'citation');
  await service.database.query('delete from chain_transfer');
  const open = PublisherReconciliation.parse(await (await ask()).json());
  expect(open.recorded).toEqual({ events: 3, grossMicroUsdc: 7_000 });
  const repaired = async () => {
    const body = PublisherReconciliation.parse(await (await ask()).json());
    return { settled: body.settled, outstanding: body.outstanding, exceptions: body.exceptions };
  };
  await expect
    .poll(repaired, { interval: 500 })
    .toEqual({ settled: { legs: 7, micro: 7_000 }, outstanding: { legs: 0, micro: 0 }, exceptions: [] });
  const connection = await Connection.connect({ address: service.temporal.address });
  const client = new Client({ connection, namespace: service.temporal.namespace });
  const [run] = await runsOf(client, 'reconcileChain:eip155:84532', "ExecutionStatus = 'Completed'");
  await saveHistory(client, run?.workflowId ?? '', 'reconcileChain');
  await connection.close();
});

test('evidence that stays away shows as exceptions with all members', async () => {
  const reference = await buy('trio');
  for (const worker of service.workers) await worker.stop();
  await service.database.query('delete from chain_transfer where tx_hash = $1', [reference]);
  const body = PublisherReconciliation.parse(await (await ask('?from=0&limit=5')).json());
  expect(body.exceptions).toHaveLength(3);
  expect(Object.keys(body.exceptions[0] ?? {})).toEqual([
    'eventId',
    'host',
    'slug',
    'kind',
    'toAddress',
    'micro',
    'recordedAt',
    'ageMs',
    'reason',
    'settlementRef',
    'settlementRefKind',
  ]);
  expect(body.exceptions[0]).toMatchObject({
    slug: 'trio',
    kind: 'read',
    reason: 'missing_receipt',
    settlementRef: reference,
    settlementRefKind: 'txHash',
  });
  expect(body.outstanding).toEqual({ legs: 3, micro: 1_000 });
  expect('truncatedExceptions' in body).toBe(false);
  expect(body.retentionClampedTo).toBeGreaterThan(0);
});

test.each(['from=x', 'from=2&to=1', 'groupBy=agent', 'limit=0', 'cursor=-1', 'from=1&from=2'])(
  '%s is a 400 that names the parameter',
  async (query) => {
    const response = await ask(`?${query}`);
    const { error } = (await response.json()) as { error: string };
    expect([response.status, error]).toEqual([400, expect.stringContaining(query.split('=')[0] ?? '')]);
  },
);
