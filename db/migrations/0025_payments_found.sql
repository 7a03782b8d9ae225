-- outside a transaction
-- Payments that did not end as they should are found among the many that did; these are few, and written once.
drop index concurrently if exists payment_unusual;
create index concurrently payment_unusual on payment (tenant_id, accepted_at desc, payment_id desc)
  where state in ('failed', 'superseded', 'expired', 'review');
drop index concurrently if exists licence_newest;
create index concurrently licence_newest on licence (tenant_id, bought_at desc, jti desc);
