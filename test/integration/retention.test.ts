import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database, Sql } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { KEPT_OBSERVATIONS_DAYS } from '../../db/partitions.ts';
import { markClientUsed } from '../../modules/identity/store/accounts.ts';
import { createAccountClient, registerClient } from '../../modules/identity/use/accounts/clients.ts';
import { forgetSlice, REMOVED, REQUEST_KEYS } from '../../modules/operations/store/retention.ts';
import { forgetWhatEnded } from '../../modules/operations/use/retention.ts';
import { findMismatches } from '../../modules/reports/store/rollupCheck.ts';
import { rebuildAll } from '../../modules/reports/use/rollups.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { insertCrossing, insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { KEPT } from '../support/retention.ts';
import { query } from '../support/sql.ts';

let own: TestDatabase;
let database: Database;
let tenantId: string;
const counted = new Map<string, number>();
const metrics = {
  count: (_name: string, by = 1, labels: { readonly kind?: string } = {}) =>
    void counted.set(labels.kind ?? '', (counted.get(labels.kind ?? '') ?? 0) + by),
  record: () => undefined,
};
const forget = (): Promise<number> => forgetWhatEnded({ database, clock: Date.now, retention: KEPT, metrics });

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
});
beforeEach(async () => {
  tenantId = await insertTenant(database, `${randomUUID()}.example`);
  counted.clear();
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

test('what a credits API said of a page ends when nobody asked about it for as long as observations are kept', async () => {
  const days = (slug: string, ago: number) =>
    database.query(
      `insert into credits_copy (tenant_id, api_url, slug, credits, fetched_at)
       values ($1, 'https://api.example', $2, '{}', now() - make_interval(days => $3))`,
      [tenantId, slug, ago],
    );
  await days('asked', KEPT_OBSERVATIONS_DAYS - 1);
  await days('left', KEPT_OBSERVATIONS_DAYS + 1);
  await forget();
  expect(await database.query('select slug from credits_copy where tenant_id = $1', [tenantId])).toEqual([{ slug: 'asked' }]);
});

test('request keys that ended are found by their time, not by reading all that are there', async () => {
  const plan = await database.transaction(async (sql) => {
    await sql.query('set local enable_seqscan = off');
    let explained: unknown[] = [];
    const asked: Sql = {
      query: async (text, values) => {
        explained = await sql.query(`explain ${text}`, values);
        return [];
      },
    };
    await forgetSlice(asked, REQUEST_KEYS, new Date(), 1_000);
    return JSON.stringify(explained);
  });
  expect(plan).toMatch(/idempotency_key_by_time/);
});

test('the nightly round forgets used proofs, scopes, request keys, counts of e-mails, reports of use and strikes that ended, keeps the others, and finds nothing again', async () => {
  for (const age of ['-3 days', '1 minute']) {
    await database.query(
      `insert into used_once (owner_id, kind, key, expires_at)
       select $1, kind, $2, now() + $3::interval from unnest('{proof,confirm}'::text[]) as kind`,
      [tenantId, age, age],
    );
    await database.query(
      `insert into idempotency_key (tenant_id, key, request_hash, created_at) values ($1, $2, 'hash', now() + $3::interval)`,
      [tenantId, randomUUID(), age],
    );
    await database.query(
      `insert into usage_report (tenant_id, licence_jti, idempotency_id, request_hash, host, slug, use, count, at, day, place)
       select $1, 'jti', $2::text, '', 'h', 's', 'search', 1, at, at::date, 1
         from (select now() + $2::text::interval - $3 * interval '1 day' as at) as moment`,
      [tenantId, age, KEPT_OBSERVATIONS_DAYS],
    );
  }
  await database.query(
    `insert into payer_strike (network, payer, last_at) values ('eip155:84532', 'old', now() - interval '3 hours'),
       ('eip155:84532', 'new', now())`,
  );
  expect(await forget()).toBe(5);
  expect(Object.fromEntries(counted)).toEqual({
    used_once: 2,
    idempotency_key: 1,
    payer_strike: 1,
    usage_report: 1,
  });
  expect(await forget()).toBe(0);
  const [left] = await database.query(
    `select (select array_agg(key) from used_once) as used, (select count(*)::int from idempotency_key) as keys,
       (select array_agg(payer) from payer_strike) as strikes`,
  );
  expect(left).toEqual({ used: ['1 minute', '1 minute'], keys: 1, strikes: ['new'] });
});

test('places of names go once no request of their day can come any more', async () => {
  const days = [0, 7, 8, 12];
  await database.query(
    `insert into agent_name (tenant_id, day, place, name)
       select $1, (now() at time zone 'UTC')::date - ago, 1, 'bot' || ago from unnest($2::int[]) ago`,
    [tenantId, days],
  );
  expect(await forget()).toBe(1);
  const left = await database.query<{ name: string }>('select name from agent_name where tenant_id = $1 order by day desc', [
    tenantId,
  ]);
  expect(left.map(({ name }) => name)).toEqual(['bot0', 'bot7', 'bot8']);
});

test('alerts of budgets go some months after their period, never one that waits to be sent', async () => {
  const accountId = randomUUID();
  await database.query('insert into buyer_account (account_id) values ($1)', [accountId]);
  for (const [percent, state, ended] of [
    [50, 'delivered', '89 days'],
    [80, 'delivered', '91 days'],
    [100, 'waiting', '91 days'],
  ]) {
    await database.query(
      `insert into account_alert (account_id, period, period_start, period_end, limit_micro, percent, spent_micro, state)
       values ($1, 'day', now() - interval '100 days', now() - $4::interval, 1, $2, 1, $3)`,
      [accountId, percent, state, ended],
    );
  }
  expect(await forget()).toBe(1);
  expect(Object.fromEntries(counted)).toEqual({ account_alert: 1 });
  expect(await database.query('select percent from account_alert order by 1')).toEqual([{ percent: 50 }, { percent: 100 }]);
});

test('credentials go some months after they ended, and those that still let somebody in stay', async () => {
  const accountId = randomUUID();
  await database.query('insert into buyer_account (account_id) values ($1)', [accountId]);
  for (const [name, ended] of [
    ['live', null],
    ['fresh', '89 days'],
    ['old', '91 days'],
  ] as const) {
    const values = [Buffer.from(name), accountId, ended];
    await database.query(
      'insert into buyer_key (key_hash, account_id, last4, revoked_at) values ($1, $2, $3, now() - $4::interval)',
      [...values.slice(0, 2), name, ended],
    );
    await database.query(
      `insert into oauth_client (client_id, account_id, name, secret_hash, revoked_at) values ($1, $2, $3, '\\x00', now() - $4::interval)`,
      [randomUUID(), accountId, name, ended],
    );
    await database.query(
      `insert into owner_token (token_hash, tenant_id, user_id, expires_at) values ($1, $2, $3, now() - $4::interval)`,
      [Buffer.from(name), tenantId, name, ended],
    );
  }
  expect(await forget()).toBe(3);
  expect(Object.fromEntries(counted)).toEqual({ buyer_key: 1, oauth_client: 1, owner_token: 1 });
  for (const [table, column] of [
    ['buyer_key', 'last4'],
    ['oauth_client', 'name'],
    ['owner_token', 'user_id'],
  ]) {
    expect(await database.query(`select ${column} as name from ${table} order by 1`), table).toEqual([
      { name: 'fresh' },
      { name: 'live' },
    ]);
  }
});

test('a client that registered and was not used for months ends with its account; one that was used, or whose account bought, stays', async () => {
  const deps = { database, pepper: pepperOf({ apiKeyPepper: 'a pepper of thirty-two characters' }) };
  const register = async (name: string) => {
    const { clientId } = await registerClient(deps, { name });
    await database.query("update oauth_client set last_used_at = now() - interval '91 days' where client_id = $1", [clientId]);
    await database.query(
      "update buyer_account set created_at = now() - interval '91 days' where account_id = (select account_id from oauth_client where client_id = $1)",
      [clientId],
    );
    return clientId;
  };
  await register('never used');
  await markClientUsed(database, await register('used'));
  const { clientId: issued } = await createAccountClient(deps, { accountId: await accountNamed('issued'), name: 'issued' });
  await database.query("update oauth_client set created_at = now() - interval '91 days' where client_id = $1", [issued]);
  const bought = await register('bought');
  await query(own.ownerUrl, 'alter table account_licence drop constraint account_licence_tenant_id_jti_fkey'); // the licence itself matters not
  await database.query(
    `insert into account_licence (account_id, tenant_id, jti, bought_at)
     select account_id, $2, gen_random_uuid(), now() from oauth_client where client_id = $1`,
    [bought, tenantId],
  );
  await forget();
  expect(Object.fromEntries(counted)).toMatchObject({ oauth_client_unused: 1 });
  const left = ['bought', 'issued', 'used'].map((name) => ({ name }));
  const names = `in ('never used', 'used', 'issued', 'bought') order by 1`;
  expect(await database.query(`select name from oauth_client where name ${names}`)).toEqual(left);
  expect(await database.query(`select name from buyer_account where name ${names}`)).toEqual(left);
});

test('a registration leaves no account where its client cannot be stored', async () => {
  const deps = { database, pepper: pepperOf({ apiKeyPepper: 'a pepper of thirty-two characters' }) };
  await query(own.ownerUrl, "alter table oauth_client add constraint refuses check (name <> 'refused')");
  await expect(registerClient(deps, { name: 'refused' })).rejects.toThrow();
  expect(await database.query("select from buyer_account where name = 'refused'")).toEqual([]);
});

async function accountNamed(name: string): Promise<string> {
  const accountId = randomUUID();
  await database.query('insert into buyer_account (account_id, name) values ($1, $2)', [accountId, name]);
  return accountId;
}

/** An event of so many days ago, with a delivery in a state, one attempt and a leg that it announced. */
async function addEvent(eventId: string, days: number, state: string, deliveredDays = days): Promise<void> {
  const endpointId = randomUUID();
  const age = `${days} days`;
  const delivery = `dlv_${eventId}`;
  await database.query(
    "insert into webhook_endpoint (tenant_id, endpoint_id, url, event_types) values ($1, $2, 'https://x', '{x}')",
    [tenantId, endpointId],
  );
  await database.query(
    `insert into webhook_event (tenant_id, event_id, type, detailed, summary, created_at)
     values ($1, $2, 'settlement.completed', '{}', '{}', now() - $3::interval)`,
    [tenantId, eventId, age],
  );
  await database.query(
    `insert into delivery (tenant_id, delivery_id, event_id, endpoint_id, bucket, state, attempts, body, created_at)
     values ($1, $2, $3, $4, 1, $5, 1, '{}', now() - $6::interval)`,
    [tenantId, delivery, eventId, endpointId, state, `${deliveredDays} days`],
  );
  await database.query(
    'insert into delivery_attempt (tenant_id, delivery_id, attempt, started_at, duration_ms) values ($1, $2, 1, now(), 1)',
    [tenantId, delivery],
  );
  const { crossingId } = await insertCrossing(database, { tenantId, legs: [{ toAddress: '0xa', amountMicro: 5 }] });
  await database.query('insert into webhook_event_leg (tenant_id, crossing_id, ordinal, event_id) values ($1, $2, 0, $3)', [
    tenantId,
    crossingId,
    eventId,
  ]);
}

test('old events go with their deliveries, attempts and marks; one that waits or was sent again lately stays, and money stays', async () => {
  await addEvent('old', 91, 'delivered');
  await addEvent('waiting', 400, 'pending');
  await addEvent('again', 91, 'delivered', 2);
  await addEvent('new', 89, 'exhausted');
  expect(await forget()).toBe(1);
  const left = { again: 1, new: 1, waiting: 1 };
  for (const table of ['webhook_event', 'delivery', 'webhook_event_leg']) {
    const rows = await database.query<{ event_id: string }>(`select event_id from ${table} where tenant_id = $1`, [tenantId]);
    expect(Object.fromEntries(rows.map((row) => [row.event_id, 1])), table).toEqual(left);
  }
  expect(await database.query('select 1 from delivery_attempt where tenant_id = $1', [tenantId])).toHaveLength(3);
  expect(await database.query('select 1 from leg where tenant_id = $1', [tenantId])).toHaveLength(4);
  expect(await forget()).toBe(0);
});

test('the service itself can delete no event, and through the function none of the last week', async () => {
  await addEvent('young', 6, 'delivered');
  await expect(database.query('delete from webhook_event where tenant_id = $1', [tenantId])).rejects.toThrow(/permission/);
  const gone = "select forget_tenant_events($1, now() + interval '1 day', 100) as gone";
  expect(await database.query(gone, [tenantId])).toEqual([{ gone: 0 }]);
});

test('User-Agents are taken out after their time, more than a slice of them, and what is counted does not change', async () => {
  const insert = `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, agent, agent_ua, at)
    select $1, uuidv7(), 'alpha.example', 'solo', 'denied', 'agent', 'gptbot', $2, now() - $3::interval - n * interval '1 second'
      from generate_series(1, $4) as n`;
  await database.query(insert, [tenantId, 'Secret/1.0', '91 days', 2_100]);
  await database.query(insert, [tenantId, 'Secret/1.0', '89 days', 2]);
  await database.query(insert, [tenantId, null, '91 days', 1]);
  const { paymentId } = await insertCrossing(database, { tenantId, legs: [{ toAddress: '0xa', amountMicro: 5 }] });
  await query(
    own.ownerUrl,
    `update test.payment set agent = '{"ua": "Secret/1.0", "label": "gptbot"}', accepted_at = now() - interval '91 days' where payment_id = $1`,
    [paymentId],
  );
  const deps = { database, clock: Date.now };
  await rebuildAll(deps, { days: null, tenantId });
  const sums = 'select * from observation_day where tenant_id = $1 order by observation_day';
  const before = await database.query(sums, [tenantId]);
  // The rounds of the tests before have noted how far they came.
  await database.query("update retention_progress set done_before = '1970-01-01'");
  expect(await forget()).toBe(2_101);
  const names = await database.query(
    'select agent, agent_ua, count(*)::int as n from observation where tenant_id = $1 group by 1, 2 order by 2',
    [tenantId],
  );
  expect(names).toEqual([
    { agent: 'gptbot', agent_ua: 'Secret/1.0', n: 2 },
    { agent: 'gptbot', agent_ua: REMOVED, n: 2_100 },
    { agent: 'gptbot', agent_ua: null, n: 1 },
  ]);
  expect(await database.query('select agent from payment where payment_id = $1', [paymentId])).toEqual([
    { agent: { ua: REMOVED, label: 'gptbot' } },
  ]);
  expect(await database.query(sums, [tenantId])).toEqual(before);
  expect(await findMismatches(database, tenantId, { fromMs: 0, toMs: null })).toEqual([]);
  expect(await forget()).toBe(0);
});
