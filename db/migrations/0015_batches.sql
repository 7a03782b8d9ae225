-- How many payments shared the last batch of a payment, null before its first: after a batch in vain fewer share the next (safety 8).
alter table payment add column batch_size smallint;
-- Gas a payment needs at most in a batch of its own; what waits is counted in it (safety 10). The default is that of one author, for
-- rows that an older version writes.
alter table payment add column planned_gas bigint not null default 120000;
-- Who has work, site by site, oldest first: a batch is chosen from rows, and each site has its share of it.
create index payment_waiting on payment (network, tenant_id, accepted_at, payment_id) where state = 'accepted' and mode = 'live';
-- How many payments of a payer are undecided (safety 19).
create index payment_open_of_payer on payment (network, payer, accepted_at) where state in ('accepted', 'broadcast', 'held');
-- Which kind of batch went out last.
create index settlement_batch_newest on settlement_batch (network, created_at desc) where kind = 'settle';
