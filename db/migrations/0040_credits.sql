-- The bearer token that a site's credits API asks for, sealed under SECRETS_KEY. It goes to the origin it was set for and to no other: an
-- owner who names another API sets it anew. Processes of the version before do not read it: their calls of an API that asks for one are
-- refused there, and the copies of its answers serve meanwhile.
create table credits_token (
  tenant_id uuid primary key references tenant,
  origin text not null,
  sealed bytea not null,
  -- check value of the key that sealed it
  key_id text not null,
  set_at timestamptz(3) not null
);
grant select, insert, update, delete on credits_token to svc_app;
