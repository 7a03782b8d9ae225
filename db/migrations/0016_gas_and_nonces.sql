-- Which sites sell through a split. A row is made when a payment of it is claimed, or settled by somebody else, never when one is only
-- shown; a split without a row is not paid out by us, and the sites of its rows are charged the gas of paying it out.
create table split_seller (
  tenant_id uuid not null references tenant,
  network text not null,
  pay_to text not null,
  primary key (tenant_id, network, pay_to)
);
create index split_seller_pay_to on split_seller (network, pay_to);
insert into split_seller (tenant_id, network, pay_to)
select distinct tenant_id, network, pay_to from payment
 where leg_words is not null and mode = 'live' and state in ('broadcast', 'settled', 'final', 'review');
grant select, insert on split_seller to svc_app;

-- What a batch cost in all, noted once; and by which weights its sites bear that, written with its bytes. Both null for a batch of an
-- older version: nobody is charged for it.
alter table settlement_batch add column gas_wei numeric(78);
alter table settlement_batch add column gas_shares jsonb;

-- A count of the chain that is ahead of ours, as one round saw it: believed when the next round sees it too (safety 8).
alter table relayer add column seen_nonce bigint;
alter table relayer add column seen_at timestamptz(3);
