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
