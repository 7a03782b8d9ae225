import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operatorOf } from '../../modules/gate/rules/agent.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import { shareGas } from '../../modules/settlement/rules/gasShare.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { DAY, SPAN, startBusySite } from '../support/busy-site.ts';
import type { Seen } from '../support/reports.ts';
import { insertPurchases, insertSeen, seenOn } from '../support/reports.ts';

/** Facts that reports lacked: what batches cost, how long webhooks take, who set which price, who runs agents; each is what SQL says. */

let { graph, site, hosts, nowMs } = {} as Awaited<ReturnType<typeof startBusySite>>;
beforeAll(async () => {
  ({ graph, site, hosts, nowMs } = await startBusySite());
});
afterAll(() => graph?.stop());

async function ask(query: string, variables = {}, bearer = site.key) {
  const { data, errors } = await graph.ask(bearer, query, variables);
  expect(errors).toEqual([]);
  return data.tenant;
}
const sql = (statement: string, values: unknown[] = [site.tenantId]) => graph.api.deps.database.query(statement, values);

test('what batches carried and cost is what SQL says, and this site’s part of a fee is what it was charged', async () => {
  const { tenantId } = site;
  const sale = (n: number) => ({
    tenantId,
    host: hosts[0]!,
    slug: 'solo',
    kind: 'read' as const,
    atMs: nowMs - n * 1_000,
    steps: 1,
    legs: [{ toAddress: `0x${'a'.repeat(40)}`, amountMicro: 1_000 }],
  });
  const ids = await insertPurchases(
    graph.api.deps.database,
    Array.from({ length: 20 }, (_, n) => sale(n)),
  );
  const others = [randomUUID(), randomUUID()];
  let ownFee = 0n;
  for (let n = 0; n < 8; n++) {
    const mine = ids.slice(n * 2, n * 2 + 2);
    const weights = new Map([
      [tenantId, BigInt(n * 7_919)],
      ...others.slice(0, n % 3).map((other, m) => [other, BigInt(m + 1_000_003)] as const),
    ]);
    const fee = 10n ** 15n + BigInt(n) * 7n;
    const isMined = n !== 7;
    if (isMined) ownFee += [...weights.values()].some((weight) => weight > 0n) ? shareGas(fee, weights).get(tenantId)! : 0n;
    const batchId = randomUUID();
    await sql(
      `insert into settlement_batch (batch_id, network, relayer, kind, nonce, gas_shares, gas_wei, gas_used, tenant_ids, payment_ids)
       values ($1, $2, '0x1', 'settle', $3, $4, $5, $6, $7, $8)`,
      [
        batchId,
        n < 5 ? 'eip155:84532' : 'eip155:8453',
        n,
        JSON.stringify(Object.fromEntries([...weights].map(([key, weight]) => [key, String(weight)]))),
        isMined ? String(fee) : null,
        isMined && n > 0 ? 100_000 + n : null,
        [tenantId, ...others],
        [...mine, ...Array.from({ length: n }, () => randomUUID())],
      ],
    );
    await sql('update payment_state set batch_id = $3 where tenant_id = $1 and payment_id = any($2)', [tenantId, mine, batchId]);
  }
  const { batches } = await ask(`{ tenant { batches(window: { lastHours: 5 }) { networks { network batches payments ownPayments
    paymentsABatch { p50 p95 } gasUsed gasAPayment { p50 p95 } feeWei ownFeeWei } } } }`);
  const rows = await sql(
    `with b as (select *, cardinality(payment_ids) as n, (select count(*) from payment_state s where s.tenant_id = $1 and s.batch_id = b.batch_id) as own
       from settlement_batch b where $1::uuid = any (tenant_ids) and gas_wei is not null)
     select network, count(*)::int as batches, sum(n)::int as payments, sum(own)::int as "ownPayments", sum(gas_used)::text as "gasUsed", sum(gas_wei)::text as "feeWei",
       percentile_disc(0.5) within group (order by n)::int as p50, percentile_disc(0.95) within group (order by n)::int as p95,
       percentile_disc(0.5) within group (order by gas_used / n)::int as gas50 from b group by 1 order by 2 desc`,
  );
  type Shown = { paymentsABatch: object; gasAPayment: { p50: number }; ownFeeWei: string };
  const shown = batches.networks.map(({ paymentsABatch, gasAPayment, ownFeeWei: _own, ...rest }: Shown) => ({
    ...rest,
    ...paymentsABatch,
    gas50: gasAPayment.p50,
  }));
  expect(shown).toEqual(rows);
  expect(batches.networks.reduce((sum: bigint, row: { ownFeeWei: string }) => sum + BigInt(row.ownFeeWei), 0n)).toBe(ownFee);
  const { payment } = await ask(
    'query ($id: ID!) { tenant { payment(paymentId: $id) { batch { payments gasUsed feeWei ownFeeWei } } } }',
    { id: ids[6] },
  );
  const weights = new Map([[tenantId, 3n * 7_919n]]);
  expect(payment.batch).toEqual({
    payments: 5,
    gasUsed: '100003',
    feeWei: String(10n ** 15n + 21n),
    ownFeeWei: String(shareGas(10n ** 15n + 21n, weights).get(tenantId)),
  });
});

