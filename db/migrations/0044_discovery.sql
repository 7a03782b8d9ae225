-- Sites whose owners want to be found in the public list, and what they say of themselves there; no row: the site is not in it. Processes of
-- the version before have no list.
create table discovery_listing (
  tenant_id uuid primary key references tenant,
  -- the order of the list: who came first
  position bigint generated always as identity,
  summary text not null,
  tags text[] not null,
  -- of summary and tags, no language's rules: the list has all
  words tsvector not null
);
create index discovery_listing_words on discovery_listing using gin (words);
grant select, insert, update, delete on discovery_listing to svc_app;
