-- Sites: what their owners set, their members, and what was changed (docs/words.md: a tenant is a site).
-- For all files: money is bigint micro-USDC. Times are timestamptz(3): epoch milliseconds on the wire are exact. Every tenant-owned table's
-- primary key starts with tenant_id; each global uniqueness has a table of its own (safety 25). What the service's role may do stands at each
-- table: where a right is missing, nobody changes such a row (safety 5, 22).
grant usage on schema public to svc_app;
-- What has run: db/migrate.ts makes the table and is alone to write it; `admin doctor` reads it.
grant select on schema_migration to svc_app;

create table tenant (
  tenant_id uuid primary key,
  status text not null default 'pending' check (status in ('pending', 'active', 'suspended', 'closed')),
  plan text check (plan in ('free', 'starter', 'studio', 'scale', 'enterprise')),
  price_usdc numeric(18, 6) not null check (price_usdc >= 0),
  citation_multiplier numeric(9, 4) check (citation_multiplier > 0),
  article_prefixes text[],
  origin_url text,
  credits_api_url text,
  credits_inline jsonb,
  credits_free_slugs text[],
  license_issuer text,
  -- an owner is a subject of an issuer; null: not seen yet, and the issuer that the service runs with takes it (modules/identity/use/owners/issuer.ts)
  owner_user_id text,
  owner_issuer text,
  directory_listed boolean not null default false,
  wallet_public boolean not null default false,
  showcase_listed boolean not null default false,
  proof_public boolean not null default false,
  receipts_public boolean not null default true, -- whether everybody who knows the id of a payment may read its record
  -- who publishes, for statements; null: the owner never said
  legal_name text check (length(legal_name) between 1 and 200),
  legal_address text check (length(legal_address) between 1 and 500),
  networks text[] check (networks is null or cardinality(networks) between 1 and 20), -- by CAIP-2 id; null: the first one configured
  -- what its own gate decides by, before it prices anything: no price, no chain, no secret; null: the usual
  gate_scope jsonb,
  seo_allowlist text[],
  crawler_policy jsonb,
  -- what it sells as a scope: `ai-train` and `all` are refused unless the owner said yes; factors are [{upToDays, factor}], ascending; null: 1 up
  -- to 30 days, half a price more for each further 30
  sells_training boolean not null default false,
  period_factors jsonb,
  offering_changed_at timestamptz(3), -- null: the owner never said anything
  -- where its alerts go by e-mail: to `alert_email` while it is the one that was confirmed, so a changed address gets none until it is confirmed
  alert_email text check (length(alert_email) <= 254),
  confirmed_alert_email text,
  version integer not null default 1, -- counted up with every change of hosts, prices, networks and the issuer of licences
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
-- An owner is asked for by the subject of its identity provider.
create index tenant_by_owner on tenant (owner_user_id) where owner_user_id is not null;
grant select, insert, update, delete on tenant to svc_app;

-- ── the epoch of a site's rights ───────────────────────────────────────────────────────────────────────────────────────

-- How long what was read of a site's keys and licences may be remembered: as long as its epoch is the same. Whatever takes a right away
-- moves the epoch of its site in its own transaction, by these triggers, so that no statement can forget to. The value is drawn and
-- never comes again, also after a restore. Moved at commit, so that no transaction waits for anything while it holds this row.
create table access_epoch (
  tenant_id uuid primary key references tenant,
  epoch uuid not null
);
grant select on access_epoch to svc_app;

create function move_access_epoch() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  insert into access_epoch (tenant_id, epoch)
    select moved.tenant_id, gen_random_uuid()
      from (select distinct tenant_id from unnest(array[old.tenant_id, new.tenant_id]) as changed (tenant_id)
             where tenant_id is not null order by tenant_id) as moved
    on conflict (tenant_id) do update set epoch = excluded.epoch;
  return null;
end $$;

-- Hosts, prices, networks and the issuer of licences: a change of one increments the version of the site.
create constraint trigger access_epoch after update of status, plan, version on tenant
  deferrable initially deferred for each row execute function move_access_epoch();

-- ── prices and pages ───────────────────────────────────────────────────────────────────────────────────────────────────

-- Prices are versions (safety 17): what a quote may rest on, and how long ago it was in force.
create table tenant_pricing (
  tenant_id uuid not null references tenant,
  version integer not null,
  pricing jsonb not null,
  valid_from timestamptz(3) not null default now(),
  valid_until timestamptz(3),
  primary key (tenant_id, version)
);
grant select, insert, update, delete on tenant_pricing to svc_app;

-- The bearer token that a site's credits API asks for, sealed under SECRETS_KEY. It goes to the origin it was set for and to no other: an
-- owner who names another API sets it anew.
create table credits_token (
  tenant_id uuid primary key references tenant,
  origin text not null,
  sealed bytea not null,
  -- check value of the key that sealed it
  key_id text not null,
  set_at timestamptz(3) not null
);
grant select, insert, update, delete on credits_token to svc_app;

-- Answers of tenants' credits APIs, shared by all processes and kept over restarts; null credits: the API named somebody before, and nobody now.
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
grant select, insert, update, delete on credits_copy to svc_app;

-- Pages the owner imported, besides those of credits_inline.
create table imported_page (
  tenant_id uuid not null references tenant,
  slug text not null,
  path text not null, -- repeated slashes are one
  title text,
  credits jsonb, -- null: it names nobody; reads ask the credits API then, and no scope with it is sold
  imported_at timestamptz(3) not null default now(),
  primary key (tenant_id, slug),
  unique (tenant_id, path)
);
-- Catalogues are read in parts, in the order of the bytes of their paths, which is the order that scopes are looked up in.
create index imported_page_in_order on imported_page (tenant_id, path collate "C");
-- Whether a site has any with credits is read with every copy of the tenant.
create index imported_page_with_credits on imported_page (tenant_id) where credits is not null;
grant select, insert, update, delete on imported_page to svc_app;

-- What the last import or removal of a page replaced, which a payment may still rest on for ten minutes (safety 17).
create table former_credits (
  tenant_id uuid not null references tenant,
  path text not null, -- canonical
  credits jsonb, -- null: it named nobody
  ended_at timestamptz(3) not null,
  primary key (tenant_id, path)
);
create index former_credits_by_end on former_credits (tenant_id, ended_at);
grant select, insert, update, delete on former_credits to svc_app;

create function keep_former_credits() returns trigger
  language plpgsql set search_path = public, pg_temp
as $$
begin
  if tg_op = 'INSERT' then
    insert into former_credits (tenant_id, path, credits, ended_at)
      select tenant_id, path, null, now() from changed where credits is not null
      on conflict (tenant_id, path) do update set credits = excluded.credits, ended_at = excluded.ended_at;
  elsif tg_op = 'UPDATE' then
    insert into former_credits (tenant_id, path, credits, ended_at)
      select tenant_id, path, former.credits, now() from changed full join former using (tenant_id, path)
       where former.credits is distinct from changed.credits
      on conflict (tenant_id, path) do update set credits = excluded.credits, ended_at = excluded.ended_at;
  else
    insert into former_credits (tenant_id, path, credits, ended_at)
      select tenant_id, path, credits, now() from former where credits is not null
      on conflict (tenant_id, path) do update set credits = excluded.credits, ended_at = excluded.ended_at;
  end if;
  return null;
end $$;

create trigger former_credits_of_new after insert on imported_page referencing new table as changed
  for each statement execute function keep_former_credits();
create trigger former_credits_of_changed after update on imported_page referencing old table as former new table as changed
  for each statement execute function keep_former_credits();
create trigger former_credits_of_gone after delete on imported_page referencing old table as former
  for each statement execute function keep_former_credits();

-- ── people ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

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
grant select, insert, update, delete on member to svc_app;

create table member_invite_hash (
  token_hash bytea primary key,
  tenant_id uuid not null,
  author_id text not null,
  pepper_id text, -- as in api_key_hash
  foreign key (tenant_id, author_id) references member on delete cascade
);
grant select, insert, update, delete on member_invite_hash to svc_app;

-- One row a change, written in the database transaction of the change itself. Nobody may change or remove a row: the service may
-- only read and add, and the database alone says when. Secrets never stand here.
create table audit_log (
  tenant_id uuid not null references tenant,
  entry_id uuid not null,
  at timestamptz(3) not null default clock_timestamp(),
  actor_id text not null, -- user id at the identity provider, or the one bin/admin gave the token to
  actor_via text not null check (actor_via in ('oidc', 'token', 'operator', 'invitation')),
  action text not null check (action ~ '^[a-z]+\.[a-z_]+$'),
  target text, -- what of the site was changed: an id, a host, a slug; null: the site itself
  before jsonb, -- only what differs; null: there was nothing
  after jsonb, -- only what differs; null: there is nothing any more
  primary key (tenant_id, entry_id)
);
create index audit_log_newest on audit_log (tenant_id, at desc, entry_id desc);
-- What an operator changed.
create index audit_log_by_operator on audit_log (at desc, entry_id desc) where actor_via = 'operator';
grant select, insert (tenant_id, entry_id, actor_id, actor_via, action, target, before, after) on audit_log to svc_app;

-- Takes what says who an author is out of a site's audit log, and returns the e-mail addresses it found: those on the roster and those
-- of its entries about members. The entries themselves stay, and nobody may change anything else of them; entries about anything else
-- stay whole, also where they hold the same address: who inviting and erasing could blank them would hide where alerts went.
create function erase_member_from_audit_log(of_tenant uuid, author text) returns text[]
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  emails text[];
  email text;
begin
  select coalesce(array_agg(distinct word), '{}') into emails from (
    select member.email as word from member where tenant_id = of_tenant and author_id = author
    union all
    select shown.state ->> 'email' from audit_log, lateral (values (before), (after)) as shown (state)
     where tenant_id = of_tenant and target = author and action like 'member.%'
  ) as of_author where word like '%@%';
  update audit_log set before = before || '{"userId": "erased"}' where tenant_id = of_tenant and target = author
    and action like 'member.%' and before ->> 'userId' is not null;
  update audit_log set after = after || '{"userId": "erased"}' where tenant_id = of_tenant and target = author
    and action like 'member.%' and after ->> 'userId' is not null;
  foreach email in array emails loop
    update audit_log set before = replace(before::text, to_json(email)::text, '"erased"')::jsonb,
      after = replace(after::text, to_json(email)::text, '"erased"')::jsonb
     where tenant_id = of_tenant and action like 'member.%'
       and (strpos(before::text, to_json(email)::text) > 0 or strpos(after::text, to_json(email)::text) > 0);
  end loop;
  return emails;
end $$;

revoke execute on function erase_member_from_audit_log(uuid, text) from public;
grant execute on function erase_member_from_audit_log(uuid, text) to svc_app;
