import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdminProgram } from '../../bin/admin/program.ts';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { setSiteAlertAddress } from '../../modules/anomalies/use/manageRules.ts';
import { findMismatches } from '../../modules/reports/store/rollupCheck.ts';
import { rebuildAll } from '../../modules/reports/use/rollups.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { readAdminConfig } from '../../process/config.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { insertPurchases } from '../support/reports.ts';

const EMAIL = 'ann.writer@example.org';
const USER = 'user-of-ann-7731';
const NAME = 'Bertha Buyer';
const pepper = pepperOf({ apiKeyPepper: 'p'.repeat(44) });
const WALLET = `0x${'5e'.repeat(20)}`;

let own: TestDatabase;
let database: Database;
let tenantId: string;
beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  tenantId = await insertTenant(database);
  const legs = [{ toAddress: WALLET, amountMicro: 700, authorId: 'ann' }];
  const purchase = { tenantId, host: 'alpha.example', slug: 'solo', kind: 'read' as const, atMs: Date.now(), steps: 1, legs };
  await insertPurchases(database, [purchase]);
  await rebuildAll({ database, clock: Date.now }, { days: null, tenantId });
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

async function admin(...args: string[]): Promise<Record<string, unknown>> {
  const printed: unknown[] = [];
  const environment = { NODE_ENV: 'test', DATABASE_URL: own.appUrl, API_KEY_PEPPER: 'p'.repeat(44) };
  const program = createAdminProgram({
    open: async () => ({ database, config: readAdminConfig(environment) }),
    print: (value) => printed.push(JSON.parse(JSON.stringify(value))),
  });
  await program.parseAsync(args, { from: 'user' });
  return printed[0] as Record<string, unknown>;
}

/** Every table and column of the database that holds a text anywhere in it. */
async function placesOf(text: string): Promise<string[]> {
  const columns = await database.query<{ table: string; column: string }>(
    `select c.table_name as table, c.column_name as column from information_schema.columns as c
       join information_schema.tables as t using (table_schema, table_name)
      where table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name <> 'schema_migration'`,
  );
  expect(columns.length).toBeGreaterThan(400);
  const found: string[] = [];
  for (const { table, column } of columns) {
    const holds = await database.query(`select 1 from ${table} where strpos(${column}::text, $1) > 0 limit 1`, [text]);
    if (holds.length > 0) found.push(`${table}.${column}`);
  }
  return found;
}

const MONEY = ['payment', 'crossing', 'leg', 'crossing_hour', 'crossing_day', 'crossing_month', 'authorization_claim'];
const money = (): Promise<unknown[]> =>
  Promise.all(MONEY.map((table) => database.query(`select * from ${table} order by 1, 2, 3`)));
const entries = (action: string): Promise<unknown[]> =>
  database.query('select target, before, after from audit_log where action = $1', [action]);

test('an erased author is nowhere any more, not even in the audit log, which says that it was done; earnings are the same', async () => {
  await admin('member', 'add', tenantId, '--author', 'ann', '--email', 'ann.writer@example.org');
  await admin('member', 'add', tenantId, '--author', 'bob', '--email', 'bob@example.org');
  await database.query("update member set user_id = $1, accepted_at = now() where author_id = 'ann'", [USER]);
  await database.query(
    `insert into alert_mail (tenant_id, mail_id, to_address, subject, detail) values ($1, 'invitation-1', $2, 's', 'd')`,
    [tenantId, EMAIL],
  );
  await database.query(
    `insert into audit_log (tenant_id, entry_id, actor_id, actor_via, action, target, before, after)
     values ($1, $2, 'owner', 'oidc', 'member.remove', 'ann', $3, null)`,
    [tenantId, randomUUID(), JSON.stringify({ email: EMAIL, userId: USER })],
  );
  expect((await placesOf(EMAIL)).sort()).toEqual([
    'alert_mail.to_address',
    'audit_log.after',
    'audit_log.before',
    'member.email',
  ]);
  expect(await placesOf(USER)).toEqual(expect.arrayContaining(['member.user_id', 'audit_log.before']));
  const before = await money();

  expect(await admin('member', 'erase', tenantId, 'ann')).toEqual({ authorId: 'ann', erased: true });
  expect(await placesOf(EMAIL)).toEqual([]);
  expect(await placesOf(USER)).toEqual([]);
  expect(await admin('member', 'erase', tenantId, 'ann')).toEqual({ authorId: 'ann', erased: false });
  expect(await entries('member.erase')).toEqual([
    { target: 'ann', before: null, after: null },
    { target: 'ann', before: null, after: null },
  ]);
  expect(await placesOf('bob@example.org')).toEqual(expect.arrayContaining(['member.email', 'audit_log.after']));

  expect(await money()).toEqual(before);
  expect(await findMismatches(database, tenantId, { fromMs: 0, toMs: null })).toEqual([]);
});

