/** What processes of the previous release send while the new version is coming up: the texts are theirs, word by word. */
import { randomBytes, randomUUID } from 'node:crypto';
import { query } from './sql.ts';

/** The newest migration of the previous release. */
export const PREVIOUS = '0020_watch_in_turns.sql';

type Statement = readonly [string, readonly unknown[]];

const NETWORK = 'eip155:84532';
const address = (): string => `0x${randomBytes(20).toString('hex')}`;
const word = (): string => `0x${randomBytes(32).toString('hex')}`;
const now = new Date();

/** Runs them in their order for a site, as the service's role; throws what Postgres says. */
export async function runOldStatements(url: string, tenantId: string, host: string): Promise<void> {
  for (const [statement, values] of [...settings(tenantId, host), ...people(tenantId, host), ...sale(tenantId, host)]) {
    const rows = await query(url, statement, values);
    if (/ returning /.test(statement) && rows.length === 0) throw new Error(`no row: ${statement}`);
  }
}

/** What they add to the rollups for a crossing that they appended. */
export async function rollUpOldCrossing(url: string, tenantId: string, crossingId: string): Promise<void> {
  const add = (unit: string): string => `insert into crossing_${unit} as rolled
      select tenant_id, dimension, date_trunc('${unit}', at, 'UTC') as bucket, host, kind, key, (pg_backend_pid() % 4)::smallint as lane,
      sum(events)::bigint as events, sum(micro)::bigint as micro
    from appended where true
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
      on conflict (tenant_id, dimension, bucket, host, kind, key, lane) do update
        set events = rolled.events + excluded.events, micro = rolled.micro + excluded.micro`;
  await query(
    url,
    `with appended as materialized (select tenant_id, dimension, at, host, kind, key, events, micro
      from unnest($1::uuid[], $2::uuid[]) as appended (site, crossing) cross join lateral (
        select * from crossing_part where tenant_id = appended.site and crossing_id = appended.crossing offset 0) as part),
     hours as (${add('hour')}),
     days as (${add('day')}),
     months as (${add('month')})
     select`,
    [[tenantId], [crossingId]],
  );
}

function settings(tenantId: string, host: string): Statement[] {
  return [
    [
      "insert into tenant (tenant_id, status, plan, price_usdc, owner_user_id) values ($1, 'active', 'studio', 0.01, 'owner-1')",
      [tenantId],
    ],
    ["insert into tenant_pricing (tenant_id, version, pricing) values ($1, 1, '{}')", [tenantId]],
    ['insert into tenant_host (tenant_id, host, verified_at) values ($1, $2, now())', [tenantId, host]],
    ["insert into owner_token (token_hash, tenant_id, user_id) values ($2, $1, 'owner-1')", [tenantId, randomBytes(32)]],
    [
      `insert into host_liveness (tenant_id, host, quoted_at, verified_at, observed_at, key_rejected_at)
     select * from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[])
       as heard (tenant_id, host, quoted_at, verified_at, observed_at, key_rejected_at) order by 1, 2
     on conflict (tenant_id, host) do update set
       quoted_at = greatest(host_liveness.quoted_at, excluded.quoted_at),
       verified_at = greatest(host_liveness.verified_at, excluded.verified_at),
       observed_at = greatest(host_liveness.observed_at, excluded.observed_at),
       key_rejected_at = greatest(host_liveness.key_rejected_at, excluded.key_rejected_at)`,
      [[tenantId], [host], [now], [null], [now], [null]],
    ],
    [
      `insert into audit_log (tenant_id, entry_id, actor_id, actor_via, action, target, before, after)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [tenantId, randomUUID(), 'owner-1', 'oidc', 'pricing.set', null, null, '{"version":1}'],
    ],
    [
      `insert into webhook_event (tenant_id, event_id, type, host, detailed, summary, created_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp()) on conflict do nothing`,
      [tenantId, `evt_${randomUUID()}`, 'settlement.completed', host, '{}', '{}'],
    ],
  ];
}

function people(tenantId: string, host: string): Statement[] {
  const token = randomBytes(32);
  const accountId = randomUUID();
  return [
    [
      `insert into alert_address (tenant_id, email) select tenant_id, $2 from tenant where tenant_id = $1
     on conflict (tenant_id) do update set email = excluded.email, updated_at = now() returning 1`,
      [tenantId, 'owner@old.example'],
    ],
    [
      `insert into alert_mail (tenant_id, mail_id, to_address, subject, detail)
     select tenant_id, $2, email, $3, $4 from alert_address where tenant_id = $1 on conflict do nothing`,
      [tenantId, 'mail-1', 'subject', 'detail'],
    ],
    [
      `update alert_mail m set attempts = attempts + 1, due_at = clock_timestamp() + power(2, attempts) * interval '1 minute'
     from (select tenant_id, mail_id from alert_mail where sent_at is null and due_at <= clock_timestamp() and attempts < 8
         and created_at > clock_timestamp() - interval '1 day'
       order by due_at limit $1 for update skip locked) due
     where m.tenant_id = due.tenant_id and m.mail_id = due.mail_id
     returning m.tenant_id as "tenantId", m.mail_id as "mailId", m.to_address as "toAddress", m.subject, m.detail`,
      [10],
    ],
    [
      `insert into member (tenant_id, author_id, email, invite_id, invite_expires_at) values ($1, $2, $3, $4, $5)
       on conflict (tenant_id, author_id) do update set email = excluded.email, invite_id = excluded.invite_id,
         invite_expires_at = excluded.invite_expires_at where member.accepted_at is null
       returning 1`,
      [tenantId, 'author-1', 'writer@old.example', randomUUID(), new Date(Date.now() + 3_600_000)],
    ],
    [
      'insert into member_invite_hash (token_hash, tenant_id, author_id, pepper_id) values ($1, $2, $3, $4)',
      [token, tenantId, 'author-1', 'pepper'],
    ],
    [
      `with used as (delete from member_invite_hash where token_hash = any($1::bytea[]) returning tenant_id, author_id)
       update member set accepted_at = $3, user_id = $2 from used
        where member.tenant_id = used.tenant_id and member.author_id = used.author_id and member.accepted_at is null
          and member.invite_expires_at > $3
       returning member.tenant_id, member.author_id`,
      [[token], 'writer-1', now],
    ],
    ['insert into buyer_account (account_id, name) values ($1, $2)', [accountId, 'buyer']],
    [
      `insert into open_licence_offer (${OFFER}, page_count, pages_digest)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
      [...offer(tenantId, accountId, host), 1, 'digest'],
    ],
    [
      `insert into licence_offer (${OFFER}, pages)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) on conflict do nothing`,
      [...offer(tenantId, accountId, host), '[]'],
    ],
  ];
}

