-- Repeated slashes of a path are one: pages that were written with several are found under their plain path from now on. Of two
-- that become one, the first stays.
update imported_page as page set path = regexp_replace(path, '/{2,}', '/', 'g')
 where path like '%//%' and not exists (
   select from imported_page as other
    where other.tenant_id = page.tenant_id and regexp_replace(other.path, '/{2,}', '/', 'g') = regexp_replace(page.path, '/{2,}', '/', 'g')
      and (other.path not like '%//%' or other.path < page.path));
update licence_page as page set path = regexp_replace(path, '/{2,}', '/', 'g')
 where path like '%//%' and not exists (
   select from licence_page as other
    where other.tenant_id = page.tenant_id and other.jti = page.jti
      and regexp_replace(other.path, '/{2,}', '/', 'g') = regexp_replace(page.path, '/{2,}', '/', 'g')
      and (other.path not like '%//%' or other.path < page.path));

-- What a buyer account is told of its purchases, once each: a purchase may be decided long after its caller went away.
create table account_notice (
  tenant_id uuid not null,
  payment_id uuid not null,
  kind text not null check (kind in ('licence_granted', 'purchase_failed', 'purchase_expired', 'purchase_in_review')),
  account_id uuid not null references buyer_account,
  at timestamptz(3) not null default now(),
  primary key (tenant_id, payment_id, kind),
  foreign key (tenant_id, payment_id) references payment
);
create index account_notice_newest on account_notice (account_id, at desc, payment_id);
grant select, insert on account_notice to svc_app; -- what an account was told never changes
