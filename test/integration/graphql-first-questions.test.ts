import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXAMPLES } from '../../graphql/schema/examples.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { askedOf, startBusySite, WALLETS } from '../support/busy-site.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { insertPurchases } from '../support/reports.ts';
import { runPass } from '../support/webhook-pass.ts';

/** The ten oldest questions of docs/graphql.md and that about failing webhooks: each answer is that of plain SQL over the same rows. */

let world: Awaited<ReturnType<typeof startBusySite>>;
let ask: ReturnType<typeof askedOf>['ask'];
let sql: ReturnType<typeof askedOf>['sql'];
let receivers: readonly Receiver[];

beforeAll(async () => {
  world = await startBusySite();
  ({ ask, sql } = askedOf(world));
  await failPayments();
  await payDirectly();
  receivers = [await startReceiver(), await startReceiver()];
  await sendWebhooks();
});
afterAll(async () => {
  for (const receiver of receivers ?? []) await receiver.stop();
  await world?.graph.stop();
});

/** Thirteen payments that failed, for three reasons. */
async function failPayments(): Promise<void> {
  await sql(
    `insert into test.payment (tenant_id, payment_id, network, asset, payer, pay_to, nonce, valid_after, valid_before, signature, x402_version,
       host, slug, resource, resource_key, kind, amount_micro, legs, router, binding, state, reason, sentence, at)
     select $1, gen_random_uuid(), 'eip155:84532', '0xasset', '0x' || repeat(n::text, 20), '0xpayto', 'failed ' || n, 0, 1, '0x', 2,
       'one.parity.example', 'solo', 'https://x', 'x', 'read', 1000 + n,
       jsonb_build_array(jsonb_build_object('toAddress', '${WALLETS[0]}', 'amountMicro', (1000 + n)::text, 'role', 'author')),
       '0xrouter', 'b', 'failed', (array['insufficient_funds', 'authorization_invalid', 'settlement_failed'])[n % 3 + 1], 'It failed: ' || n, now()
     from generate_series(10, 22) as n`,
  );
}

/** Thirty payments straight to their author. The chain shows twenty of them, five with another amount, and five not at all. */
async function payDirectly(): Promise<void> {
  const payTo = WALLETS[0]!;
  const ids = await insertPurchases(
    world.graph.api.deps.database,
    Array.from({ length: 30 }, (_, n) => ({
      tenantId: world.site.tenantId,
      host: world.hosts[0]!,
      slug: 'direct',
      kind: 'read' as const,
      steps: 1,
      payTo,
      atMs: world.nowMs - n * 3_600_000,
      legs: [{ toAddress: payTo, amountMicro: 2_000 + n, authorId: 'ann' }],
    })),
  );
  const { database } = world.graph.api.deps;
  await database.query(
    `insert into chain_transfer (network, tx_hash, log_position, log_index, block_number, block_hash, block_time, token, from_address,
       to_address, amount_micro, nonce)
     select p.network, p.tx_hash, 1, 1, 5, '\\x0b', now(), p.asset, p.payer, p.pay_to, p.amount_micro - case when n > 20 then 1 else 0 end, p.nonce
     from unnest($2::uuid[]) with ordinality as sold (id, n) join payment p on p.tenant_id = $1 and p.payment_id = id where n <= 25`,
    [world.site.tenantId, ids],
  );
  await database.query(
    `with batch as (
       insert into settlement_batch (batch_id, network, relayer, kind, workflow_id, nonce, state, tenant_ids, payment_ids)
       values (gen_random_uuid(), 'eip155:84532', '0x1', 'settle', 'settle:eip155:84532:first', 7, 'mined',
         array_fill($1::uuid, array[cardinality($2::uuid[])]), $2) returning batch_id
     ) update payment_state set batch_id = (select batch_id from batch), block_number = 5,
         state = case when payment_id = any($3::uuid[]) then 'final' else state end,
         final_at = case when payment_id = any($3::uuid[]) then now() end
       where tenant_id = $1 and payment_id = any($2::uuid[])`,
    [world.site.tenantId, ids.slice(0, 28), ids.slice(0, 9)],
  );
}

/** Events for two receivers, of which one answers 500 once. */
async function sendWebhooks(): Promise<void> {
  const { api, outbound, secretBox } = world.graph;
  const deps = { database: api.deps.database, secretBox, outbound };
  const [good, bad] = receivers;
  bad?.answer((response) => {
    response.statusCode = 500;
    response.end('down');
  });
  for (const receiver of [good, bad, bad]) {
    const { endpointId } = await createEndpoint(deps, world.site.tenantId, { url: receiver!.url });
    await pingEndpoint(deps, world.site.tenantId, endpointId);
  }
  await runPass(deps);
}

