-- The reconciler's own rows, what enforcement shows, and the author roster.

-- Everything below `next_block` of a network was read when it was safe; reading begins a little below it again.
create table chain_cursor (
  network text primary key,
  next_block bigint not null check (next_block >= 0),
  safe_block bigint,
  corrected_block bigint not null default 0, -- flushes up to here are in the ledger to the micro
  read_at timestamptz(3)
);
create index chain_transfer_to on chain_transfer (network, to_address, block_number);
create index chain_transfer_block on chain_transfer (network, block_number);

-- The weights a split pays by, as its address binds them: the words of `split` taken apart, so that SQL can do the contract's sum.
create table split_leg (
  network text not null,
  pay_to text not null,
  ordinal smallint not null, -- 0 takes the remainder
  to_address text not null,
  weight numeric(30) not null check (weight > 0),
  total_weight numeric(33) not null check (total_weight >= weight),
  primary key (network, pay_to, ordinal)
);

-- What a tenant's own gate decides by, before it prices anything; nothing here is a price, a chain or a secret.
create table tenant_enforcement (
  tenant_id uuid primary key references tenant,
  gate_scope jsonb not null,
  seo_allowlist text[] not null,
  crawler_policy jsonb not null,
  updated_at timestamptz(3) not null default now()
);

-- When a host was last heard of. `host` is '' for a refused key that named no host.
create table host_liveness (
  tenant_id uuid not null,
  host text not null,
  quoted_at timestamptz(3),
  verified_at timestamptz(3), -- a payment was sent to be verified
  observed_at timestamptz(3),
  key_rejected_at timestamptz(3),
  primary key (tenant_id, host)
);

create table member (
  tenant_id uuid not null references tenant,
  author_id text not null,
  email text not null check (email = lower(email)),
  user_id text,
  accepted_at timestamptz(3),
  invite_id uuid not null, -- the token is an HMAC of it; only its hash stands in the database
  invite_expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, author_id),
  unique (tenant_id, email)
);
create table member_invite_hash (
  token_hash bytea primary key,
  tenant_id uuid not null,
  author_id text not null,
  foreign key (tenant_id, author_id) references member on delete cascade
);

grant select, insert, update, delete on chain_cursor, split_leg, tenant_enforcement, host_liveness, member,
  member_invite_hash to svc_app;
revoke update, delete on split_leg from svc_app;
