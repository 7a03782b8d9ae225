-- How callers prove themselves: keys of sites, owners, buyer accounts and their clients; and the keys that licences are signed with.
-- Only hashes of secrets stand here, each with a short check value of the pepper it was made under (platform/tokens/pepper.ts), never the pepper: it says
-- when a rotation is over.

-- ── keys of a site ─────────────────────────────────────────────────────────────────────────────────────────────────────

create table api_key (
  tenant_id uuid not null references tenant,
  key_id uuid not null,
  name text not null,
  prefix text not null check (prefix in ('svc_live_', 'svc_test_')),
  last4 text not null,
  scopes text[] not null,
  lost_scopes jsonb not null default '{}' check (jsonb_typeof(lost_scopes) = 'object'), -- by scope: the host whose verification took it from the key, and when
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, key_id)
);
grant select, insert, update on api_key to svc_app;

-- What a key lost stays as it was first written, whatever a statement says.
create function keep_lost_scopes() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.lost_scopes := new.lost_scopes || old.lost_scopes;
  return new;
end $$;
create trigger keep_lost_scopes before update of lost_scopes on api_key for each row execute function keep_lost_scopes();

-- A key that was let in writes last_used_at, which changes no right.
create constraint trigger access_epoch
  after insert or delete or update of tenant_id, key_id, prefix, scopes, expires_at, revoked_at on api_key
  deferrable initially deferred for each row execute function move_access_epoch();

create table api_key_hash (
  key_hash bytea primary key,
  tenant_id uuid not null,
  key_id uuid not null,
  pepper_id text,
  foreign key (tenant_id, key_id) references api_key
);
grant select, insert, update, delete on api_key_hash to svc_app;

-- One that moves under another pepper stays the key it is.
create constraint trigger access_epoch after delete or update of tenant_id, key_id on api_key_hash
  deferrable initially deferred for each row execute function move_access_epoch();

-- Public halves only; private keys never stand in the database.
create table signing_key (
  kid text primary key,
  public_jwk jsonb not null,
  published_at timestamptz(3) not null default now(),
  active_from timestamptz(3) not null,
  retired_at timestamptz(3)
);
grant select, insert, update, delete on signing_key to svc_app;

-- ── owners ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Tokens of bin/admin. They can be listed and revoked without anyone knowing them.
create table owner_token (
  token_hash bytea primary key,
  pepper_id text,
  token_id uuid not null default gen_random_uuid() unique,
  last4 text not null default '',
  tenant_id uuid not null references tenant,
  user_id text not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index owner_token_by_tenant on owner_token (tenant_id, created_at desc);
grant select, insert, update, delete on owner_token to svc_app;

-- Sessions of the console. A cookie holds a random id and this its hash; what a session covers is read in each call from what it came
-- from: a user of an identity provider, or an owner's token, which takes its sessions with it.
create table console_session (
  session_hash bytea primary key,
  user_id text not null,
  issuer text,
  token_id uuid references owner_token (token_id) on delete cascade,
  created_at timestamptz(3) not null,
  used_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint console_session_origin check ((issuer is null) <> (token_id is null))
);
create index console_session_of_user on console_session (user_id, issuer);
create index console_session_of_token on console_session (token_id) where token_id is not null;
create index console_session_ended on console_session (expires_at);
grant select, insert, update, delete on console_session to svc_app;

-- ── buyers ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

create table buyer_account (
  account_id uuid primary key,
  name text,
  wallet text unique,
  erased_at timestamptz(3), -- its row stays, since licences and payments name its id, and says nothing about anybody
  -- what it may spend, written under the lock of its row (ADR 0046); null: anything
  budget_period text check (budget_period in ('day', 'week', 'month')), -- of UTC; a week begins on Monday
  budget_total_micro bigint check (budget_total_micro >= 0),
  budget_host_micro bigint check (budget_host_micro >= 0),
  budget_page_micro bigint check (budget_page_micro >= 0), -- the most that one page may cost
  budget_approve_above_micro bigint check (budget_approve_above_micro >= 0),
  budget_is_stopped boolean not null default false,
  budget_version integer not null default 0, -- counts its changes
  budget_updated_at timestamptz(3),
  -- where its alerts go; null: nowhere
  alert_url text,
  alert_endpoint_id uuid, -- new with each secret, which opens beside this id alone
  alert_sealed bytea,
  alert_key_id text, -- check value of the SECRETS_KEY that it is sealed with
  alert_set_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  check (num_nulls(budget_period, budget_total_micro, budget_updated_at) in (0, 3)),
  check (num_nulls(alert_url, alert_endpoint_id, alert_sealed, alert_key_id, alert_set_at) in (0, 5))
);
-- Secrets are few among accounts, and sealed anew in turn.
create index buyer_account_sealed on buyer_account (account_id) where alert_key_id is not null;
create index buyer_account_newest on buyer_account (created_at desc, account_id desc);
grant select, insert, update, delete on buyer_account to svc_app;

-- The owner of an account tells its agents' keys apart by a name, and takes one away by its id.
create table buyer_key (
  key_hash bytea primary key,
  pepper_id text,
  key_id uuid not null default gen_random_uuid(),
  name text,
  account_id uuid not null references buyer_account,
  last4 text not null,
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index buyer_key_by_account on buyer_key (account_id);
grant select, insert, update, delete on buyer_key to svc_app;

create table oauth_client (
  client_id uuid primary key,
  account_id uuid not null references buyer_account,
  name text,
  secret_hash bytea,
  pepper_id text,
  jwks jsonb,
  is_owner boolean not null default false, -- its tokens are the owner's, as a sign-in with the wallet is
  last_used_at timestamptz(3), -- of one that registered itself: when it was let in, to the day, or made; null: an operator made it
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  check ((secret_hash is null) <> (jwks is null))
);
create index oauth_client_by_account on oauth_client (account_id);
grant select, insert, update, delete on oauth_client to svc_app;

-- ── what counts once ───────────────────────────────────────────────────────────────────────────────────────────────────

-- Proofs, sign-ins and assertions that count once: only used ones are stored, until they could not be used anyway. And e-mails that a site had us
-- send, each of which counts for a day: they are not erased with a person, since who erases and asks again would never reach a limit; a key names
-- nobody (an HMAC under the pepper). `owner_id` is whose names `key` is one of: the site of a proof or of an e-mail, the client of an assertion,
-- nobody (zeros) for a challenge of ours. modules/identity/store/usedOnce.ts is alone to write here.
create table used_once (
  owner_id uuid not null,
  kind text not null check (kind in ('proof', 'sign_in', 'assertion', 'invitation', 'confirm')),
  key text not null,
  expires_at timestamptz(3) not null,
  primary key (owner_id, kind, key)
);
create index used_once_expired on used_once (expires_at);
grant select, insert, delete on used_once to svc_app; -- what was used never comes back
