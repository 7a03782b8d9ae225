import { createHash } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { BUSY, HOSTS } from './load.ts';
import type { RecordStore } from './store.ts';

/** What one row in so many of the busy site's has besides, for the screens of the console. */
const EVENTS_A_ROW = 50;
const OTHERS_A_ROW = 1_000;

/**
 * Adds what screens show besides crossings and observations: webhook events with their deliveries and tries, licences, changes in the audit
 * log, imported pages, and batches of the last month's payments. A store that has them is left as it is.
 */
export async function addConsoleRows({ urls, nowMs }: RecordStore, rows: number): Promise<void> {
  const database = await openDatabase({ url: urls.superUrl, poolSize: 1, statementTimeoutMs: 3_600_000 });
  try {
    const [had] = await database.query('select 1 from delivery where tenant_id = $1 limit 1', [BUSY]);
    if (!had) await addRows(database, { nowMs, events: Math.ceil(rows / EVENTS_A_ROW), others: Math.ceil(rows / OTHERS_A_ROW) });
  } finally {
    await database.close();
  }
}

/** The busy site and four others have webhooks, all as many. */
const SITES = 'generate_series(1, 5) site';
const SITE = "('00000000-0000-4000-8000-' || lpad(site::text, 12, '0'))::uuid";

async function addRows(
  database: Database,
  { nowMs, events, others }: { readonly nowMs: number; readonly events: number; readonly others: number },
): Promise<void> {
  const now = new Date(nowMs);
  const at = (all: string): string => `$2::timestamptz - interval '400 days' * (n::float8 / ${all})`;
  const endpoint = '00000000-0000-4000-8000-0000000000e1';
  await database.query(
    `insert into webhook_endpoint (tenant_id, endpoint_id, url, event_types)
     select ${SITE}, $1, 'https://hooks.example/', '{settlement.completed}' from ${SITES}`,
    [endpoint],
  );
  await database.query(
    `insert into webhook_event (tenant_id, event_id, type, host, detailed, summary, created_at)
     select ${SITE}, 'evt_' || lpad(n::text, 12, '0'), 'settlement.completed', $1, '{}', '{}', ${at('$3')} from ${SITES}, generate_series(1, $3::int) n`,
    [HOSTS[0], now, events],
  );
  // Ids begin with the time; one of two thousand fails now.
  await database.query(
    `insert into delivery (tenant_id, delivery_id, event_id, endpoint_id, bucket, state, attempts, body, created_at, decided_at)
     select ${SITE}, 'dlv_' || lpad(($3 - n)::text, 12, '0'), 'evt_' || lpad(n::text, 12, '0'), $1, 7,
       case when n % 2000 = 0 then 'pending' else 'delivered' end, 1, '{}', ${at('$3')},
       case when n % 2000 = 0 then null else ${at('$3')} + interval '300 milliseconds' end from ${SITES}, generate_series(1, $3::int) n`,
    [endpoint, now, events],
  );
  await database.query(
    `insert into delivery_attempt (tenant_id, delivery_id, attempt, started_at, duration_ms, status)
     select tenant_id, delivery_id, 1, created_at + interval '90 milliseconds', 80, case state when 'pending' then 500 else 200 end
     from delivery`,
  );
  await database.query(
    `insert into audit_log (tenant_id, entry_id, at, actor_id, actor_via, action, before, after)
     select $1, uuidv7(), ${at('$3')}, 'owner', 'token', 'key.mint', null, '{"name": "bench"}' from generate_series(1, $3::int) n`,
    [BUSY, now, others],
  );
  await database.query(
    `insert into imported_page (tenant_id, slug, path, title)
     select $1, 'news/slug-' || n, '/news/slug-' || n, 'Title ' || n from generate_series(0, 399) n on conflict do nothing`,
    [BUSY],
  );
  await addLicences(database, now, others);
  await addBatches(database, now);
  for (const table of [
    'webhook_event',
    'delivery',
    'delivery_attempt',
    'audit_log',
    'licence',
    'settlement_batch',
    'payment_state',
  ])
    await database.query(`vacuum analyze ${table}`);
}

/** Licences of one account, bought with payments of the site; one in four ends within two weeks. */
async function addLicences(database: Database, now: Date, count: number): Promise<void> {
  const id = createHash('md5').update('bench').digest('hex');
  await database.query('insert into buyer_account (account_id) values ($1) on conflict do nothing', [id]);
  await database.query(
    `insert into licence_offer (offer_id, tenant_id, account_id, request_hash, host, patterns, terms, kind, period_from, period_until,
       price_micro, pages, legs, pay_to, network, asset, router, expires_at)
     values ($1, $2, $1, 'bench', $3, '{/news/*}', '{ai-input}', 'read', $4, $4::timestamptz + interval '1 day', 1000, '[]',
       '[{"toAddress": "0xa", "amountMicro": "1000", "role": "author"}]', '0xa', 'eip155:84532', 'a', 'r', $4) on conflict do nothing`,
    [id, BUSY, HOSTS[0], now],
  );
  await database.query(
    `insert into licence (tenant_id, jti, account_id, payment_id, offer_id, host, patterns, terms, kind, period_from, period_until,
       price_micro, legs, bought_at)
     select tenant_id, payment_id, $2, payment_id, $2, $3, '{/news/*}', '{ai-input}', 'read', accepted_at,
       $4::timestamptz + (n % 56) * interval '1 day', 1000, '[]', accepted_at
     from (select *, row_number() over () as n from payment_intake where tenant_id = $1 order by payment_id limit $5) paid`,
    [BUSY, id, HOSTS[0], now, count],
  );
}

/** Fifty payments of a month in each batch. */
async function addBatches(database: Database, now: Date): Promise<void> {
  await database.query(
    `with paid as materialized (
       select payment_id, row_number() over (order by accepted_at) / 50 as n from payment_intake
        where tenant_id = $1 and accepted_at >= $2::timestamptz - interval '30 days'
     ), made as (
       insert into settlement_batch (batch_id, network, relayer, kind, nonce, state, gas_shares, gas_wei, gas_used, final_at, closed_at, tenant_ids, payment_ids)
       select ('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid, 'eip155:84532', '0x1', 'settle', n, 'safe',
         jsonb_build_object($1::text, '1'), 1000000, 2000000, $2, $2, array_agg($1::uuid), array_agg(payment_id) from paid group by n
     )
     update payment_state s set batch_id = ('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid
       from paid where s.tenant_id = $1 and s.payment_id = paid.payment_id`,
    [BUSY, now],
  );
}
