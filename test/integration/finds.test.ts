import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sql } from '../../db/database.ts';
import { PAYMENT_STATES } from '../../modules/kernel/payment/state.ts';
import { searchBuyers, searchPayments, searchTenants } from '../../modules/operations/use/search.ts';
import { runAdmin } from '../support/admin.ts';
import { startTestApi } from '../support/api.ts';
import { sellLicence } from '../support/buyers.ts';
import { insertTenant } from '../support/ledger.ts';

const NETWORK = 'eip155:84532';
const SITES = 20;
const PAYMENTS = 20_000;
const PAYER = `0x${'0'.repeat(39)}7`;

let api: Awaited<ReturnType<typeof startTestApi>>;
const tenants: string[] = [];
beforeAll(async () => {
  api = await startTestApi();
  const { database } = api.deps;
  for (let site = 0; site < SITES; site += 1) tenants.push(await insertTenant(database, `s${site}.finds.example`));
  // One payment in a thousand failed, a hundred are open; each hundred share a batch; a payment a minute, over a fortnight.
  await database.query(
    `with batch as (
       insert into settlement_batch (batch_id, network, relayer, kind, nonce)
         select gen_random_uuid(), $1, '0xrelayer', 'settle', n from generate_series(1, $4::int / 100) as n returning batch_id, nonce),
     sent as (
       insert into relayer_transaction (batch_id, attempt, network, relayer, nonce, kind, tx_hash, raw, gas_limit, max_fee_wei,
           priority_fee_wei)
         select batch_id, 1, $1, '0xrelayer', nonce, 'settle', '0x' || lpad(to_hex(nonce), 64, '0'), '0x', 1, 1, 1 from batch),
     one as materialized (
       select n, ($2::uuid[])[1 + n % $3::int] as tenant_id, gen_random_uuid() as payment_id, batch_id,
           '0x' || lpad(to_hex(n % 500), 40, '0') as payer, now() - n * interval '1 minute' as accepted_at
         from generate_series(1, $4::int) as n left join batch on batch.nonce = 1 + n / 100),
     taken_in as (
       insert into payment_intake (tenant_id, payment_id, network, asset, payer, pay_to, nonce, valid_after, valid_before, signature,
           x402_version, host, slug, resource, resource_key, kind, amount_micro, legs, router, binding, accepted_at)
         select tenant_id, payment_id, $1, '0xasset', payer, '0xpayto', n::text, 0, 1, '0x', 2, 'h', 's', 'https://h/s', 'h/s', 'read', 10,
           '[{"toAddress":"0xa","amountMicro":"10"}]', '0xrouter', 'b', accepted_at from one)
     insert into payment_state (tenant_id, payment_id, network, mode, payer, pay_to, planned_gas, accepted_at, state, reason, tx_hash, batch_id)
     select tenant_id, payment_id, $1, 'live', payer, '0xpayto', 120000, accepted_at,
       case when n <= 100 then 'accepted' when n % 1000 = 0 then 'failed' else 'final' end,
       case when n > 100 and n % 1000 = 0 then 'settlement_failed' end, '0x' || lpad(to_hex(1 + n / 100), 64, '0'), batch_id
     from one`,
    [NETWORK, tenants, SITES, PAYMENTS],
  );
  await database.query(
    `insert into transfer_claim (network, tx_hash, log_position, tenant_id, payment_id)
     select network, tx_hash, row_number() over (partition by tx_hash), tenant_id, payment_id from payment`,
  );
  await database.query('insert into chain_cursor (network) values ($1) on conflict do nothing', [NETWORK]);
  await database.query(
    "insert into buyer_account (account_id, name) select gen_random_uuid(), 'b' from generate_series(1, 5000)",
  );
  const owner = new pg.Client({ connectionString: api.urls.ownerUrl });
  await owner.connect();
  await owner.query('analyze');
  await owner.end();
});
afterAll(() => api.stop());

