-- outside a transaction
-- Every purchase leaves a request key for two days: what is forgotten is found by its time, not by reading all of them for each slice.
drop index concurrently if exists idempotency_key_by_time;
create index concurrently idempotency_key_by_time on idempotency_key (created_at);
