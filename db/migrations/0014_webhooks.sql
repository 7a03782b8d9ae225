-- Webhooks: endpoints, events made when a window closes, deliveries and their attempts (specification, Events; safety 21).

-- Deliveries keep their endpoint, so an endpoint is never dropped: a deleted one is no longer listed, counted or sent to.
create table webhook_endpoint (
  tenant_id uuid not null references tenant,
  endpoint_id uuid not null,
  url text not null,
  channel text not null default 'raw' check (channel in ('raw', 'slack', 'discord', 'teams')),
  event_types text[] not null check (cardinality(event_types) > 0),
  host_filter text[], -- null: every host of the tenant
  profile text not null default 'detailed' check (profile in ('detailed', 'summary')),
  description text not null default '',
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('owner', 'gone', 'failing')),
  -- health: failed attempts since the last success; from ten on the endpoint cools and its first attempts wait
  failures_in_row integer not null default 0,
  failing_since timestamptz(3),
  exhausted_in_row integer not null default 0,
  cooled_until timestamptz(3),
  paused_until timestamptz(3), -- its owner, or an operator, wants nothing sent until then
  paused_since timestamptz(3), -- when the first of the pauses began that follow one another
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, endpoint_id),
  check (enabled = (disabled_reason is null)),
  check (deleted_at is null or not enabled)
);
-- An endpoint with `cooled_until` cools: its first attempts wait, and the time says when its workflow probes next (safety 21).
create index webhook_endpoint_cooling on webhook_endpoint (cooled_until) where cooled_until is not null;
grant select, insert, update, delete on webhook_endpoint to svc_app;

-- Secrets, sealed (AES-256-GCM). During a rotation two are valid; every valid one signs.
create table webhook_secret (
  tenant_id uuid not null,
  endpoint_id uuid not null,
  secret_id uuid not null,
  sealed bytea not null,
  key_id text, -- check value of the SECRETS_KEY that it is sealed with
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  primary key (tenant_id, endpoint_id, secret_id),
  foreign key (tenant_id, endpoint_id) references webhook_endpoint
);
grant select, insert, update, delete on webhook_secret to svc_app;

-- The slots of an endpoint: at most two requests in flight, from all workers together. A slot says which delivery it is leased for, so that leasing
-- writes no delivery.
create table endpoint_lease (
  tenant_id uuid not null,
  endpoint_id uuid not null,
  slot smallint not null check (slot in (1, 2)),
  leased_until timestamptz(3) not null default '-infinity',
  lease_id uuid,
  delivery_id text,
  primary key (tenant_id, endpoint_id, slot),
  foreign key (tenant_id, endpoint_id) references webhook_endpoint
) with (fillfactor = 50);
grant select, insert, update, delete on endpoint_lease to svc_app;

-- ── events ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Up to when the windows of a host are closed; its row is the lock under which a window closes.
create table event_window (
  tenant_id uuid not null,
  host text not null,
  closed_until timestamptz(3) not null default '-infinity',
  primary key (tenant_id, host)
);
grant select, insert, update, delete on event_window to svc_app;

-- One event id always carries the same data (invariant 8): json keeps the text, and nobody may update it.
create table webhook_event (
  tenant_id uuid not null references tenant,
  event_id text not null,
  type text not null check (type in ('settlement.completed', 'anomaly.detected')),
  host text,
  detailed json not null,
  summary json not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, event_id)
);
create index webhook_event_newest on webhook_event (tenant_id, created_at desc);
grant select, insert on webhook_event to svc_app;

-- Which event announced a leg; each leg is announced once (safety 5).
create table webhook_event_leg (
  tenant_id uuid not null,
  crossing_id uuid not null,
  ordinal smallint not null,
  event_id text not null,
  primary key (tenant_id, crossing_id, ordinal),
  foreign key (tenant_id, crossing_id, ordinal) references leg,
  foreign key (tenant_id, event_id) references webhook_event
);
create index webhook_event_leg_event on webhook_event_leg (tenant_id, event_id);
grant select, insert on webhook_event_leg to svc_app;

