-- The slot of an endpoint says which delivery it is leased for, so that leasing writes no delivery; and the bytes of a delivery are made
-- from rows that never change, its profile among them, instead of being stored. Processes of the version before lease and store as they did.
alter table endpoint_lease add column delivery_id text;
alter table endpoint_lease set (fillfactor = 50);
alter table delivery add column profile text check (profile in ('detailed', 'summary'));
alter table delivery drop constraint delivery_check;
alter table delivery add constraint delivery_has_bytes check (attempts = 0 or body is not null or profile is not null) not valid;
-- Leases of the version before, which this one respects and does not write.
comment on column delivery.leased_until is 'of the version before only; goes with the next release';
comment on column delivery.lease_id is 'of the version before only; goes with the next release';
