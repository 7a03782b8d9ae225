-- Sites that want to be found, and their pages as a search looks at them (ADR 0039, 0048).

-- Sites whose owners want to be found in the public list, and what they say of themselves there; no row: the site is not in it.
create table discovery_listing (
  tenant_id uuid primary key references tenant,
  -- the order of the list: who came first
  position bigint generated always as identity,
  summary text not null,
  tags text[] not null,
  relays boolean not null default false, -- whether the text of its pages may be handed on to who has a licence for them
  -- of summary and tags, no language's rules: the list has all
  words tsvector not null
);
create index discovery_listing_words on discovery_listing using gin (words);
grant select, insert, update, delete on discovery_listing to svc_app;

-- The pages of sites that want to be found, as a search looks at them: those that credits_inline names and those that were imported. Nothing but
-- such a site's pages is here. Prices are not: they follow from the site's rules at the moment of the search.
-- In sixteen parts, each with a part of every site: a search ends in the part in which it has enough, so that a word which stands in every title
-- costs no more than any other.
create table searched_page (
  tenant_id uuid not null references tenant,
  source text not null check (source in ('inline', 'imported')),
  slug text not null,
  -- canonical; null: the site's first article prefix and the slug, whatever that is at the time
  path text,
  title text,
  words tsvector not null,
  primary key (tenant_id, source, slug)
) partition by hash (tenant_id, slug);

do $$
begin
  for part in 0..15 loop
    execute format('create table searched_page_%s partition of searched_page for values with (modulus 16, remainder %s)', part, part);
  end loop;
end $$;

-- Without a list of what waits: each search would read it whole.
create index searched_page_words on searched_page using gin (words) with (fastupdate = off);
grant select on searched_page to svc_app; -- only the triggers write it

-- Title before slug before authors; no language's rules: the catalogues have all.
create function searched_words(title text, slug text, credits jsonb) returns tsvector language sql immutable as $$
  select setweight(to_tsvector('simple', coalesce(title, '')), 'A')
    || setweight(to_tsvector('simple', translate(slug, '-_/.+~', '      ')), 'B')
    || setweight(to_tsvector('simple', coalesce(jsonb_path_query_array(credits, 'strict $.**.authorId')::text, '')), 'C')
$$;

-- Whether the pages of a site are searched: it wants to be found, sells, and has a host it proved.
create function is_searched(of_tenant uuid) returns boolean language sql stable set search_path = public, pg_temp as $$
  select exists (select from discovery_listing where tenant_id = of_tenant)
    and exists (select from tenant where tenant_id = of_tenant and status = 'active')
    and exists (select from tenant_host where tenant_id = of_tenant and verified_at is not null)
$$;

create function searched_pages_of(of_tenant uuid)
  returns table (tenant_id uuid, source text, slug text, path text, title text, words tsvector)
  language sql stable set search_path = public, pg_temp as $$
  select page.tenant_id, 'imported', page.slug, page.path, page.title, searched_words(page.title, page.slug, page.credits)
    from imported_page as page where page.tenant_id = of_tenant
  union all
  select owner.tenant_id, 'inline', page.key, null, page.value ->> 'title', searched_words(page.value ->> 'title', page.key, page.value)
    from tenant as owner cross join lateral jsonb_each(owner.credits_inline) as page
   where owner.tenant_id = of_tenant and jsonb_typeof(owner.credits_inline) = 'object'
$$;

-- A site that comes into the search or leaves it: its listing, its state, or its hosts changed. What changes its pages locks the site first, and so
-- does this, so that neither can miss what the other wrote.
create function fill_searched_pages() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  of_tenant uuid := case tg_op when 'DELETE' then old.tenant_id else new.tenant_id end;
begin
  perform from tenant where tenant_id = of_tenant for no key update;
  if not is_searched(of_tenant) then
    delete from searched_page where tenant_id = of_tenant;
  elsif not exists (select from searched_page where tenant_id = of_tenant) then
    insert into searched_page select * from searched_pages_of(of_tenant);
  end if;
  return null;
end $$;

create trigger searched_pages after insert or delete on discovery_listing for each row execute function fill_searched_pages();
create trigger searched_pages after insert or delete or update of verified_at on tenant_host
  for each row execute function fill_searched_pages();
create trigger searched_pages after update of status on tenant
  for each row when (old.status is distinct from new.status) execute function fill_searched_pages();

-- Pages that credits_inline names: those that changed.
create function change_searched_credits() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  if is_searched(new.tenant_id) then
    delete from searched_page where tenant_id = new.tenant_id and source = 'inline' and (coalesce(new.credits_inline, '{}') ? slug) is not true;
    insert into searched_page
      select page.* from searched_pages_of(new.tenant_id) as page
       where page.source = 'inline' and (old.credits_inline -> page.slug) is distinct from (new.credits_inline -> page.slug)
      on conflict (tenant_id, source, slug) do update set title = excluded.title, words = excluded.words;
  end if;
  return null;
end $$;

create trigger searched_credits after update of credits_inline on tenant
  for each row when (old.credits_inline is distinct from new.credits_inline) execute function change_searched_credits();

-- Imported pages.
create function add_searched_pages() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  insert into searched_page
    select tenant_id, 'imported', slug, path, title, searched_words(title, slug, credits) from changed
     where tenant_id in (select one.tenant_id from (select distinct changed.tenant_id from changed) as one where is_searched(one.tenant_id))
    on conflict (tenant_id, source, slug) do update set path = excluded.path, title = excluded.title, words = excluded.words
      where (searched_page.path, searched_page.title, searched_page.words) is distinct from (excluded.path, excluded.title, excluded.words);
  return null;
end $$;

create trigger searched_pages_new after insert on imported_page referencing new table as changed
  for each statement execute function add_searched_pages();
create trigger searched_pages_changed after update on imported_page referencing new table as changed
  for each statement execute function add_searched_pages();

create function remove_searched_pages() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  delete from searched_page as page using changed
   where page.tenant_id = changed.tenant_id and page.source = 'imported' and page.slug = changed.slug;
  return null;
end $$;

create trigger searched_pages_gone after delete on imported_page referencing old table as changed
  for each statement execute function remove_searched_pages();
