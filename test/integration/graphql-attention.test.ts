import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordLiveness } from '../../db/enforcement.ts';
import { createRule } from '../../services/anomalies/rules.ts';
import { mintKey } from '../../services/keys.ts';
import { createEndpoint } from '../../services/webhooks/endpoints.ts';
import { pingEndpoint } from '../../services/webhooks/redeliver.ts';
import { DAY, startBusySite } from '../support/busy-site.ts';
import { sellLicence } from '../support/owner-world.ts';
import { insertSeen } from '../support/reports.ts';

/** What needs a look: only what does, of this site alone, and each part for those who may read it. */

let { graph, site, hosts, nowMs } = {} as Awaited<ReturnType<typeof startBusySite>>;
let other: Awaited<ReturnType<typeof graph.api.site>>;
beforeAll(async () => {
  ({ graph, site, hosts, nowMs } = await startBusySite());
  other = await graph.api.site();
});
afterAll(() => graph?.stop());

const QUERY = `{ tenant { attention {
  failingEndpoints { origin failuresInRow disabledReason } failingDeliveries
  hosts { host verifiedAt failingSince failedOpenAt enforcement { nextAction attention } } hostCount
  licencesEnding { jti until } licencesEndingCount
  masqueraded { agent masqueradeAttempts } masqueradeAttempts freeForWantOfAuthors
  rules { metric phase } raisedPrice { stored { priceUsdc } charged { priceUsdc } } } } }`;

async function look(key: string) {
  const { data, errors } = await graph.ask(key, QUERY);
  expect(errors).toEqual([]);
  return data.tenant.attention;
}

/** Two endpoints, of which one fails with two deliveries under way again and one that is exhausted. */
async function failAnEndpoint(tenantId: string): Promise<void> {
  const { database } = graph.api.deps;
  const { secretBox, outbound } = graph;
  for (const host of ['fails', 'works']) {
    const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, {
      url: `https://${host}.example.com/`,
    });
    for (let n = 0; n < 3; n++) await pingEndpoint({ database }, tenantId, endpointId);
    if (host === 'works') continue;
    await database.query('update webhook_endpoint set failures_in_row = 7 where tenant_id = $1 and endpoint_id = $2', [
      tenantId,
      endpointId,
    ]);
    await database.query(
      `update delivery set attempts = 1, body = '{}', retrying = true, state = case when n = 1 then 'exhausted' else 'pending' end
       from (select delivery_id as id, row_number() over (order by delivery_id) as n from delivery where tenant_id = $1 and endpoint_id = $2) one
       where tenant_id = $1 and delivery_id = id`,
      [tenantId, endpointId],
    );
  }
}

test('a site where all is well has only what its gates have yet to do', async () => {
  const seen = await look(other.key);
  expect(seen).toMatchObject({ failingEndpoints: [], failingDeliveries: 0, licencesEnding: [], licencesEndingCount: 0 });
  expect(seen).toMatchObject({ masqueraded: [], masqueradeAttempts: 0, freeForWantOfAuthors: 0, rules: [], raisedPrice: null });
  expect([seen.hostCount, seen.hosts]).toEqual([1, [expect.objectContaining({ host: other.host })]]);
});