test('how long webhooks take is what SQL says of the deliveries made with their events; those that fail are counted', async () => {
  const { database } = graph.api.deps;
  const { tenantId } = site;
  const { secretBox, outbound } = graph;
  const endpoints: string[] = [];
  for (const name of ['a', 'b']) {
    const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, {
      url: `https://${name}.example.com/`,
    });
    endpoints.push(endpointId);
    for (let n = 0; n < 12; n++) {
      const { deliveryId } = await pingEndpoint({ database }, tenantId, endpointId);
      if (n === 11) continue; // not tried yet
      // From the event, which has the time of this process: the database's began its transaction before, by as long as it took.
      await sql(
        `insert into delivery_attempt (tenant_id, delivery_id, attempt, started_at, duration_ms, status, response_start)
           select $1, $2, 1, v.created_at + $3 * interval '1 millisecond', 5, 200, ''
             from delivery join webhook_event v using (tenant_id, event_id) where tenant_id = $1 and delivery_id = $2`,
        [tenantId, deliveryId, 10 + n * n],
      );
      await sql(
        `update delivery d set attempts = 1, body = '{}', state = $3, retrying = $3 = 'pending',
           decided_at = case when $3 = 'delivered' then v.created_at + $4 * interval '1 millisecond' end
           from webhook_event v where v.tenant_id = d.tenant_id and v.event_id = d.event_id and d.tenant_id = $1 and d.delivery_id = $2`,
        [tenantId, deliveryId, n % 4 === 0 ? 'pending' : 'delivered', 40 + n * 31],
      );
    }
  }
  const query =
    'query ($id: ID) { tenant { webhookTimes(window: { lastHours: 1 }, endpointId: $id) { firstAttempt { deliveries p50Ms p95Ms } delivered { deliveries p50Ms p95Ms } failing } } }';
  for (const id of [null, endpoints[1]]) {
    const { webhookTimes } = await ask(query, { id });
    const [row] = await sql(
      `select count(*) filter (where a.started_at is not null)::int as tried, count(*) filter (where d.state = 'delivered')::int as delivered,
         count(*) filter (where d.state = 'pending' and d.attempts > 0)::int as failing,
         percentile_disc(0.5) within group (order by extract(epoch from a.started_at - v.created_at) * 1000)::int as p50,
         percentile_disc(0.95) within group (order by extract(epoch from d.decided_at - v.created_at) * 1000)::int as p95
       from webhook_event v join delivery d using (tenant_id, event_id) left join delivery_attempt a using (tenant_id, delivery_id)
       where tenant_id = $1 and ($2::uuid is null or d.endpoint_id = $2)`,
      [tenantId, id],
    );
    expect([webhookTimes.firstAttempt.deliveries, webhookTimes.delivered.deliveries, webhookTimes.failing]).toEqual([
      row!['tried'],
      row!['delivered'],
      row!['failing'],
    ]);
    expect([webhookTimes.firstAttempt.p50Ms, webhookTimes.delivered.p95Ms]).toEqual([row!['p50'], row!['p95']]);
  }
  const { deliveries } = await ask(
    '{ tenant { deliveries(filter: { failing: true }, first: 100) { totalCount nodes { state attemptCount } } } }',
  );
  expect([deliveries.totalCount, deliveries.nodes.length]).toEqual([6, 6]);
  const { rest } = await ask('{ tenant { rest: deliveries(filter: { failing: false }, first: 1) { totalCount } } }');
  expect(rest.totalCount).toBe(18);
  const plan = await sql(
    `explain select d.delivery_id from delivery d where d.tenant_id = $1 and d.state = 'pending' and d.attempts > 0 order by d.delivery_id desc limit 3`,
  );
  expect(JSON.stringify(plan)).toMatch(/delivery_failing/);
});

