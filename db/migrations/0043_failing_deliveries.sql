-- outside a transaction
-- What fails now is looked for by its site: a few deliveries among all that ever went out.
drop index concurrently if exists delivery_failing;
create index concurrently delivery_failing on delivery (tenant_id, delivery_id) where state = 'pending' and attempts > 0;
-- Gas that the transaction of a batch used; null until it is mined, and for one that the version before closed.
alter table settlement_batch add column if not exists gas_used bigint;
