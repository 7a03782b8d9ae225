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