test('each price of a site has what it was before, and for owners who set it', async () => {
  const { database } = graph.api.deps;
  const { tenantId } = site;
  const by = (userId: string) => ({ tenantId, actor: { userId, via: 'token' } }) as const;
  await changePricing({ database }, by('ada'), 'price.set', { priceUsdc: '0.02' });
  await changePricing({ database }, by('bob'), 'price.set', { priceUsdc: '0.02', citationMultiplier: '3' });
  await changePricing({ database }, by('bob'), 'prefixes.set', { articlePrefixes: ['/x/'] }); // no other price
  await changePricing({ database }, by('eve'), 'price.set', { priceUsdc: '0.05', citationMultiplier: null });
  const query =
    'query ($after: String) { tenant { priceHistory(first: 2, after: $after) { totalCount pageInfo { endCursor } nodes { version at from { priceUsdc citationMultiplier } to { priceUsdc citationMultiplier } actorId actorVia } } } }';
  const owner = await graph.owner(tenantId);
  const first = (await ask(query, {}, owner)).priceHistory;
  const { nodes } = (await ask(query, { after: first.pageInfo.endCursor }, owner)).priceHistory;
  const all = [...first.nodes, ...nodes];
  const versions = await sql('select version, valid_from from tenant_pricing where tenant_id = $1 order by version', [tenantId]);
  expect([first.totalCount, all.map(({ version }) => version)]).toEqual([
    4,
    [5, 3, 2, 1].map((n) => versions.at(n - 1)!['version']),
  ]);
  const [start] = await sql(
    "select pricing ->> 'priceUsdc' as price, pricing ->> 'citationMultiplier' as times from tenant_pricing where tenant_id = $1 order by version limit 1",
  );
  const old = { priceUsdc: start!['price'], citationMultiplier: start!['times'] };
  expect(all.map(({ actorId, from, to }) => [actorId, from, to])).toEqual([
    ['eve', { priceUsdc: '0.02', citationMultiplier: '3' }, { priceUsdc: '0.05', citationMultiplier: null }],
    ['bob', { priceUsdc: '0.02', citationMultiplier: old.citationMultiplier }, { priceUsdc: '0.02', citationMultiplier: '3' }],
    ['ada', old, { priceUsdc: '0.02', citationMultiplier: old.citationMultiplier }],
    [null, null, old],
  ]);
  expect(all.map(({ at }) => at)).toEqual([5, 3, 2, 1].map((n) => (versions.at(n - 1)!['valid_from'] as Date).getTime()));
  const { token } = await mintKey(
    { database, pepper: graph.api.deps.pepper },
    { tenantId, name: 'tenant', scopes: ['tenant.read'] },
  );
  const { data, errors } = await graph.ask(token, query);
  expect([
    data.tenant.priceHistory.nodes[0].to.priceUsdc,
    data.tenant.priceHistory.nodes[0].actorId,
    errors[0]?.extensions.code,
  ]).toEqual(['0.05', null, 'FORBIDDEN']);
});

const SUMS =
  'hits paid denied paymentFailed servedFree verifiedHits masqueradeAttempts earnedMicro verifiedEarnedMicro missedMicro failedMicro';
const PLAIN = `sum(count)::int as hits, coalesce(sum(count) filter (where verdict = 'paid'), 0)::int as paid, coalesce(sum(count) filter (where verdict = 'denied'), 0)::int as denied,
  coalesce(sum(count * micro) filter (where verdict = 'paid'), 0)::text as "earnedMicro", coalesce(sum(count * micro) filter (where verdict = 'paid' and verified), 0)::text as "verifiedEarnedMicro",
  coalesce(sum(count) filter (where sig_invalid), 0)::int as "masqueradeAttempts"`;

