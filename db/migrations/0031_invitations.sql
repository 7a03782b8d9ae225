-- Invitations are e-mailed and accepted. A mail that carries a secret holds it sealed, and only until it was sent.
alter table alert_mail add column sealed bytea;
alter table audit_log drop constraint audit_log_actor_via_check;
alter table audit_log add constraint audit_log_actor_via_check check (actor_via in ('oidc', 'token', 'operator', 'invitation')) not valid;