const NET = 'sum(case when sequence % 2 = 0 then 1 else -1 end)';
const HITS = 'coalesce(sum(count), 0)::int';
const hitsOf = (condition: string): string => `coalesce(sum(count) filter (where ${condition}), 0)::int`;
const microOf = (condition: string): string => `coalesce(sum(count * micro) filter (where ${condition}), 0)::text`;
const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

test('the agents that earned most are those with the largest sums of paid requests', async () => {
  const { nodes } = (await ask('earnedByAgent')).agents;
  const rows = await sql(
    `select agent, ${microOf("verdict = 'paid'")} as "earnedMicro", ${hitsOf("verdict = 'paid'")} as paid, ${HITS} as hits
     from observation where tenant_id = $1 and classified_as = 'agent' and at >= now() - interval '7 days' group by agent
     order by sum(count * micro) filter (where verdict = 'paid') desc nulls last, agent limit 10`,
  );
  expect(nodes).toEqual(rows);
  expect(nodes.length).toBe(3);
});

test('authors wait for the legs that stand and that no transfer of their amount shows, each leg with its reason', async () => {
  const { outstanding, waiting } = (await ask('authorsWaiting')).reconciliation;
  const open = `select l.to_address as wallet, l.amount_micro as micro, c.recorded_at,
      case when t.tx_hash is null then 'MISSING_RECEIPT' else 'AMOUNT_MISMATCH' end as reason
    from leg l join crossing c on c.tenant_id = l.tenant_id and c.crossing_id = l.crossing_id
      join payment p on p.tenant_id = l.tenant_id and p.payment_id = l.payment_id
      left join chain_transfer t on t.from_address = p.payer and t.nonce = p.nonce
    where l.tenant_id = $1 and c.at >= now() - interval '30 days' and c.sequence = 0 and t.amount_micro is distinct from p.amount_micro
      and not exists (select from crossing k where k.tenant_id = $1 and k.payment_id = c.payment_id and k.sequence = 1)`;
  const [all] = await sql(`select count(*)::int as legs, sum(micro)::text as "amountMicro" from (${open}) o`);
  expect(outstanding).toEqual(all);
  const rows = await sql(
    `select wallet, sum(micro)::text as "amountMicro", sum(legs)::int as legs, ${ms('min(recorded_at)')} as "oldestAt",
       jsonb_agg(jsonb_build_object('reason', reason, 'legs', legs, 'amountMicro', micro::text) order by micro desc) as reasons
     from (select wallet, reason, sum(micro) as micro, count(*) as legs, min(recorded_at) as recorded_at from (${open}) o group by 1, 2) g
     group by wallet order by sum(micro) desc`,
  );
  type Node = { readonly wallet: string };
  expect(waiting.nodes.map((node: Node) => ({ ...node, wallet: node.wallet.toLowerCase() }))).toEqual(rows);
  const reasons = waiting.nodes.flatMap((node: { reasons: { reason: string }[] }) => node.reasons.map(({ reason }) => reason));
  expect(new Set(reasons)).toEqual(new Set(['MISSING_RECEIPT', 'AMOUNT_MISMATCH']));
});

test('the pages that are refused most, with what they would have brought', async () => {
  const { nodes } = (await ask('pathsRefused')).audit.breakdown;
  const rows = await sql(
    `select slug as key, ${hitsOf("verdict = 'denied'")} as denied, ${HITS} as hits, ${microOf("verdict in ('denied', 'blocked')")} as "missedMicro"
     from observation where tenant_id = $1 and at >= now() - interval '7 days' group by slug order by denied desc, key limit 10`,
  );
  expect(nodes).toEqual(rows);
  expect(nodes.length).toBe(2);
});

test('what was earned this week stands beside the seven days before', async () => {
  const { totals, previous } = (await ask('weekAgainstWeek')).earnings;
  const [now] = await sql(
    `select sum(micro)::text as "grossMicro", ${NET}::int as events,
       (${NET} filter (where kind = 'read'))::int as reads, (${NET} filter (where kind = 'citation'))::int as citations,
       (select count(*)::int from (select to_address from leg join crossing c using (tenant_id, crossing_id)
          where tenant_id = $1 and c.at >= now() - interval '7 days' and role <> 'platform' group by 1 having ${NET} > 0) paid) as authors
     from crossing where tenant_id = $1 and at >= now() - interval '7 days'`,
  );
  const [before] = await sql(
    `select sum(micro)::text as "grossMicro", ${NET}::int as events
     from crossing where tenant_id = $1 and at >= now() - interval '14 days' and at < now() - interval '7 days'`,
  );
  expect([totals, previous]).toEqual([now, before]);
});