test('an agent that signs is shown with what its directory says of it, and nobody else is', async () => {
  const host = 'bot.said.example';
  const signed = { agent: host, verified: true, verifiedAgent: host, atMs: nowMs - 1_000 };
  await insertSeen(graph.api.deps.database, [seenOn({ tenantId: site.tenantId, host: hosts[0]! }, signed)]);
  const directory = `insert into agent_directory (address, type, host, read_at, fresh_until, keys, operator, purpose) values ($1, $2, $3, now(), now(), '{}', $4, 'search')`;
  await sql(directory, [`https://${host}/x`, 'directory', host, 'Said & Co']);
  await sql(directory, ['https://gptbot/x', 'directory', 'gptbot', 'nobody']);
  const { agents } = await ask(
    '{ tenant { agents(window: { lastDays: 2 }, first: 100) { nodes { agent ownWords { operator purpose } } } } }',
  );
  const said = (agents.nodes as { agent: string; ownWords: unknown }[]).filter(({ ownWords }) => ownWords !== null);
  expect(said).toEqual([{ agent: host, ownWords: { operator: 'Said & Co', purpose: 'search' } }]);
});

test('operators have the sums of their agents, and all of them together those of the audit, over random windows', async () => {
  const seen = (agent: string, n: number): Seen =>
    seenOn(
      { tenantId: site.tenantId, host: hosts[n % 2]! },
      {
        verdict: ['paid', 'denied'][n % 2]!,
        micro: 1_000 + n,
        agent,
        agentUa: agent,
        verified: n % 4 === 0,
        sigInvalid: n % 5 === 0,
        atMs: nowMs - n * DAY,
      },
    );
  const labels = ['claudebot', 'claude.ai', 'api.anthropic.com', 'oai-searchbot', 'chatgpt.com', 'notopenai.com'];
  await insertSeen(
    graph.api.deps.database,
    labels.flatMap((label, n) => Array.from({ length: 8 }, (_, m) => seen(label, n + m))),
  );
  const query = `query ($window: WindowInput, $host: String) { tenant { operators(window: $window, host: $host, first: 100) { nodes { name isKnown agents ${SUMS} } }
    agents(window: $window, host: $host, first: 100) { nodes { agent operator } } audit(window: $window, host: $host) { totals { agentHits } } } }`;
  await fc.assert(
    fc.asyncProperty(fc.nat(SPAN), fc.nat(SPAN), fc.constantFrom(null, hosts[0]), async (from, length, host) => {
      const window = { from: nowMs - SPAN + from, to: nowMs - SPAN + from + length };
      const { operators, agents, audit } = await ask(query, { window, host });
      const rows = await sql(
        `select agent, ${PLAIN} from observation where tenant_id = $1 and classified_as = 'agent' and at >= to_timestamp($2 / 1000.0) and at < to_timestamp($3 / 1000.0) and ($4::text is null or host = $4) group by 1`,
        [site.tenantId, window.from, window.to, host],
      );
      for (const { name, agents: members, isKnown, ...sums } of operators.nodes) {
        const mine = rows.filter(({ agent }) => (operatorOf(String(agent)) ?? agent) === name);
        expect([members.toSorted(), isKnown]).toEqual([
          mine.map(({ agent }) => agent).toSorted(),
          operatorOf(String(mine[0]!['agent'])) !== null,
        ]);
        for (const measure of ['hits', 'paid', 'denied', 'masqueradeAttempts', 'earnedMicro', 'verifiedEarnedMicro'])
          expect(Number(sums[measure])).toBe(mine.reduce((sum, row) => sum + Number(row[measure]), 0));
      }
      expect(operators.nodes.reduce((sum: number, { hits }: { hits: number }) => sum + hits, 0)).toBe(audit.totals.agentHits);
      expect(operators.nodes.reduce((sum: bigint, row: { earnedMicro: string }) => sum + BigInt(row.earnedMicro), 0n)).toBe(
        rows.reduce((sum, row) => sum + BigInt(String(row['earnedMicro'])), 0n),
      );
      for (const { agent, operator } of agents.nodes) expect(operator).toBe(operatorOf(agent));
    }),
    { numRuns: 10 },
  );
});

