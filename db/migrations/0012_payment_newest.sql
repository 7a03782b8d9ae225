-- Analysts list a site's payments by time; without this every page reads and sorts all of them.
create index payment_newest on payment (tenant_id, accepted_at desc, payment_id desc);
