import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRule } from '../../modules/anomalies/use/rules.ts';
import { recordLiveness } from '../../modules/gate/store/enforcement.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { DAY, startBusySite } from '../support/busy-site.ts';
import { sellLicence } from '../support/owner-world.ts';
import { insertPurchases, insertSeen, seenOn } from '../support/reports.ts';

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
    [1, 2, 8].map((days) =>
      seenOn(
        { tenantId, host: hosts[0]! },
        {
          slug: 'nobody',
          verdict: 'served-free',
          micro: null,
          reason: 'no_credits',
          paymentId: randomUUID(),
          agent: 'other',
          atMs: nowMs - days * DAY,
        },
      ),
    ),
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
    `select agent, sum(count)::int as "masqueradeAttempts" from observation where tenant_id = $1 and sig_invalid and classified_as = 'agent'
       and at >= now() - interval '7 days' group by 1 order by 2 desc, 1`,
    [tenantId],
  );
  expect(seen.masqueraded).toEqual(pretended.slice(0, 5));
  expect(seen.masqueradeAttempts).toBe(pretended.reduce((sum, row) => sum + Number(row['masqueradeAttempts']), 0));
  expect(seen.masqueradeAttempts).toBeGreaterThan(0);
  expect((await look(other.key)).failingEndpoints).toEqual([]);
});

test('money that waits is that of live payments which are not settled, not final, or in review, whatever carried them', async () => {
  const { database } = graph.api.deps;
  const site = await graph.api.site();
  const { tenantId, host } = site;
  const sale = (n: number) => ({
    tenantId,
    host,
    slug: 'solo',
    kind: 'read' as const,
    atMs: nowMs - n * 60_000,
    steps: 1,
    legs: [{ toAddress: `0x${'a'.repeat(40)}`, amountMicro: 1_000 + n }],
  });
  const ids = await insertPurchases(
    database,
    Array.from({ length: 40 }, (_, n) => sale(n)),
  );
  const set = (n: number, state: string, more = '') =>
    database.query(`update payment_state set state = $3 ${more} where tenant_id = $1 and payment_id = any($2)`, [
      tenantId,
      ids.filter((_, at) => at % 10 === n),
      state,
    ]);
  await set(0, 'accepted');
  await set(1, 'broadcast');
  await set(2, 'held');
  await set(3, 'review', ', watched = true');
  await set(4, 'review', ', review_closed_at = now()');
  await set(5, 'final', ', final_at = now()');
  await set(6, 'failed', ", reason = 'insufficient_funds'");
  for (const [n, isFinal] of [
    [7, false],
    [8, true],
  ] as const) {
    const [batchId, carried] = [randomUUID(), ids.filter((_, at) => at % 10 === n)];
    await database.query(
      `insert into settlement_batch (batch_id, network, relayer, kind, nonce, final_at, tenant_ids, payment_ids)
       values ($1, 'eip155:84532', '0x9', 'settle', $2, case when $3 then now() end, $4, $5)`,
      [batchId, 100 + n, isFinal, carried.map(() => tenantId), carried],
    );
    await database.query(
      'update payment_state set batch_id = $3, own_finality = false where tenant_id = $1 and payment_id = any($2)',
      [tenantId, carried, batchId],
    );
  }
  const query =
    '{ tenant { attention { waiting { total { payments micro oldestAt } unsettled { payments micro oldestAt } unfinal { payments micro oldestAt } review { payments micro oldestAt } } } } }';
  const { data } = await graph.ask(site.key, query);
  const rows = await database.query<{ stage: string } & Record<string, unknown>>(
    `select case when s.state in ('accepted', 'broadcast', 'held') then 'unsettled' when s.state = 'settled' then 'unfinal' else s.state end as stage,
       count(*)::int as payments, sum(i.amount_micro)::text as micro, (extract(epoch from min(i.accepted_at)) * 1000)::float8 as "oldestAt"
     from payment_state s join payment_intake i using (tenant_id, payment_id) left join settlement_batch b using (batch_id)
     where tenant_id = $1 and s.mode = 'live' and s.review_closed_at is null
       and s.state not in ('failed', 'final') and (s.state <> 'settled' or b.final_at is null) group by 1`,
    [tenantId],
  );
  const { total, ...stages } = data.tenant.attention.waiting;
  expect(stages).toEqual(Object.fromEntries(rows.map(({ stage, ...sums }) => [stage, sums])));
  const micro = rows.reduce((sum, row) => sum + BigInt(String(row['micro'])), 0n);
  expect(total).toEqual({
    payments: 24,
    micro: String(micro),
    oldestAt: Math.min(...rows.map((row) => Number(row['oldestAt']))),
  });
  expect(rows.map(({ payments }) => Number(payments)).sort((a, b) => a - b)).toEqual([4, 8, 12]);
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