interface Listed {
  readonly items: Record<string, unknown>[];
  readonly next: string | null;
}
const run = async (...args: string[]) => (await runAdmin(api, ...args)) as unknown as Listed;
const txOf = (nonce: number): string => `0x${nonce.toString(16).padStart(64, '0')}`;

/** What the plans of everything that `work` asks say. */
async function plansOf(work: (sql: Sql) => Promise<unknown>): Promise<string> {
  const { database } = api.deps;
  const plans: unknown[] = [];
  await work({
    query: async (text, values) => {
      plans.push(...(await database.query(`explain ${text}`, values)));
      return database.query(text, values);
    },
  });
  return plans.map((row) => (row as { 'QUERY PLAN': string })['QUERY PLAN']).join('\n');
}

test('no search reads all payments: each has an index, whatever is asked', async () => {
  const page = { limit: 50, after: null };
  const none = { txHash: null, payer: null, state: null, tenantId: null, since: null, until: null };
  const [tenantId] = tenants as [string];
  const wide = new Date(0);
  const searches = [
    none,
    { ...none, txHash: txOf(7) },
    { ...none, payer: PAYER },
    { ...none, payer: PAYER, state: 'final' as const },
    { ...none, tenantId, since: wide },
    { ...none, since: wide, until: new Date() },
    ...PAYMENT_STATES.flatMap((state) => [
      { ...none, state, since: wide },
      { ...none, state, tenantId },
    ]),
  ];
  for (const search of searches) {
    const plan = await plansOf((database) => searchPayments({ database }, page, search));
    expect(plan, JSON.stringify(search)).not.toMatch(/Seq Scan on (payment_intake|payment_state|transfer_claim)\b/);
  }
  const accounts = await plansOf((database) => searchBuyers({ database }, page, { wallet: null, accountId: null }));
  expect(accounts).not.toMatch(/Seq Scan on buyer_account\b/);
});

test('payments are found by transaction, payer, state, site and time, and each names the id that payment show takes', async () => {
  const inTransaction = await run('payment', 'find', '--tx', txOf(3).toUpperCase().replace('0X', '0x'), '--limit', '200');
  expect(inTransaction.items).toHaveLength(100);
  expect(new Set(inTransaction.items.map(({ settlementRef }) => settlementRef))).toEqual(new Set([txOf(3)]));
  const id = String(inTransaction.items[0]?.['paymentId']);
  expect(await runAdmin(api, 'payment', 'show', id)).toMatchObject({ paymentId: id, settlementRef: txOf(3) });
  expect((await run('payment', 'find', '--tx', txOf(9_999))).items).toEqual([]);

  const ofPayer = await run('payment', 'find', '--payer', PAYER.toUpperCase().replace('0X', '0x'), '--limit', '200');
  expect(ofPayer).toMatchObject({ next: null });
  expect(ofPayer.items).toHaveLength(PAYMENTS / 500);
  expect((await run('payment', 'find', '--payer', PAYER, '--tenant', tenants[7] as string)).items).toHaveLength(40);
  expect((await run('payment', 'find', '--payer', PAYER, '--tenant', tenants[8] as string)).items).toEqual([]);

  // Ten of twenty failed within seven days, which is how far a search without a payer looks unless told.
  expect((await run('payment', 'find', '--state', 'failed')).items).toHaveLength(10);
  expect((await run('payment', 'find', '--state', 'failed', '--since', '2020-01-01')).items).toHaveLength(20);
  expect((await run('payment', 'find', '--state', 'accepted', '--tenant', tenants[0] as string)).items).toHaveLength(5);
  const [from, to] = [121, 61].map((minutes) => new Date(Date.now() - minutes * 60_000).toISOString()) as [string, string];
  expect((await run('payment', 'find', '--since', from, '--until', to, '--limit', '200')).items).toHaveLength(60);
});