const OFFER = `offer_id, tenant_id, account_id, request_hash, host, patterns, terms, kind, period_from,
       period_until, price_micro, legs, leg_words, pay_to, network, asset, router, holder, expires_at`;

function offer(tenantId: string, accountId: string, host: string): unknown[] {
  return [
    ...[randomUUID(), tenantId, accountId, 'request', host, ['/*'], ['read'], 'read', now, new Date(Date.now() + 3_600_000)],
    ...['10', LEGS, null, address(), NETWORK, address(), address(), null, new Date(Date.now() + 600_000)],
  ];
}

const LEGS = JSON.stringify([{ toAddress: `0x${'1'.repeat(40)}`, amountMicro: '10', role: 'author', authorId: 'author-1' }]);

/** A payment: taken in, claimed into a batch of a relayer, settled; and what its site reports. */
function sale(tenantId: string, host: string): Statement[] {
  const [paymentId, batchId, relayer, payer] = [randomUUID(), randomUUID(), address(), address()];
  const [asset, nonce, txHash] = [address(), word(), word()];
  const row = {
    ...{ tenant_id: tenantId, payment_id: paymentId, mode: 'live', network: NETWORK, asset, payer, pay_to: address(), nonce },
    ...{ valid_after: '0', valid_before: '9999999999', signature: '0x00', lane: 'plain', x402_version: 1, host, slug: 'a' },
    ...{
      resource: `https://${host}/a`,
      resource_key: 'a',
      kind: 'read',
      amount_micro: '10',
      legs: JSON.parse(LEGS),
      leg_words: null,
    },
    ...{ router: address(), binding: 'none', agent: { label: 'gptbot' }, key_id: null, state: 'accepted', successor_id: null },
    ...{ repeats_licence: false, unused_at_block: null, purpose: 'page', account_id: null, licence_offer_id: null },
    planned_gas: '120000',
  };
  const columns = Object.keys(row);
  const settled = {
    ...{
      tenant_id: tenantId,
      payment_id: paymentId,
      state: 'settled',
      batch_id: batchId,
      attempts: 0,
      reason: null,
      recorded: true,
    },
    ...{ failure_observed: false, watched: true, tx_hash: txHash, log_position: 0, block_number: '1', block_time: null },
    ...{ raw_reason: null, sentence: null, successor_id: null, decision: 'now' },
  };
  return [
    [
      `insert into payment (${columns.join(', ')}, settler, decided_at)
     select ${columns.map((name) => `new.${name}`).join(', ')}, case when new.mode = 'mock' then 'mock' else 'relayer' end,
       case when new.state = 'superseded' then now() end
       from jsonb_populate_recordset(null::payment, $1) as new returning *`,
      [JSON.stringify([row])],
    ],
    [
      `insert into authorization_claim (network, asset, payer, nonce, tenant_id, payment_id)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::uuid[]) order by 1, 2, 3, 4
     on conflict do nothing returning payment_id`,
      [[NETWORK], [asset], [payer], [nonce], [tenantId], [paymentId]],
    ],
    [
      `insert into relayer (network, address, next_nonce, in_flight_limit) values ($1, $2, $3, $4)
     on conflict (network, address) do update set in_flight_limit = excluded.in_flight_limit`,
      [NETWORK, relayer, '0', 4],
    ],
    [
      `with taken as (
       update relayer set next_nonce = $5::bigint + 1 where network = $2 and address = $3
     ), held as (
       insert into relayer_nonce (network, relayer, nonce, batch_id) values ($2, $3, $5, $1)
     )
     insert into settlement_batch (batch_id, network, relayer, kind, workflow_id, nonce, gas_shares)
     values ($1, $2, $3, $4, $6, $5, $7::jsonb)`,
      [batchId, NETWORK, relayer, 'settle', '0', 'workflow', JSON.stringify({ [tenantId]: '1' })],
    ],
    [
      `insert into relayer_transaction (batch_id, attempt, network, relayer, nonce, kind, tx_hash, raw, gas_limit, max_fee_wei,
       priority_fee_wei) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (batch_id, attempt) do nothing returning 1`,
      [batchId, 1, NETWORK, relayer, '0', 'settle', txHash, '0x00', '120000', '1', '1'],
    ],
    [
      `update payment set state = 'broadcast', batch_id = $3, settler = $4, batch_size = $5
       from unnest($1::uuid[], $2::uuid[]) as taken (tenant_id, payment_id)
      where payment.tenant_id = taken.tenant_id and payment.payment_id = taken.payment_id
        and coalesce(payment.state, '') = 'accepted' and coalesce(payment.batch_id) is null
      returning payment.payment_id`,
      [[tenantId], [paymentId], batchId, 'relayer', 1],
    ],
    [SETTLE, [JSON.stringify([settled])]],
    [
      `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, kind, micro, agent, agent_ua,
       classify_reason, verified, verified_agent, sig_invalid, at)
     select tenant_id, uuidv7(), host, slug, verdict, classified_as, kind, micro, agent, agent_ua, classify_reason, verified,
       verified_agent, sig_invalid, to_timestamp(at_ms / 1000.0)
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[],
       $10::text[], $11::bool[], $12::text[], $13::bool[], $14::float8[])
       as report (tenant_id, host, slug, verdict, classified_as, kind, micro, agent, agent_ua, classify_reason, verified,
         verified_agent, sig_invalid, at_ms)`,
      [
        ...[
          [tenantId],
          [host],
          ['a'],
          ['denied'],
          ['agent'],
          ['read'],
          [10],
          ['other'],
          ['curl'],
          [null],
          [false],
          [null],
          [false],
        ],
        [Date.now()],
      ],
    ],
  ];
}

