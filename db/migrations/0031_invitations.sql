-- Invitations are e-mailed and accepted. A mail that carries a secret holds it sealed, and only until it was sent.
alter table alert_mail add column sealed bytea;

-- How many e-mails of a site went where lately: not erased with a person, since who erases and asks again would never reach a limit.
-- It names nobody (an HMAC under the pepper) and goes after two days.
create table counted_mail (
  tenant_id uuid not null references tenant,
  mail_id text not null,
  kind text not null,
  mailbox_hash bytea not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, mail_id)
);
grant select, insert, delete on counted_mail to svc_app;

alter table audit_log drop constraint audit_log_actor_via_check;
alter table audit_log add constraint audit_log_actor_via_check check (actor_via in ('oidc', 'token', 'operator', 'invitation')) not valid;
