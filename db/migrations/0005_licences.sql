-- Licences over a scope of pages, and the offers they are bought from (specification: Licences).

-- Σ of a jsonb list of legs, for the checks that hold invariant 4.
create function legs_total(legs jsonb) returns numeric
  language sql immutable parallel safe
  return (select coalesce(sum((leg ->> 'amountMicro')::numeric), 0) from jsonb_array_elements(legs) as leg);

-- Names a payment: in the place of a foreign key, which would hold every payment in its table for ever. Closed months are a statement of their
-- own: in one with the open table each sale would lock all of them.
create function names_payment() returns trigger language plpgsql as $$
begin
  if not exists (select from public.payment_intake as i where i.tenant_id = new.tenant_id and i.payment_id = new.payment_id) then
    if not exists (select from archive.payment_intake as i where i.tenant_id = new.tenant_id and i.payment_id = new.payment_id) then
      raise foreign_key_violation using message = format('%s names payment %s, which is not there', tg_table_name, new.payment_id);
    end if;
  end if;
  return null;
end $$;

-- ── offers ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- What a 402 offered, frozen: a payment names its offer, and everything a licence is made of stands here (safety 16).
create table licence_offer (
  offer_id uuid not null,
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
  primary key (tenant_id, offer_id),
  check (legs_total(legs) = price_micro),
  check (period_until > period_from)
);
create index licence_offer_by_request on licence_offer (account_id, request_hash, expires_at desc);
create index licence_offer_expired on licence_offer (expires_at);
create index licence_offer_by_id on licence_offer (offer_id);
grant select, insert, delete on licence_offer to svc_app; -- an offer never changes

-- An offer nobody paid for is kept for minutes, with a digest of its pages. Its row in licence_offer, which never changes, is written with
-- the pages themselves when a payment for it is about to get its row.
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
create index open_licence_offer_of_tenant on open_licence_offer (tenant_id, expires_at);
create index open_licence_offer_expired on open_licence_offer (expires_at);
grant select, insert, delete on open_licence_offer to svc_app;

-- ── licences ───────────────────────────────────────────────────────────────────────────────────────────────────────────

create table licence (
  tenant_id uuid not null references tenant,
  jti uuid not null, -- the id of the payment that bought it
  account_id uuid not null references buyer_account,
  payment_id uuid not null,
  offer_id uuid not null,
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
  foreign key (tenant_id, offer_id) references licence_offer,
  check ((revoked_at is null) = (revoked_reason is null))
);
create index licence_newest on licence (tenant_id, bought_at desc, jti desc);
create constraint trigger names_payment after insert or update of tenant_id, payment_id on licence
  for each row execute function names_payment();
grant select, insert, update on licence to svc_app;

create table licence_page (
  tenant_id uuid not null,
  jti uuid not null,
  path text not null, -- as patterns see it: percent-encoded
  slug text not null,
  micro bigint not null,
  primary key (tenant_id, jti, path),
  foreign key (tenant_id, jti) references licence
);
grant select, insert on licence_page to svc_app;

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
grant select, insert on account_licence to svc_app;

-- What a buyer account is told of its purchases, in order: a purchase may be decided long after its caller went away.
create table account_notice (
  tenant_id uuid not null,
  payment_id uuid not null,
  position smallint not null, -- among those of its purchase
  kind text not null check (kind in
    ('licence_granted', 'licence_taken_back', 'purchase_failed', 'purchase_expired', 'purchase_in_review')),
  account_id uuid not null references buyer_account,
  at timestamptz(3) not null default now(),
  primary key (tenant_id, payment_id, position)
);
create index account_notice_newest on account_notice (account_id, at desc, payment_id);
create constraint trigger names_payment after insert or update of tenant_id, payment_id on account_notice
  for each row execute function names_payment();
grant select, insert on account_notice to svc_app; -- what an account was told never changes

-- Purchases of which more may come: written with the payment, held by each look of their workflow, deleted by its last. One that nobody holds
-- is given a workflow.
create table open_purchase (
  tenant_id uuid not null,
  payment_id uuid not null,
  network text not null,
  held_until timestamptz(3) not null default now(),
  primary key (tenant_id, payment_id)
);
create index open_purchase_held on open_purchase (network, held_until);
create constraint trigger names_payment after insert or update of tenant_id, payment_id on open_purchase
  for each row execute function names_payment();
grant select, insert, update, delete on open_purchase to svc_app;

-- ── what a licence opens ───────────────────────────────────────────────────────────────────────────────────────────────

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
-- One that has ended goes with the token it belongs to, which says so itself.
create constraint trigger access_epoch after update on access_scope
  deferrable initially deferred for each row execute function move_access_epoch();
create constraint trigger access_epoch_of_living after delete on access_scope
  deferrable initially deferred for each row when (old.expires_at > now()) execute function move_access_epoch();
grant select, insert, update, delete on access_scope to svc_app;

-- The deny-list: licences, access tokens and re-read licences that entitle to nothing any more.
create table denied_licence (
  tenant_id uuid not null references tenant,
  jti text not null,
  reason text not null,
  denied_at timestamptz(3) not null default now(),
  primary key (tenant_id, jti)
);
-- Taking one off the list gives a right back: what is refused is not remembered.
create constraint trigger access_epoch after insert or update on denied_licence
  deferrable initially deferred for each row execute function move_access_epoch();
grant select, insert, update, delete on denied_licence to svc_app;
