-- outside a transaction
-- Payments that did not end as they should are found among the many that did; these are few, and written once.
drop index concurrently if exists payment_unusual;
create index concurrently payment_unusual on payment (tenant_id, accepted_at desc, payment_id desc)
  where state in ('failed', 'superseded', 'expired', 'review');
drop index concurrently if exists licence_newest;
create index concurrently licence_newest on licence (tenant_id, bought_at desc, jti desc);
-- What an operator changed, and accounts with their keys.
drop index concurrently if exists audit_log_by_operator;
create index concurrently audit_log_by_operator on audit_log (at desc, entry_id desc) where actor_via = 'operator';
drop index concurrently if exists buyer_account_newest;
create index concurrently buyer_account_newest on buyer_account (created_at desc, account_id desc);
drop index concurrently if exists buyer_key_by_account;
create index concurrently buyer_key_by_account on buyer_key (account_id);
