import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GRAPHQL_PATH } from '../../graphql/request/path.ts';
import type { MetricName } from '../../modules/kernel/metrics.ts';
import { METRICS } from '../../modules/kernel/metrics.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { layered, limits } from '../../sandbox/limits.ts';
import type { ApiProcess, ServiceProcess } from '../../sandbox/processes-of-service.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';
import { readMetrics, servedName, spansOf, sumOf } from '../support/telemetry.ts';

let service: TestService;
let site: TestSite;
let collector: Receiver;
let hooks: Receiver;
let api: ApiProcess;
let worker: ServiceProcess;
beforeAll(async () => {
  [collector, hooks] = await Promise.all([startReceiver(), startReceiver()]);
  const environment = layered(CALM, limits({ metricsIntervalMs: 500 }), {
    METRICS_PORT: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url).origin,
  });
  service = await startTestService({ environment });
  [api, worker] = [service.apis[0] as ApiProcess, service.workers[0] as ServiceProcess];
  site = await service.site();
});
afterAll(async () => {
  await service.stop();
  await Promise.all([collector.stop(), hooks.stop()]);
});

async function buy(slug: string): Promise<void> {
  const quote = await askQuote(service.baseUrl, site.key, slug);
  const payment = await payFor(await service.payer(100_000n), quote);
  await sellUntilDecided(service.baseUrl, site.key, quote, payment);
  await sellUntilDecided(service.baseUrl, site.key, quote, payment);
}

test('a purchase and its webhook are seen in every measure, and in one trace from the request to the chain', async () => {
  const outbound = createOutbound({ allowLoopback: true });
  const secretBox = createSecretBox(Buffer.from(service.secrets.secretsKey, 'base64url'));
  await createEndpoint({ database: service.database, secretBox, outbound }, site.tenantId, { url: hooks.url });
  await outbound.close();
  const headers = { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' };
  const report = { resource: `https://${site.host}/articles/solo`, verdict: 'served-free', classifiedAs: 'human' };
  const observed = await fetch(`${service.baseUrl}/_svc/observe`, { method: 'POST', headers, body: JSON.stringify(report) });
  expect(observed.status).toBeLessThan(300);
  await buy('trio');
  await hooks.until(1);
  // GraphQL opens for the first who asks, and tells of its thread from then on.
  const asked = await fetch(`${service.baseUrl}${GRAPHQL_PATH}`, { method: 'POST', headers, body: '{"query":"{ __typename }"}' });
  expect(asked.status).toBe(200);

  const shown = async (): Promise<string> => `${await readMetrics(api)}\n${await readMetrics(worker)}`;
  const missing = async (): Promise<string[]> => {
    const text = await shown();
    // Nothing has waited for a connection here, no key is a service's, and there is neither an archive nor a standby.
    const absent: readonly MetricName[] = [
      'svc.database.slot_active',
      'svc.database.slot_behind',
      'svc.pool.wait',
      'svc.relayer.sign_duration',
      'svc.wal.archive_age',
      'svc.wal.archive_failing',
    ];
    const names = (Object.keys(METRICS) as MetricName[]).filter((name) => !absent.includes(name));
    return names.map(servedName).filter((name) => !text.includes(`\n# TYPE ${name} `));
  };
  await expect.poll(missing).toEqual([]);
  const counted: readonly MetricName[] = [
    ...(['svc.quote.duration', 'svc.settle.duration', 'svc.settle.outcome', 'svc.settle.items_per_batch'] as const),
    ...(['svc.settle.gas_per_payment', 'svc.settle.repeated_grants', 'svc.observe.accepted', 'svc.licence.minted'] as const),
    ...(['svc.http.duration', 'svc.database.size', 'svc.pool.connections', 'svc.rpc.head_age'] as const),
    ...(['svc.webhook.attempts', 'svc.relayer.balance', 'svc.gauges.read_at'] as const),
  ];
  await expect
    .poll(async () => {
      const text = await shown();
      return counted.filter((name) => sumOf(text, name) === 0);
    })
    .toEqual([]);

  const names = (): string[][] => {
    const spans = spansOf(collector);
    const ofRequest = spans.filter(({ name, service: by }) => by === 'svc-api' && name === 'POST /_svc/verify');
    return ofRequest.map(({ traceId }) => spans.filter((span) => span.traceId === traceId).map(({ name }) => name));
  };
  const whole = [/^RunWorkflow:settlePayments$/, /^RunActivity:confirmSettlement$/, /^rpc eth_sendRawTransaction/];
  await expect.poll(() => names().some((trace) => whole.every((step) => trace.some((name) => step.test(name))))).toBe(true);
});

test('a line of the log says which request, which tenant, which workflow and which trace it belongs to', async () => {
  type Line = Readonly<Record<string, unknown>>;
  const lines = readFileSync(worker.process.logFile, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
  const sent = lines.find(({ msg }) => msg === 'settlement transaction sent');
  expect(sent).toMatchObject({ activity: 'sendAtOnce', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(sent?.['workflowId']).toMatch(/^settle:/);
});