test('erasing a member of the address for alerts hides nothing of alerts: their address, e-mail and entries stay', async () => {
  const thief = 'thief@example.org';
  const call = { tenantId, actor: operatorNamed('ops') };
  await setSiteAlertAddress({ database, pepper, clock: Date.now }, call, thief);
  await admin('member', 'add', tenantId, '--author', 'eve', '--email', thief);
  expect(await admin('member', 'erase', tenantId, 'eve')).toEqual({ authorId: 'eve', erased: true });
  expect((await placesOf(thief)).sort()).toEqual(['alert_mail.to_address', 'audit_log.after', 'tenant.alert_email']);
  expect(await entries('alerts.set_address')).toEqual([{ target: null, before: { email: null }, after: { email: thief } }]);
  expect(await entries('member.invite')).toContainEqual(
    expect.objectContaining({ target: 'eve', after: expect.objectContaining({ email: 'erased' }) }),
  );
});

test('an erased account has neither name nor wallet nor a way in; its sites find an entry with its id, and money is as it was', async () => {
  const created = await admin('buyer', 'account', 'create', '--name', NAME, '--wallet', WALLET);
  const accountId = String(created['accountId']);
  await database.query("insert into oauth_client (client_id, account_id, name, secret_hash) values ($1, $2, $3, '\\x00')", [
    randomUUID(),
    accountId,
    NAME,
  ]);
  await database.query(
    `insert into used_once (owner_id, kind, key, expires_at) select client_id, 'assertion', 'jti', now() + interval '1 hour' from oauth_client`,
  );
  await sellLicence(accountId);
  await database.query(
    `update buyer_account set alert_endpoint_id = $1, alert_url = $2, alert_sealed = '', alert_key_id = '', alert_set_at = now(),
       budget_period = 'day', budget_total_micro = 1, budget_is_stopped = true, budget_version = 1, budget_updated_at = now()
      where account_id = $1`,
    [accountId, `https://hooks.example/${NAME}`],
  );
  await database.query(
    `insert into account_alert (account_id, period, period_start, period_end, limit_micro, percent, spent_micro, state)
     values ($1, 'day', now(), now(), 1, 50, 1, 'waiting')`,
    [accountId],
  );
  const before = await money();

  expect(await admin('account', 'erase', WALLET.toUpperCase().replace('0X', '0x'))).toEqual({ accountId, erased: true });
  expect(await placesOf(NAME)).toEqual([]);
  const noBudget = { budget_period: null, budget_total_micro: null, budget_is_stopped: false };
  expect(
    await database.query(`select name, wallet, alert_url, alert_sealed, budget_period, budget_total_micro, budget_is_stopped, erased_at is not null as erased
        from buyer_account`),
  ).toEqual([{ name: null, wallet: null, alert_url: null, alert_sealed: null, ...noBudget, erased: true }]);
  for (const table of ['buyer_key', 'oauth_client', 'open_licence_offer', 'account_alert']) {
    expect(await database.query(`select 1 from ${table}`), table).toEqual([]);
  }
  expect(await database.query("select 1 from used_once where kind = 'assertion'")).toEqual([]);
  expect(await entries('account.erase')).toEqual([{ target: accountId, before: null, after: null }]);
  expect(await admin('account', 'erase', WALLET)).toEqual({ accountId: null, erased: false });
  expect(await admin('account', 'erase', accountId)).toEqual({ accountId, erased: false });
  expect(await entries('account.erase')).toHaveLength(1);
  await expect(admin('buyer', 'key', accountId)).rejects.toMatchObject({ code: 'not_found' });

  expect(await money()).toEqual(before);
  // The payee's address is on the chain: the ledger goes on to name it.
  expect(await placesOf(WALLET)).toEqual(expect.arrayContaining(['leg.to_address']));
});

/** A licence of the account for the one payment there is, and what remembers offers. */
async function sellLicence(accountId: string): Promise<void> {
  const offerId = randomUUID();
  const [payment] = await database.query<{ payment_id: string }>('select payment_id from payment limit 1');
  await database.query(
    `insert into licence_offer (offer_id, tenant_id, account_id, request_hash, host, patterns, terms, kind, period_from, period_until,
       price_micro, pages, legs, pay_to, network, asset, router, expires_at)
     values ($1, $2, $3, 'h', 'alpha.example', '{}', '{}', 'read', now(), now() + interval '1 day', 700, '[]',
       '[{"amountMicro": "700"}]', '0x', 'n', 'a', 'r', now())`,
    [offerId, tenantId, accountId],
  );
  await database.query(
    `insert into open_licence_offer (tenant_id, offer_id, account_id, request_hash, host, patterns, terms, kind, period_from, period_until,
       price_micro, page_count, pages_digest, legs, pay_to, network, asset, router, expires_at)
     values ($1, $2, $3, 'h', 'alpha.example', '{}', '{}', 'read', now(), now() + interval '1 day', 700, 1, 'd',
       '[{"amountMicro": "700"}]', '0x', 'n', 'a', 'r', now())`,
    [tenantId, randomUUID(), accountId],
  );
  await database.query(
    `insert into licence (tenant_id, jti, account_id, payment_id, offer_id, host, patterns, terms, kind, period_from, period_until,
       price_micro, legs, bought_at)
     values ($1, $2, $3, $2, $4, 'alpha.example', '{}', '{}', 'read', now(), now() + interval '1 day', 700, '[]', now())`,
    [tenantId, payment?.payment_id, accountId, offerId],
  );
  await database.query('insert into account_licence values ($1, $2, $3, now())', [accountId, payment?.payment_id, tenantId]);
}
