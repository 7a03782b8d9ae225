-- Host verification: challenges, caps on checks, probes, lapses (decisions 3.10, 5.1, 5.3).
-- Verified hosts themselves stand in tenant_host and host_claim (0001).

-- One proof task of a tenant for a host. Open until `verified_at` of tenant_host is set; open again after a lapse.
create table host_challenge (
  tenant_id uuid not null references tenant,
  host text not null check (host = lower(host)),
  state text not null default 'open' check (state in ('open', 'verified')),
  method text not null check (method in ('well-known', 'meta-tag', 'dns-txt')),
  token text not null check (length(token) >= 22),
  token_issued_at timestamptz(3) not null,
  -- what the host's site showed
  capability text not null default 'unknown' check (capability in ('code', 'prefer_code', 'dns_only', 'locked', 'unknown')),
  code_artifact text check (code_artifact in ('npm', 'wordpress_plugin')),
  looked_at timestamptz(3),
  -- checks: scheduled ones count for the back-off, manual ones keep their distance
  scheduled_checks integer not null default 0,
  next_check_at timestamptz(3),
  manual_check_at timestamptz(3),
  checked_at timestamptz(3),
  last_reason text,
  -- rechecks of a verified host that fail: when the first one did, and how often that was confirmed
  failing_since timestamptz(3),
  confirmations smallint not null default 0,
  opened_at timestamptz(3) not null,
  primary key (tenant_id, host)
);

-- Manual checks of a hostname by tenants that do not own it, all tenants together; never reset while nobody proved it.
create table host_check_count (
  host text primary key,
  checks integer not null
);

-- Token buckets an account (the owner of its sites, or the site): manual checks, and looks at a site when a challenge is opened.
create table host_check_bucket (
  account text not null,
  kind text not null check (kind in ('check', 'look')),
  tokens double precision not null,
  filled_at timestamptz(3) not null,
  primary key (account, kind)
);

-- Ownership that lapsed: for 72 hours only DNS proves the host, whoever asks.
create table host_lapse (
  host text primary key,
  tenant_id uuid not null,
  lapsed_at timestamptz(3) not null
);

-- What the routing probe saw last; `routing_verified_at` of tenant_host is its result and nobody else's.
create table host_probe (
  tenant_id uuid not null references tenant,
  host text not null,
  probed_at timestamptz(3) not null,
  cname text not null check (cname in ('fleet', 'elsewhere', 'unknown')),
  live text not null check (live in ('fleet', 'elsewhere', 'unknown')),
  primary key (tenant_id, host)
);

-- Scopes that left a key because its site's host was verified.
create table key_scope_drop (
  tenant_id uuid not null,
  key_id uuid not null,
  scope text not null,
  host text not null,
  dropped_at timestamptz(3) not null,
  primary key (tenant_id, key_id, scope),
  foreign key (tenant_id, key_id) references api_key
);

-- Answers of tenants' credits APIs, shared by all processes and kept over restarts; null credits: the page is free.
create table credits_copy (
  tenant_id uuid not null references tenant,
  api_url text not null,
  slug text not null,
  credits jsonb,
  fetched_at timestamptz(3) not null,
  -- the answer before this one, which a payment may still rest on (safety 17)
  previous jsonb,
  previous_until timestamptz(3),
  primary key (tenant_id, api_url, slug)
);

grant select, insert, update, delete on host_challenge, host_check_count, host_check_bucket, host_lapse, host_probe,
  credits_copy to svc_app;
grant select, insert on key_scope_drop to svc_app;
