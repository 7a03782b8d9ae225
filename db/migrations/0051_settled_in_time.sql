-- outside a transaction
-- Settled payments of a site by time: how long they took is read without the payments of other months.
drop index concurrently if exists payment_settled_in_time;
create index concurrently payment_settled_in_time on payment_state (tenant_id, accepted_at) where stage in ('settled', 'final');
