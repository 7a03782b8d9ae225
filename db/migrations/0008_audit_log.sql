-- What owners of sites changed, and how they sign in (decision 4.13).

-- One row a change, written in the database transaction of the change itself. Nobody may change or remove a row: the service may
-- only read and add, and the database alone says when. Secrets never stand here.
create table audit_log (
  tenant_id uuid not null references tenant,
  entry_id uuid not null,
  at timestamptz(3) not null default clock_timestamp(),
  actor_id text not null, -- user id at the identity provider, or the one bin/admin gave the token to
  actor_via text not null check (actor_via in ('oidc', 'token', 'operator')),
  action text not null check (action ~ '^[a-z]+\.[a-z_]+$'),
  target text, -- what of the site was changed: an id, a host, a slug; null: the site itself
  before jsonb, -- only what differs; null: there was nothing
  after jsonb, -- only what differs; null: there is nothing any more
  primary key (tenant_id, entry_id)
);
create index audit_log_newest on audit_log (tenant_id, at desc, entry_id desc);

grant select, insert (tenant_id, entry_id, actor_id, actor_via, action, target, before, after) on audit_log to svc_app;

-- An owner is asked for by the subject of its identity provider.
create index tenant_by_owner on tenant (owner_user_id) where owner_user_id is not null;

-- Tokens of bin/admin can be listed and revoked without anyone knowing them.
alter table owner_token add column token_id uuid not null default gen_random_uuid() unique;
alter table owner_token add column last4 text not null default '';
create index owner_token_by_tenant on owner_token (tenant_id, created_at desc);
