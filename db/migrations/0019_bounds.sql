-- Catalogues are read in parts, in the order of the bytes of their paths, which is the order that scopes are looked up in.
create index imported_page_in_order on imported_page (tenant_id, path collate "C");