test('a list goes on where its page ended, without a gap and without a row twice', async () => {
  const seen: unknown[] = [];
  let after: string[] = [];
  do {
    const page = await run('payment', 'find', '--state', 'failed', '--since', '2020-01-01', '--limit', '7', ...after);
    seen.push(...page.items.map(({ paymentId }) => paymentId));
    after = page.next === null ? [] : ['--after', page.next];
  } while (after.length > 0);
  expect([seen.length, new Set(seen).size]).toEqual([20, 20]);
  for (const wrong of [
    ['--after', 'x'],
    ['--tx', txOf(1), '--payer', PAYER],
  ]) {
    await expect(run('payment', 'find', ...wrong)).rejects.toMatchObject({ code: 'invalid_parameter' });
  }
});

/** A link into Temporal's UI whose query begins so. */
const linked = (query: string) => expect.stringContaining(`/namespaces/default/workflows?query=${encodeURIComponent(query)}`);

test('sites are listed and shown, also by host, owner and status', async () => {
  const [first] = (await run('tenant', 'list', '--host', 'S3.Finds.Example.')).items;
  expect(first).toMatchObject({ tenantId: tenants[3], hosts: ['s3.finds.example'], status: 'active', plan: 'studio' });
  await runAdmin(api, 'owner', 'set', tenants[3] as string, 'auth0|ann');
  await runAdmin(api, 'tenant', 'status', tenants[4] as string, 'suspended');
  expect((await run('tenant', 'list', '--owner', 'auth0|ann')).items).toMatchObject([{ tenantId: tenants[3] }]);
  expect((await run('tenant', 'list', '--status', 'suspended')).items).toMatchObject([{ tenantId: tenants[4] }]);
  const site = await api.site();
  expect(await runAdmin(api, 'tenant', 'show', site.tenantId)).toMatchObject({
    tenantId: site.tenantId,
    hosts: [{ host: site.host, verifiedAt: expect.any(String), workflowsUrl: linked(`Host = '${site.host}' AND SiteIds = `) }],
    activeKeys: 1,
    pricing: { priceUsdc: expect.any(String) },
  });
  await expect(runAdmin(api, 'tenant', 'show', randomUUID())).rejects.toMatchObject({ code: 'not_found' });
  await expect(
    searchTenants(api.deps, { limit: 1, after: '2026-01-01_x' }, { host: null, ownerUserId: null, status: null }),
  ).rejects.toMatchObject({ code: 'invalid_parameter' });
});

test('buyer accounts and licences are found, without a secret', async () => {
  const site = await api.site();
  const wallet = `0x${'ab'.repeat(20)}`;
  const account = await runAdmin(api, 'buyer', 'account', 'create', '--name', 'Reader', '--wallet', wallet);
  const { accountId, token } = account as { accountId: string; token: string };
  const listed = await run('buyer', 'list', '--wallet', wallet);
  expect(listed.items).toMatchObject([{ accountId, name: 'Reader', wallet, keys: [token.slice(-4)], clients: [] }]);
  expect(JSON.stringify(listed)).not.toContain(token.slice(10, 30));
  expect((await run('buyer', 'list', '--limit', '3')).items).toHaveLength(3);
  const { jti } = await sellLicence(api, accountId, {
    host: site.host,
    scope: ['/articles/*'],
    terms: ['ai-input'],
    periodDays: 30,
    kind: 'read',
  });
  for (const by of [
    ['--tenant', site.tenantId],
    ['--account', accountId],
    ['--account', accountId, '--tenant', site.tenantId],
  ]) {
    expect((await run('licence', 'list', ...by)).items).toMatchObject([
      { jti, tenantId: site.tenantId, accountId, revokedAt: null },
    ]);
  }
  expect((await run('licence', 'list', '--account', accountId, '--tenant', tenants[0] as string)).items).toEqual([]);
  const shown = { jti, paymentId: jti, patterns: ['/articles/*'], workflowsUrl: linked(`PaymentIds = '${jti}' OR `) };
  expect(await runAdmin(api, 'licence', 'show', jti)).toMatchObject(shown);
  await expect(run('licence', 'list')).rejects.toMatchObject({ code: 'invalid_parameter' });
});
