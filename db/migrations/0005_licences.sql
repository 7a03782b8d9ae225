-- Licences over a scope of pages, the offers they are bought from, and how buyer accounts sign in (specification: Licences).

-- ── what a site sells as a scope ───────────────────────────────────────────────────────────────────────────────────
create table licence_offering (
  tenant_id uuid primary key references tenant,
  sells_training boolean not null default false, -- `ai-train` and `all` are refused unless the owner said yes
  period_factors jsonb, -- [{upToDays, factor}], ascending; null: 1 up to 30 days, half a price more for each further 30
  updated_at timestamptz(3) not null default now()
);

-- Pages the owner imported, besides those of credits_inline.
create table imported_page (
  tenant_id uuid not null references tenant,
  slug text not null,
  path text not null,
  title text,
  credits jsonb, -- null: nobody can be paid for it, so no scope with it is sold
  imported_at timestamptz(3) not null default now(),
  primary key (tenant_id, slug),
  unique (tenant_id, path)
);

-- ── offers ─────────────────────────────────────────────────────────────────────────────────────────────────────────
-- What a 402 offered, frozen: a payment names its offer, and everything a licence is made of stands here (safety 16).
create table licence_offer (
  offer_id uuid primary key,
  tenant_id uuid not null references tenant,
  account_id uuid not null references buyer_account,
  request_hash text not null,
  host text not null,
  patterns text[] not null,
  terms text[] not null,
  kind text not null check (kind in ('read', 'citation')),
  period_from timestamptz(3) not null,
  period_until timestamptz(3) not null,
  price_micro bigint not null check (price_micro > 0),
  pages jsonb not null, -- [{path, slug, micro}]
  legs jsonb not null,
  leg_words text[],
  pay_to text not null,
  network text not null,
  asset text not null,
  router text not null,
  holder text,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  check (legs_total(legs) = price_micro),
  check (period_until > period_from)
);
create index licence_offer_by_request on licence_offer (account_id, request_hash, expires_at desc);
create index licence_offer_expired on licence_offer (expires_at);

-- The offer that stands for a request of an account; its row is the lock of two processes that offer at once.
create table licence_offer_memory (
  account_id uuid not null references buyer_account,
  request_hash text not null,
  offer_id uuid not null,
  expires_at timestamptz(3) not null,
  primary key (account_id, request_hash)
);

alter table payment add column licence_offer_id uuid references licence_offer;
alter table payment add constraint payment_licence_has_offer
  check ((purpose = 'licence') = (licence_offer_id is not null) and (purpose = 'licence') = (account_id is not null));
create index payment_licence_offer on payment (licence_offer_id) where licence_offer_id is not null;

-- ── licences ───────────────────────────────────────────────────────────────────────────────────────────────────────
create table licence (
  tenant_id uuid not null references tenant,
  jti uuid not null, -- the id of the payment that bought it
  account_id uuid not null references buyer_account,
  payment_id uuid not null,
  offer_id uuid not null references licence_offer,
  host text not null,
  patterns text[] not null,
  terms text[] not null,
  kind text not null check (kind in ('read', 'citation')),
  period_from timestamptz(3) not null,
  period_until timestamptz(3) not null,
  price_micro bigint not null,
  legs jsonb not null,
  holder text,
  bought_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  revoked_reason text check (revoked_reason in ('revoked', 'payment_reverted')),
  primary key (tenant_id, jti),
  unique (tenant_id, payment_id),
  foreign key (tenant_id, payment_id) references payment,
  check ((revoked_at is null) = (revoked_reason is null))
);

create table licence_page (
  tenant_id uuid not null,
  jti uuid not null,
  path text not null, -- as patterns see it: percent-encoded
  slug text not null,
  micro bigint not null,
  primary key (tenant_id, jti, path),
  foreign key (tenant_id, jti) references licence
);

-- Which site a licence of an account belongs to (safety 25).
create table account_licence (
  account_id uuid not null references buyer_account,
  jti uuid not null,
  tenant_id uuid not null,
  bought_at timestamptz(3) not null,
  primary key (account_id, jti),
  foreign key (tenant_id, jti) references licence
);
create index account_licence_newest on account_licence (account_id, bought_at desc, jti);

-- What an access token covers that is too large to say so itself; paths null: every page of its licence.
create table access_scope (
  tenant_id uuid not null,
  jti text not null,
  licence_jti uuid not null,
  paths text[],
  expires_at timestamptz(3) not null,
  primary key (tenant_id, jti),
  foreign key (tenant_id, licence_jti) references licence
);
create index access_scope_expired on access_scope (expires_at);

-- The deny-list: licences, access tokens and re-read licences that entitle to nothing any more.
create table denied_licence (
  tenant_id uuid not null references tenant,
  jti text not null,
  reason text not null,
  denied_at timestamptz(3) not null default now(),
  primary key (tenant_id, jti)
);

-- Holder proofs that were used: (token, nonce) counts once.
create table used_proof (
  tenant_id uuid not null,
  jti text not null,
  nonce text not null,
  expires_at timestamptz(3) not null,
  primary key (tenant_id, jti, nonce)
);
create index used_proof_expired on used_proof (expires_at);

-- ── signing in ─────────────────────────────────────────────────────────────────────────────────────────────────────
create table sign_in_nonce (
  nonce text primary key,
  expires_at timestamptz(3) not null
);
create index sign_in_nonce_expired on sign_in_nonce (expires_at);

create table oauth_client (
  client_id uuid primary key,
  account_id uuid not null references buyer_account,
  name text,
  secret_hash bytea,
  jwks jsonb,
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  check ((secret_hash is null) <> (jwks is null))
);
create index oauth_client_by_account on oauth_client (account_id);

create table used_assertion (
  client_id uuid not null references oauth_client,
  jti text not null,
  expires_at timestamptz(3) not null,
  primary key (client_id, jti)
);
create index used_assertion_expired on used_assertion (expires_at);

-- ── rights ─────────────────────────────────────────────────────────────────────────────────────────────────────────
grant select, insert, update, delete on licence_offering, imported_page, licence_offer_memory, access_scope, used_proof,
  sign_in_nonce, oauth_client, used_assertion to svc_app;
grant select, insert, delete on licence_offer to svc_app; -- an offer never changes
grant select, insert, update on licence to svc_app;
grant select, insert on licence_page, account_licence to svc_app;
grant select, insert, update, delete on denied_licence to svc_app;