test('each part shows what needs a look, as SQL has it, and no other site’s', async () => {
  const { database } = graph.api.deps;
  const { tenantId } = site;
  await failAnEndpoint(tenantId);
  const at = { quotedAtMs: nowMs, verifyCalledAtMs: nowMs, observedAtMs: nowMs, keyRejectedAtMs: null, planGatedAtMs: null };
  // Both gates are heard of; one of them had served pages free.
  await recordLiveness(database, [
    { tenantId, host: hosts[0]!, ...at, failedOpenAtMs: nowMs - 2 * DAY },
    { tenantId, host: hosts[1]!, ...at, failedOpenAtMs: nowMs - 9 * DAY },
  ]);
  const soon = [await sellLicence(database, tenantId, hosts[0]!), await sellLicence(database, tenantId, hosts[0]!)];
  const late = await sellLicence(database, tenantId, hosts[0]!);
  await database.query("update licence set period_until = now() + interval '40 days' where tenant_id = $1 and jti = $2", [
    tenantId,
    late,
  ]);
  const { ruleId } = await createRule({ database }, tenantId, { metric: 'denied', rangeKey: '1h', threshold: 1 });
  await createRule({ database }, tenantId, { metric: 'paid', rangeKey: '1h', threshold: 1 });
  await database.query(
    'update anomaly_rule set breached_at = now(), fired_at = now(), fired_window = 0 where tenant_id = $1 and rule_id = $2',
    [tenantId, ruleId],
  );
  await insertSeen(
    database,
    [1, 2, 8].map((days) => ({
      ...({
        tenantId,
        host: hosts[0]!,
        slug: 'nobody',
        verdict: 'served-free',
        classifiedAs: 'agent',
        kind: 'read',
        micro: null,
        reason: 'no_credits',
      } as const),
      ...({
        count: 1,
        paymentId: randomUUID(),
        agent: 'other',
        agentUa: null,
        verified: null,
        verifiedAgent: null,
        sigInvalid: null,
      } as const),
      atMs: nowMs - days * DAY,
    })),
  );
  const pricing = JSON.stringify({
    priceUsdc: '0.000001',
    citationMultiplier: null,
    articlePrefixes: null,
    creditsInline: null,
    creditsFreeSlugs: null,
    creditsApiUrl: null,
  });
  await database.query('update tenant_pricing set pricing = $2 where tenant_id = $1 and valid_until is null', [
    tenantId,
    pricing,
  ]);

  const seen = await look(site.key);
  expect(seen.failingEndpoints).toEqual([{ origin: 'https://fails.example.com', failuresInRow: 7, disabledReason: null }]);
  expect(seen.failingDeliveries).toBe(2);
  expect([
    seen.hostCount,
    seen.hosts.map((host: { host: string; failedOpenAt: number }) => [host.host, host.failedOpenAt]),
  ]).toEqual([1, [[hosts[0], nowMs - 2 * DAY]]]);
  expect([seen.licencesEndingCount, seen.licencesEnding.map(({ jti }: { jti: string }) => jti).sort()]).toEqual([2, soon.sort()]);
  expect(seen.freeForWantOfAuthors).toBe(2);
  expect(seen.rules).toEqual([{ metric: 'DENIED', phase: expect.stringMatching(/breached/i) }]);
  expect(seen.raisedPrice).toMatchObject({
    stored: { priceUsdc: '0.000001' },
    charged: { priceUsdc: expect.not.stringMatching('0.000001') },
  });
  const pretended = await database.query(
    `select agent, sum(count)::int as "masqueradeAttempts" from observation where tenant_id = $1 and sig_invalid and at >= now() - interval '7 days'
     group by 1 order by 2 desc, 1`,
    [tenantId],
  );
  expect(seen.masqueraded).toEqual(pretended.slice(0, 5));
  expect(seen.masqueradeAttempts).toBe(pretended.reduce((sum, row) => sum + Number(row['masqueradeAttempts']), 0));
  expect(seen.masqueradeAttempts).toBeGreaterThan(0);
  expect((await look(other.key)).failingEndpoints).toEqual([]);
});

test('each part takes its own scope, and all of it a handful of statements', async () => {
  const { database, pepper } = graph.api.deps;
  const { token } = await mintKey({ database, pepper }, { tenantId: site.tenantId, name: 'audit', scopes: ['audit.read'] });
  const { data, errors } = await graph.ask(token, QUERY);
  const { attention } = data.tenant;
  expect([attention.failingEndpoints, attention.failingDeliveries, attention.hosts, attention.raisedPrice]).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect([attention.rules.length, errors.length]).toEqual([1, 7]);
  graph.count();
  await look(site.key);
  expect(graph.count()).toBeLessThanOrEqual(14);
});