test('the pages that earn most', async () => {
  const { totalCount, nodes } = (await ask('bestPages')).earnings.breakdown;
  const rows = await sql(
    `select slug as key, sum(micro)::text as "grossMicro", coalesce(${NET} filter (where kind = 'read'), 0)::int as reads,
       coalesce(${NET} filter (where kind = 'citation'), 0)::int as citations
     from crossing where tenant_id = $1 and at >= now() - interval '30 days' group by slug order by sum(micro) desc limit 10`,
  );
  expect(nodes).toEqual(rows);
  expect([totalCount, nodes.length]).toEqual([4, 4]);
});

test('what each author was paid, and the newest lines of it', async () => {
  const { totalMicro, statements } = (await ask('statements')).statements;
  const legs = `from leg l join crossing c using (tenant_id, crossing_id)
    where l.tenant_id = $1 and l.role <> 'platform' and c.at >= now() - interval '30 days'`;
  const [all] = await sql(`select sum(amount_micro)::text as micro ${legs}`);
  expect(totalMicro).toBe(all!['micro']);
  const rows = await sql(
    `select to_address as wallet, (array_agg(author_id order by l.at desc) filter (where author_id is not null))[1] as "authorId",
       sum(amount_micro)::text as "grossMicro" ${legs} group by to_address order by sum(amount_micro) desc limit 5`,
  );
  const lines = await sql(
    `select * from (
       select to_address as wallet, l.slug, upper(l.kind) as kind, amount_micro::text as "amountMicro", share, ${ms('l.at')} as at,
         row_number() over (partition by to_address order by l.at desc, crossing_id desc) as place
       ${legs} and c.sequence = 0
         and not exists (select from crossing k where k.tenant_id = $1 and k.payment_id = c.payment_id and k.sequence = 1)
     ) line where place <= 3 order by wallet, place`,
  );
  const told = rows.map((row) => ({
    ...row,
    lines: { nodes: lines.filter(({ wallet }) => wallet === row['wallet']).map(({ wallet: _w, place: _p, ...line }) => line) },
  }));
  type Node = { readonly wallet: string };
  expect(statements.nodes.map((node: Node) => ({ ...node, wallet: node.wallet.toLowerCase() }))).toEqual(told);
  expect(statements.nodes.length).toBe(3);
});

test('why payments fail, counted by reason, and the last ones', async () => {
  const { audit, payments } = await ask('failedPayments');
  const { failedByReason, ...totals } = audit.totals;
  const failed = "verdict = 'payment-failed'";
  const [sums] = await sql(
    `select ${hitsOf(failed)} as "paymentFailed", ${microOf(failed)} as "failedMicro"
     from observation where tenant_id = $1 and at >= now() - interval '7 days'`,
  );
  const reasons = await sql(
    `select upper(reason) as reason, ${HITS} as count from observation
     where tenant_id = $1 and at >= now() - interval '7 days' and ${failed} group by 1 order by 1`,
  );
  const byName = (a: { reason: string }, b: { reason: string }): number => (a.reason < b.reason ? -1 : 1);
  expect(totals).toEqual(sums);
  expect(failedByReason.filter(({ count }: { count: number }) => count > 0).sort(byName)).toEqual(reasons);
  const rows = await sql(
    `select payment_id as "paymentId", upper(reason) as reason, sentence, payer, slug, amount_micro::text as "amountMicro", ${ms('accepted_at')} as "acceptedAt"
     from payment where tenant_id = $1 and state = 'failed' and accepted_at >= now() - interval '7 days'
     order by accepted_at desc, payment_id desc limit 10`,
  );
  expect(payments.nodes).toEqual(rows);
  expect(payments.nodes.length).toBe(10);
});

