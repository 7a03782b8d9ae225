-- What gates report, and the agents they meet.

-- When a host was last heard of. `host` is '' for a refused key that named no host.
create table host_liveness (
  tenant_id uuid not null,
  host text not null,
  quoted_at timestamptz(3),
  verified_at timestamptz(3), -- a payment was sent to be verified
  observed_at timestamptz(3),
  key_rejected_at timestamptz(3),
  plan_gated_at timestamptz(3), -- a key that was refused for its site's plan is no key to be rotated
  failed_open_at timestamptz(3), -- a gate said that it served pages free while the service was away
  primary key (tenant_id, host)
);
grant select, insert, update, delete on host_liveness to svc_app;

-- ── agents ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Keys of agents that sign their requests, as their directories showed them. A directory is public and the same for every site, so these
-- rows belong to no tenant; what a site may learn of them is what it could read there itself. A key is known by the address it was read at
-- and its thumbprint together: the same key at another address says nothing.
create table agent_directory (
  address text primary key,
  type text not null,
  host text not null,
  -- when it last answered, and until when that is fresh; a failure changes neither
  read_at timestamptz(3) not null,
  fresh_until timestamptz(3) not null,
  keys jsonb not null check (jsonb_typeof(keys) = 'object'), -- what it held then: public keys by their thumbprints
  -- what the agent says of itself; nobody vouches for it
  operator text,
  purpose text,
  card_at timestamptz(3),
  constraint agent_directory_bounds check (length(address) <= 2200 and length(operator) <= 120 and length(purpose) <= 120)
);
create index agent_directory_of_host on agent_directory (host) where type = 'directory';
create index agent_directory_read on agent_directory (read_at);
grant select, insert, update, delete on agent_directory to svc_app;

-- Names that agents outside the list of known crawlers give themselves (ADR 0053). A name takes one of the places of its site and day, and is
-- then the label of its requests; there are no more than 200 places, so that invented names cannot grow the rollups.
create table agent_name (
  tenant_id uuid not null,
  day date not null, -- of UTC, of the request
  place smallint not null check (place between 1 and 200),
  name text not null check (name ~ '^[a-z0-9][a-z0-9_-]{1,39}$'), -- no dot, so never a host that was verified
  primary key (tenant_id, day, place),
  unique (tenant_id, day, name)
);
grant select, insert, delete on agent_name to svc_app;

-- Addresses that the operators of robots publish, as each list was last read. Public, and the same for every site. A failure changes nothing.
create table address_list (
  name text primary key check (length(name) <= 64),
  ranges text[] not null check (cardinality(ranges) between 1 and 5000), -- CIDR
  checked_at timestamptz(3) not null, -- when its operator last published exactly this
  changed_at timestamptz(3) not null
);
grant select, insert, update on address_list to svc_app;

-- ── observations ───────────────────────────────────────────────────────────────────────────────────────────────────────

create table observation (
  tenant_id uuid not null,
  observation_id uuid not null,
  host text not null,
  slug text not null,
  verdict text not null check (verdict in ('served-free', 'agent-reread', 'denied', 'blocked', 'paid',
    'payment-failed', 'unservable')),
  classified_as text not null check (classified_as in ('human', 'agent')),
  kind text check (kind in ('read', 'citation')),
  micro bigint,
  reason text,
  count smallint not null default 1 check (count in (1, -1)), -- -1 takes an earlier observation back
  payment_id uuid,
  agent text not null, -- normalised: verified host, known crawler, or other
  agent_ua text,
  classify_reason text,
  verified boolean,
  verified_agent text,
  sig_invalid boolean,
  at timestamptz(3) not null,
  recorded_at timestamptz(3) not null default now(),
  primary key (tenant_id, at, observation_id)
) partition by range (at);
-- Corrections are few: this says at once that a row stands.
create index observation_taken_back on observation (tenant_id, payment_id, verdict) where count = -1;
grant select, insert, update, delete on observation to svc_app;

create table observation_default partition of observation default;

-- Makes the day partitions from yesterday to `days` ahead; repeated calls change nothing (safety 11). Owner's rights: the
-- service may call it without owning a table.
create function ensure_observation_partitions(days integer) returns integer
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  day date;
  made integer := 0;
  name text;
begin
  for day in select generate_series(current_date - 1, current_date + days, interval '1 day')::date loop
    name := 'observation_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table %I partition of observation for values from (%L) to (%L)', name,
        day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
      made := made + 1;
    end if;
  end loop;
  return made;
end $$;

select ensure_observation_partitions(35);
grant execute on function ensure_observation_partitions(integer) to svc_app;
