/** What one choice reads of what waits: every site's oldest, and no more than a bounded number of rows, however much waits. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listWaiting } from '../../modules/settlement/store/queue.ts';
import { attempt } from '../support/faults.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';
import { planForeignKeysAnew } from '../support/sql.ts';

const SITES = 300;
const OF_THE_LARGE_ONE = 3_000;
/** Rows of one statement, so that each ends within its time on a machine in use. */
const COPIES_AT_ONCE = 500;

let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 10 });
  const terms = termsFor(world, newAuthors(2n, 1n));
  expect((await attempt(world, terms, await paymentFor(world, await newPayer(world), terms))).code).toBe('settlement_pending');
});
afterAll(() => world.close());

/** Copies of the first payment: of other sites, each a second younger than the one before it. */
async function copies(tenantIds: readonly string[], changes: Record<string, unknown> = {}): Promise<void> {
  for (let from = 0; from < tenantIds.length; from += COPIES_AT_ONCE) {
    const some = tenantIds.slice(from, from + COPIES_AT_ONCE);
    await world.database.transaction(async (sql) => {
      await planForeignKeysAnew(sql);
      await sql.query(
        `insert into test.payment select (jsonb_populate_record(model, $2::jsonb || jsonb_build_object('payment_id', uuidv7(),
         'tenant_id', copy.tenant_id, 'accepted_at', model.accepted_at + make_interval(secs => $4 + copy.position)))).*
         from payment model, unnest($1::uuid[]) with ordinality as copy (tenant_id, position)
        where model.payment_id = (select payment_id from payment where tenant_id = $3 order by accepted_at limit 1)`,
        [some, JSON.stringify(changes), world.tenantId, from],
      );
    });
  }
}

const read = (from: string) => listWaiting(world.database, world.network.id, from);

test('every site has its oldest payments in a choice, held and test payments are never in it, and a large site has no more than its part', async () => {
  const small = Array.from({ length: 20 }, () => randomUUID());
  await world.database.query("insert into tenant (tenant_id, status, price_usdc) select unnest($1::uuid[]), 'active', '0.001'", [
    small,
  ]);
  await copies(Array.from({ length: OF_THE_LARGE_ONE }, () => world.tenantId));
  await copies(small);
  await copies(small, { state: 'held' });
  await copies(small, { mode: 'mock' });
  const rows = await read(randomUUID());
  const bySite = Map.groupBy(rows, ({ tenantId }) => tenantId);
  expect([...bySite.keys()].sort()).toEqual([world.tenantId, ...small].sort());
  for (const site of small) expect(bySite.get(site)).toHaveLength(1);
  const large = bySite.get(world.tenantId) ?? [];
  expect(large).toHaveLength(Math.floor(480 / 21));
  expect(
    Math.max(...large.map(({ acceptedAtMs }) => acceptedAtMs)) - Math.min(...large.map(({ acceptedAtMs }) => acceptedAtMs)),
  ).toBe((large.length - 1) * 1_000);
  expect(large[0]).toMatchObject({ legs: 2, signatureBytes: 65, attempts: 0, batchSize: null, payerKind: 'plain' });
});

test('of more sites than one choice looks at, each has its turn, and no choice reads more than its bound', async () => {
  const many = Array.from({ length: SITES }, () => randomUUID());
  await world.database.query("insert into tenant (tenant_id, status, price_usdc) select unnest($1::uuid[]), 'active', '0.001'", [
    many,
  ]);
  await copies(many);
  const seen = new Set<string>();
  for (const first of ['0', '4', '8', 'c']) {
    const rows = await read(`${first}0000000-0000-4000-8000-000000000000`);
    expect(rows.length).toBeLessThanOrEqual(480);
    expect(new Set(rows.map(({ tenantId }) => tenantId)).size).toBe(240);
    expect(new Set(rows.map(({ paymentId }) => paymentId)).size).toBe(rows.length);
    for (const { tenantId } of rows) seen.add(tenantId);
  }
  expect(seen.size).toBe(SITES + 21);
});

test('a payment that a look decided nothing of is left out for as long again as it has waited, at most half a minute', async () => {
  const [site, justBefore] = ['77777777-7777-4777-8777-777777777777', '77777777-7777-4777-8777-777777777776'];
  await world.database.query("insert into tenant (tenant_id, status, price_usdc) values ($1, 'active', '0.001')", [site]);
  const agoSeconds = (seconds: number): string => new Date(Date.now() - 1_000 * seconds).toISOString();
  const accepted = async (checkedAt: string | null): Promise<void> => copies([site], { checked_at: checkedAt });
  const count = async () => (await read(justBefore)).filter(({ tenantId }) => tenantId === site).length;
  await accepted(null);
  expect(await count()).toBe(1);
  await accepted(agoSeconds(-600)); // long after it was taken in: half a minute, which is not over
  expect(await count()).toBe(1);
  await accepted(agoSeconds(600)); // it had waited for no time, which is over
  expect(await count()).toBe(2);
});