test('where the money of the newest payments is: evidence, batch, crossings and legs', async () => {
  const { nodes } = (await ask('paymentOnChain')).payments;
  const rows = await sql(
    `select payment_id as "paymentId", upper(p.state) as state, amount_micro::text as "amountMicro",
       jsonb_build_object('txHash', tx_hash, 'blockNumber', block_number::text, 'finalAt', ${ms('p.final_at')}) as evidence,
       case when b.batch_id is not null then jsonb_build_object('workflowId', workflow_id, 'state', b.state) end as batch,
       (select jsonb_agg(jsonb_build_object('amountMicro', c.micro::text, 'legs', (
            select jsonb_agg(jsonb_build_object('toAddress', to_address, 'amountMicro', l.amount_micro::text, 'role', upper(role)) order by ordinal)
            from leg l where l.tenant_id = $1 and l.crossing_id = c.crossing_id)) order by sequence)
          from crossing c where c.tenant_id = $1 and c.payment_id = p.payment_id) as crossings
     from payment p left join settlement_batch b using (batch_id) where p.tenant_id = $1
     order by accepted_at desc, payment_id desc limit 5`,
  );
  expect(JSON.parse(JSON.stringify(nodes).replaceAll(/0x[0-9a-fA-F]{40}"/g, (address) => address.toLowerCase()))).toEqual(rows);
});

test('who pretends to be somebody else: sums, and the newest requests with a false signature', async () => {
  const { audit, observations } = await ask('masqueraders');
  const [sums] = await sql(
    `select ${hitsOf('sig_invalid')} as "masqueradeAttempts", ${hitsOf('verified')} as "verifiedHits", ${hitsOf("classified_as = 'agent'")} as "agentHits",
       coalesce(sum(count * micro) filter (where verdict = 'paid' and verified), 0)::text as "verifiedEarnedMicro",
       coalesce(sum(count * micro) filter (where verdict = 'paid'), 0)::text as "earnedMicro"
     from observation where tenant_id = $1 and at >= now() - interval '7 days'`,
  );
  const rows = await sql(
    `select agent, agent_ua as "agentUa", sig_invalid as "sigInvalid", upper(replace(verdict, '-', '_')) as verdict, slug, ${ms('at')} as at
     from observation where tenant_id = $1 and sig_invalid and at >= now() - interval '7 days' order by observation.at desc, observation_id desc limit 10`,
  );
  expect([audit.totals, observations.nodes]).toEqual([sums, rows]);
  expect(rows.length).toBeGreaterThan(5);
});

const ATTEMPTS = (columns: string): string => `(select coalesce(jsonb_agg(jsonb_build_object(${columns}) order by attempt), '[]')
  from delivery_attempt a where a.tenant_id = $1 and a.delivery_id = d.delivery_id)`;
const EVENT = "upper(replace(v.type, '.', '_'))";
const ORIGIN = "substring(e.url from '^https?://[^/]+')";

test('whether webhooks arrive: endpoints as they stand, and the newest deliveries with their attempts', async () => {
  const { webhookEndpoints, deliveries } = await ask('webhooksHealth');
  const endpoints = await sql(
    `select ${ORIGIN} as origin, enabled, failures_in_row as "failuresInRow", upper(disabled_reason) as "disabledReason"
     from webhook_endpoint e where tenant_id = $1 and deleted_at is null order by created_at, endpoint_id`,
  );
  const rows = await sql(
    `select upper(state) as state, reason, jsonb_build_object('type', ${EVENT}, 'createdAt', ${ms('v.created_at')}) as event,
       ${ATTEMPTS("'status', status, 'durationMs', duration_ms, 'reason', a.reason")} as attempts
     from delivery d join webhook_event v using (tenant_id, event_id) where d.tenant_id = $1 order by delivery_id desc limit 5`,
  );
  expect(webhookEndpoints.nodes).toEqual(endpoints);
  expect(deliveries).toEqual({ totalCount: 3, nodes: rows });
  expect(rows.map(({ state }) => state).sort()).toEqual(['DELIVERED', 'PENDING', 'PENDING']);
});

test('the webhooks that fail just now are those tried in vain that will be tried again, each with why', async () => {
  const { deliveries } = await ask('failingWebhooks');
  const rows = await sql(
    `select ${ms('d.due_at')} as "dueAt", jsonb_build_object('type', ${EVENT}) as event,
       jsonb_build_object('origin', ${ORIGIN}, 'failuresInRow', e.failures_in_row) as endpoint,
       ${ATTEMPTS("'status', status, 'reason', a.reason")} as attempts
     from delivery d join webhook_event v using (tenant_id, event_id) join webhook_endpoint e using (tenant_id, endpoint_id)
     where d.tenant_id = $1 and d.state = 'pending' and d.attempts > 0 order by delivery_id desc limit 10`,
  );
  expect(deliveries).toEqual({ totalCount: 2, nodes: rows });
  for (const { attempts, endpoint } of deliveries.nodes) {
    expect([attempts[0].status, endpoint.origin]).toEqual([500, new URL(receivers[1]!.url).origin]);
  }
});

test('each of the eighteen questions stands beside plain SQL, here or in the file of the newer ones', () => {
  const texts = ['graphql-first-questions', 'graphql-questions'].map((name) =>
    readFileSync(new URL(`${name}.test.ts`, import.meta.url), 'utf8'),
  );
  const asked = new Set(texts.flatMap((text) => [...text.matchAll(/ask\('(\w+)'\)/g)].map(([, name]) => name)));
  expect([EXAMPLES.length, EXAMPLES.filter(({ name }) => !asked.has(name))]).toEqual([18, []]);
});
