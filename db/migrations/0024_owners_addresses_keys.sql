-- An owner is a subject of an issuer. Null: not seen yet; the issuer that the service runs with takes it (services/owners/issuer.ts).
alter table tenant add column owner_issuer text;

-- The address that was confirmed; alerts go to `email` while it is this one, so a changed address is not confirmed, whoever changed it.
-- Addresses from before confirmation get their alerts as before.
alter table alert_address add column confirmed_email text;
update alert_address set confirmed_email = email;

-- Check value of the SECRETS_KEY that a secret is sealed with; null: sealed before it was written down.
alter table webhook_secret add column key_id text;
