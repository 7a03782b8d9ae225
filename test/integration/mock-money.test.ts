import { afterAll, beforeAll, expect, test } from 'vitest';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { layered, limits } from '../../sandbox/limits.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';
import { payloadFor, quoteOf, verify } from '../support/verify.ts';

let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await startTestService({ environment: layered(CALM, limits({ eventWindowMs: 200 }), { TEST_KEYS_ENABLED: 'true' }) });
  site = await service.site();
});
afterAll(() => service?.stop());

const REPORTS = ['earnings', 'earnings/statements', 'earnings/reconciliation', 'earnings/export.csv', 'audit'];

/** A report as a live key reads it, without the moments at which it was made. */
const reportOf = async (path: string): Promise<string> => {
  const response = await fetch(`${service.baseUrl}/_svc/${path}`, { headers: { authorization: `Bearer ${site.key}` } });
  const text = await response.text();
  expect([path, response.status]).toEqual([path, 200]);
  return text.replaceAll(/"[A-Za-z]*(At|From|To|Until|from|to)":("[^"]*"|\d+)/g, '').replaceAll(/\d{13}/g, '');
};

test('what a test key buys and what it fails to buy is in no report, no rollup, no event, and its licence opens nothing', async () => {
  const pepper = pepperOf(service.secrets);
  const request = { tenantId: site.tenantId, name: 'test', scopes: SCOPES, prefix: 'svc_test_' } as const;
  const { token } = await mintKey({ database: service.database, pepper }, request);
  const before = await Promise.all(REPORTS.map(reportOf));
  const buyer = { ...site, key: token };
  for (const slug of ['solo', 'trio']) {
    const quote = await quoteOf(service, buyer, slug);
    const payload = await payloadFor(service, quote, await service.payer(1_000_000n));
    const answer = await verify(service, buyer, quote, payload);
    expect(answer).toMatchObject({ status: 200, body: { ok: true, settlementRef: expect.stringMatching(/^mock_/) } });
    const checked = await fetch(`${service.baseUrl}/_svc/license/check`, {
      method: 'POST',
      headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ token: answer.body.licenseJws, resource: quote.resource }),
    });
    expect(JSON.stringify(await checked.json())).not.toContain('"entitled":true');
    const other = await quoteOf(service, site, slug);
    const shown = await verify(service, site, other, payload);
    expect(shown).toMatchObject({ status: 402, body: { error: expect.stringMatching(/^authorization_invalid/) } });
  }
  const refusals = await service.database.query(
    `select 1 from observation where tenant_id = $1 and verdict <> 'payment-failed'`,
    [site.tenantId],
  );
  expect(refusals).toEqual([]);
  await service.database.query('delete from observation where tenant_id = $1', [site.tenantId]).catch(() => undefined);
  for (const table of [
    'crossing',
    'leg',
    'unannounced_crossing',
    'crossing_hour',
    'crossing_day',
    'crossing_month',
    'webhook_event_leg',
  ]) {
    expect([table, await service.database.query(`select 1 from ${table} where tenant_id = $1`, [site.tenantId])]).toEqual([
      table,
      [],
    ]);
  }
  const after = await Promise.all(REPORTS.slice(0, 4).map(reportOf));
  expect(after).toEqual(before.slice(0, 4));
  const audit = (await fetch(`${service.baseUrl}/_svc/audit`, { headers: { authorization: `Bearer ${site.key}` } }).then((r) =>
    r.json(),
  )) as {
    totals: Record<string, unknown>;
  };
  expect(audit.totals).toMatchObject({ paid: 0 });
});