-- ── deliveries ─────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The bytes of a delivery are made from rows that never change, its profile among them, instead of being stored; those of chat messages are.
create table delivery (
  tenant_id uuid not null,
  delivery_id text not null check (delivery_id like 'dlv\_%'),
  event_id text not null,
  endpoint_id uuid not null,
  redelivery smallint not null default 0, -- 0 made with the event; each redelivery asked for counts one up
  bucket smallint not null check (bucket between 0 and 255), -- hash of the endpoint; a shard owns a range of buckets
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'exhausted')),
  reason text, -- why it is failed or exhausted, or why the last attempt failed
  attempts smallint not null default 0,
  retrying boolean not null default false, -- the first attempt failed: its endpoint's workflow makes the others
  schedule_from smallint not null default 0, -- a recovered delivery begins its schedule anew after so many attempts; its log goes on counting
  profile text not null default 'detailed' check (profile in ('detailed', 'summary')), -- its endpoint's, when it was made
  body text, -- the bytes, frozen when the first attempt begins
  due_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  decided_at timestamptz(3),
  primary key (tenant_id, delivery_id),
  unique (tenant_id, event_id, endpoint_id, redelivery),
  foreign key (tenant_id, event_id) references webhook_event,
  foreign key (tenant_id, endpoint_id) references webhook_endpoint
);
create index delivery_first on delivery (bucket, tenant_id, endpoint_id, delivery_id) where state = 'pending' and not retrying;
create index delivery_retrying on delivery (bucket, tenant_id, endpoint_id, due_at) where state = 'pending' and retrying;
-- What fails now is looked for by its site: a few deliveries among all that ever went out.
create index delivery_failing on delivery (tenant_id, delivery_id) where state = 'pending' and attempts > 0;
create index delivery_newest on delivery (tenant_id, endpoint_id, delivery_id desc);
grant select, insert, update, delete on delivery to svc_app;

create table delivery_attempt (
  tenant_id uuid not null,
  delivery_id text not null,
  attempt smallint not null check (attempt > 0),
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  status smallint,
  reason text, -- null: delivered
  response_start text not null default '' check (octet_length(response_start) <= 2048),
  primary key (tenant_id, delivery_id, attempt),
  foreign key (tenant_id, delivery_id) references delivery
);
grant select, insert on delivery_attempt to svc_app;

-- Deletes some of a site's events that are older than `before`, with their deliveries and attempts; how many events. One of which a
-- delivery waits, or is younger, stays. The service may not delete such rows itself; through this it reaches none of the last week.
create function forget_tenant_events(of_tenant uuid, before timestamptz, most integer) returns integer
  language sql security definer set search_path = public, pg_temp
as $$
  with old as materialized (
    select event_id from webhook_event as event
     where tenant_id = of_tenant and created_at < least(before, now() - interval '7 days')
       and not exists (select from delivery
         where delivery.tenant_id = of_tenant and delivery.event_id = event.event_id
           and (delivery.state = 'pending' or delivery.created_at >= before or delivery.decided_at >= before))
     order by created_at limit most for update skip locked
  ), sent as materialized (
    select delivery_id from delivery where tenant_id = of_tenant and event_id in (select event_id from old)
  ), no_attempts as (
    delete from delivery_attempt where tenant_id = of_tenant and delivery_id in (select delivery_id from sent)
  ), no_deliveries as (
    delete from delivery where tenant_id = of_tenant and delivery_id in (select delivery_id from sent)
  ), no_legs as (
    delete from webhook_event_leg where tenant_id = of_tenant and event_id in (select event_id from old)
  ), gone as (
    delete from webhook_event where tenant_id = of_tenant and event_id in (select event_id from old) returning 1
  )
  select count(*)::integer from gone
$$;

revoke execute on function forget_tenant_events(uuid, timestamptz, integer) from public;
grant execute on function forget_tenant_events(uuid, timestamptz, integer) to svc_app;