const SETTLE = `update payment set
       state = new.state, batch_id = new.batch_id, attempts = new.attempts, reason = new.reason, recorded = new.recorded,
       failure_observed = new.failure_observed, watched = new.watched, tx_hash = new.tx_hash,
       log_position = new.log_position, block_number = new.block_number,
       block_time = coalesce(new.block_time, payment.block_time),
       raw_reason = coalesce(new.raw_reason, payment.raw_reason), sentence = coalesce(new.sentence, payment.sentence),
       successor_id = new.successor_id,
       decided_at = case new.decision when 'now' then clock_timestamp() when 'kept' then payment.decided_at end,
       settled_at = coalesce(payment.settled_at,
         case when payment.state in ('settled', 'final') then payment.decided_at
           when new.state in ('settled', 'final') then clock_timestamp() end),
       final_at = case when new.state = 'final' then now() else null end, checked_at = now()
     from jsonb_to_recordset($1::jsonb) as new (tenant_id uuid, payment_id uuid, state text, batch_id uuid, attempts int,
       reason text, recorded bool, failure_observed bool, watched bool, tx_hash text, log_position int, block_number bigint,
       block_time timestamptz, raw_reason text, sentence text, successor_id uuid, decision text)
     where payment.tenant_id = new.tenant_id and payment.payment_id = new.payment_id`;

/** Fixes licences where none is fixed yet: sites, payments, ids, times of issue and of expiry, keys. */
export const OLD_FIX = `with fresh as (
       select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[], $6::text[])
         as entry (tenant_id, payment_id, jti, issued_at, expires_at, kid)
     ), held as (
       select payment.tenant_id, payment.payment_id from payment join fresh using (tenant_id, payment_id)
        order by payment.tenant_id, payment.payment_id for update of payment
     )
     update payment set
       licence_issued_at = case when licence_jti is null then fresh.issued_at else licence_issued_at end,
       licence_expires_at = case when licence_jti is null then fresh.expires_at else licence_expires_at end,
       licence_kid = case when licence_jti is null then fresh.kid else licence_kid end,
       licence_jti = coalesce(licence_jti, fresh.jti)
     from fresh join held using (tenant_id, payment_id)
     where payment.tenant_id = fresh.tenant_id and payment.payment_id = fresh.payment_id
     returning payment.payment_id, licence_jti, licence_issued_at, licence_expires_at, licence_kid`;