test('an operator is the one whom the list of crawlers names, and a host says no more than its owner', () => {
  const list = JSON.parse(readFileSync('packages/publisher/bin/robots.json', 'utf8')) as Record<string, { operator: string }>;
  const named = Object.entries(list).filter(
    ([name, { operator }]) => operatorOf(name.toLowerCase()) !== null && !/unclear/i.test(operator),
  );
  for (const [name, { operator }] of named)
    expect(operator.replace(/^\[([^\]]*)\].*/, '$1').replace(/, a .*|\/.*/, '')).toBe(operatorOf(name.toLowerCase()));
  expect(named.length).toBeGreaterThan(15);
  const names = ['claude.ai', 'bot.claude.ai', 'notclaude.ai', 'claude.ai.example', 'other', 'constructor', '__proto__', ''];
  expect(names.map(operatorOf)).toEqual(['Anthropic', 'Anthropic', null, null, null, null, null, null]);
});

test('the largest names inside `other` and the rest are what the label has; hostile names stay text and short', async () => {
  const other = await graph.api.site({ plan: 'studio' });
  const names = [
    ...Array.from({ length: 30 }, (_, n) => `Reader ${n}/1`),
    '<script>alert(1)</script>',
    '=cmd|x',
    `${'é'.repeat(199)}\u{1f600}${'x'.repeat(900)}`,
    `${'é'.repeat(199)}\u{1f600}y`,
  ];
  await insertSeen(
    graph.api.deps.database,
    names.flatMap((agentUa, n) =>
      Array.from(
        { length: 1 + (n < 30 ? n : 70 - n) },
        (_, m): Seen =>
          seenOn(other, {
            verdict: ['paid', 'denied', 'blocked'][m % 3]!,
            micro: 500 + m,
            agent: m % 7 === 6 ? 'gptbot' : 'other',
            agentUa,
            verified: m % 4 === 0,
            sigInvalid: m % 5 === 0,
            atMs: nowMs - m * 60_000,
          }),
      ),
    ),
  );
  const query = `{ tenant { otherAgents(window: { lastDays: 2 }) { restNames rest { ${SUMS} } agents { name isCut ${SUMS} } }
    agents(window: { lastDays: 2 }, first: 100) { nodes { agent ${SUMS} } } } }`;
  const { otherAgents, agents } = await ask(query, {}, other.key);
  const rows = await sql(
    `select left(agent_ua, 200) as name, ${PLAIN} from observation where tenant_id = $1 and agent = 'other' group by 1 order by sum(count) desc, 1`,
    [other.tenantId],
  );
  const shown = otherAgents.agents.map(
    ({ name, hits, paid, denied, earnedMicro, verifiedEarnedMicro, masqueradeAttempts }: Record<string, unknown>) => ({
      name,
      hits,
      paid,
      denied,
      earnedMicro,
      verifiedEarnedMicro,
      masqueradeAttempts,
    }),
  );

  expect(shown).toEqual(rows.slice(0, 20));
  expect(otherAgents.agents.filter(({ isCut }: { isCut: boolean }) => isCut)).toMatchObject([
    { name: [...names.at(-1)!].slice(0, 200).join('') },
  ]);
  expect([otherAgents.agents.length, otherAgents.restNames]).toEqual([20, rows.length - 20]);
  const label = agents.nodes.find(({ agent }: { agent: string }) => agent === 'other');
  for (const measure of SUMS.split(' ')) {
    const listed = otherAgents.agents.reduce((sum: number, row: Record<string, string>) => sum + Number(row[measure]), 0);
    expect([measure, listed + Number(otherAgents.rest[measure])]).toEqual([measure, Number(label[measure])]);
  }
  const { name, hits } = otherAgents.agents.find(({ isCut }: { isCut: boolean }) => !isCut);
  const { audit } = await ask(
    'query ($agent: String) { tenant { audit(window: { lastDays: 2 }, agent: $agent) { totals { observations } } } }',
    { agent: name },
    other.key,
  );
  expect(audit.totals.observations).toBeGreaterThanOrEqual(hits);
});
