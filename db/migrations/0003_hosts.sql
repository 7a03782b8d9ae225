-- Hosts of sites, their verification: challenges, caps on checks, probes, lapses (decisions 3.10, 5.1, 5.3).

create table tenant_host (
  tenant_id uuid not null references tenant,
  host text not null check (host = lower(host)),
  position integer not null default 0,
  verified_at timestamptz(3),
  -- what the routing probe saw last; `routing_verified_at` is its result and nobody else's
  routing_verified_at timestamptz(3),
  probed_at timestamptz(3),
  probed_cname text check (probed_cname in ('fleet', 'elsewhere', 'unknown')),
  probed_live text check (probed_live in ('fleet', 'elsewhere', 'unknown')),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, host)
);
grant select, insert, update, delete on tenant_host to svc_app;

-- A host that was verified belongs to one site.
create table host_claim (
  host text primary key,
  tenant_id uuid not null
);
grant select, insert, update, delete on host_claim to svc_app;

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
grant select, insert, update, delete on host_challenge to svc_app;

-- Token buckets an account (the owner of its sites, or the site): manual checks, and looks at a site when a challenge is opened.
create table host_check_bucket (
  account text not null,
  kind text not null check (kind in ('check', 'look')),
  tokens double precision not null,
  filled_at timestamptz(3) not null,
  primary key (account, kind)
);
grant select, insert, update, delete on host_check_bucket to svc_app;

-- What stands against a hostname for every tenant; gone when it is proved. `checks`: manual ones by tenants that do not own it, all tenants
-- together, never reset before. `lapsed_at`: ownership lapsed; for 72 hours only DNS proves the host.
create table host_caution (
  host text primary key,
  checks integer not null default 0,
  lapsed_tenant_id uuid,
  lapsed_at timestamptz(3),
  check ((lapsed_at is null) = (lapsed_tenant_id is null))
);
grant select, insert, update, delete on host_caution to svc_app;
