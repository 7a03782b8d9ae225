-- Catalogues are read in parts, in the order of the bytes of their paths, which is the order that scopes are looked up in.
create index imported_page_in_order on imported_page (tenant_id, path collate "C");

-- Challenges of sign-in carry their own proof; only used ones are stored, until they end. sign_in_nonce is of processes of the version
-- before, while they run beside.
create table used_sign_in (
  nonce text primary key,
  expires_at timestamptz(3) not null
);
create index used_sign_in_expired on used_sign_in (expires_at);
grant select, insert, delete on used_sign_in to svc_app;

-- An offer nobody paid for is kept for minutes, with a digest of its pages. Its row in licence_offer, which never changes, is written with
-- the pages themselves when a payment for it is about to get its row; processes of the version before read and write only that table.
create table open_licence_offer (
  tenant_id uuid not null references tenant,
  offer_id uuid not null,
  account_id uuid not null references buyer_account,
  request_hash text not null,
  host text not null,
  patterns text[] not null,
  terms text[] not null,
  kind text not null check (kind in ('read', 'citation')),
  period_from timestamptz(3) not null,
  period_until timestamptz(3) not null,
  price_micro bigint not null check (price_micro > 0),
  page_count integer not null check (page_count > 0 and price_micro % page_count = 0), -- each page costs the same
  pages_digest text not null,
  legs jsonb not null,
  leg_words text[],
  pay_to text not null,
  network text not null,
  asset text not null,
  router text not null,
  holder text,
  expires_at timestamptz(3) not null,
  primary key (tenant_id, offer_id),
  check (legs_total(legs) = price_micro),
  check (period_until > period_from)
);
create index open_licence_offer_by_id on open_licence_offer (offer_id);
create index open_licence_offer_by_request on open_licence_offer (account_id, request_hash, expires_at desc);
create index open_licence_offer_of_site on open_licence_offer (tenant_id, expires_at);
create index open_licence_offer_expired on open_licence_offer (expires_at);
grant select, insert, delete on open_licence_offer to svc_app;
