-- outside a transaction
-- What was added as `not valid` holds for all rows. One statement at a time: no write waits for it, and a second run finds it done.
alter table payment_state validate constraint payment_state_tenant_id_payment_id_fkey;
alter table delivery validate constraint delivery_has_bytes;
