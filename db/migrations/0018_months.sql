-- Months of money that are closed (ADR 0050). What years leave of payments, crossings, legs and transfers is moved out of the tables that
-- the service writes, into months that can be detached. `archive` holds the months; `ledger` shows all of them, with what is not closed.
create schema archive;
create schema ledger;

-- Columns as in the tables they come from; what is generated there is plain here. What is unique was so before it came, and never changes.
create table archive.payment_intake (like public.payment_intake including storage) partition by range (accepted_at);
create table archive.payment_state (like public.payment_state including storage) partition by range (accepted_at);
create table archive.crossing (like public.crossing including storage) partition by range (at);
create table archive.leg (like public.leg including storage) partition by range (at);
create table archive.chain_transfer (like public.chain_transfer including storage) partition by range (block_time);

alter table archive.payment_intake add primary key (tenant_id, payment_id, accepted_at);
alter table archive.payment_state add primary key (tenant_id, payment_id, accepted_at);
alter table archive.crossing add primary key (tenant_id, crossing_id, at), add unique (tenant_id, payment_id, sequence, at);
alter table archive.leg add primary key (tenant_id, crossing_id, ordinal, at);
alter table archive.chain_transfer add primary key (network, tx_hash, log_position, block_time);

create index on archive.payment_intake (payment_id);
create index on archive.payment_intake (tenant_id, hashtext(payer), hashtext(resource_key), accepted_at desc);
create index on archive.payment_intake (network, pay_to);
create index on archive.payment_intake (licence_offer_id) where licence_offer_id is not null;
create index on archive.payment_intake (tenant_id, accepted_at desc, payment_id desc);
create index on archive.payment_state (tenant_id, accepted_at desc, payment_id desc)
  where stage in ('failed', 'superseded', 'expired', 'review');
create index on archive.payment_state (tenant_id, accepted_at) where stage in ('settled', 'final');
create index on archive.crossing (tenant_id, at desc, crossing_id desc);
create index on archive.crossing (tenant_id, payment_id, sequence) where sequence % 2 = 1;
create index on archive.leg (tenant_id, to_address, at desc) where role <> 'platform';
create index on archive.chain_transfer (network, from_address, block_number) where nonce is null;
create index on archive.chain_transfer (network, hashtext(to_address), block_number);
create index on archive.chain_transfer using hash (nonce) where nonce is not null;
create index on archive.chain_transfer (network, block_number);

-- What was moved into a month, written with it; a month that comes back must hold just this.
create table archive.month (
  month date primary key check (month = date_trunc('month', month)),
  state text not null default 'attached' check (state in ('attached', 'detached')),
  payments bigint not null default 0,
  crossings bigint not null default 0,
  legs bigint not null default 0,
  transfers bigint not null default 0,
  micro numeric not null default 0, -- of its crossings
  closed_at timestamptz(3) not null default now()
);

-- The end of the last month that was closed, or detached; '-infinity' before the first.
create function archive.closed_until() returns timestamptz language sql stable as $$
  select coalesce((max(month) + interval '1 month') at time zone 'UTC', '-infinity') from archive.month
$$;
create function archive.detached_until() returns timestamptz language sql stable as $$
  select coalesce((max(month) + interval '1 month') at time zone 'UTC', '-infinity') from archive.month where state = 'detached'
$$;

create view ledger.payment_intake as select * from public.payment_intake union all select * from archive.payment_intake;
create view ledger.payment_state as select * from public.payment_state union all select * from archive.payment_state;
create view ledger.crossing as select * from public.crossing union all select * from archive.crossing;
create view ledger.leg as select * from public.leg union all select * from archive.leg;
create view ledger.chain_transfer as select * from public.chain_transfer union all select * from archive.chain_transfer;
create view ledger.payment as
select i.*, s.settler, s.payer_kind, s.state, s.batch_id, s.batch_size, s.attempts, s.reason, s.raw_reason, s.sentence, s.recorded, s.failure_observed,
  s.watched, s.successor_id, s.unused_at_block, s.tx_hash, s.log_position, s.block_number, s.block_time, s.decided_at, s.settled_at, s.final_at,
  s.checked_at, s.licence_jti, s.licence_issued_at, s.licence_expires_at, s.licence_kid, s.review_closed_at, s.review_closed_reason, s.stage,
  s.watch_side, s.own_finality
from ledger.payment_intake as i join ledger.payment_state as s on s.tenant_id = i.tenant_id and s.payment_id = i.payment_id;

-- As `public.crossing_part`: its own branches, and the same of the closed months.
create view ledger.crossing_part as
  select * from public.crossing_part
  union all
  select c.tenant_id, c.crossing_id, c.at, 'total', c.host, c.kind, '', case when c.sequence % 2 = 0 then 1 else -1 end, c.micro
  from archive.crossing c
  union all
  select c.tenant_id, c.crossing_id, c.at, 'slug', c.host, c.kind, slug_key(c.slug), case when c.sequence % 2 = 0 then 1 else -1 end, c.micro
  from archive.crossing c
  union all
  select l.tenant_id, l.crossing_id, l.at, 'author', l.host, l.kind, l.to_address,
    case when l.amount_micro > 0 then 1 when l.amount_micro < 0 then -1
      else (select case when c.sequence % 2 = 0 then 1 else -1 end from archive.crossing c
        where c.tenant_id = l.tenant_id and c.crossing_id = l.crossing_id and c.at = l.at) end, l.amount_micro
  from archive.leg l
  where l.role <> 'platform';

-- The columns of a table that are written, as a list for SQL.
create function archive.columns_of(of regclass) returns text language sql stable as $$
  select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
   where attrelid = of and attnum > 0 and not attisdropped and attgenerated = ''
$$;

-- Whether a transfer is in a closed month, whatever time it is said to be of. What is read of the chain again is not stored beside itself.
create function archive.has_transfer(of_network text, hash text, place integer) returns boolean
  language sql stable security definer set search_path = archive, pg_temp
as $$
  select exists (select from archive.chain_transfer as t where t.network = of_network and t.tx_hash = hash and t.log_position = place)
$$;

-- Brings a payment of a closed month back to where it can be written, with its crossings and legs; false: it is in none that is attached.
-- The service moves what is there and changes nothing of it: it has no other right to either. All of a payment is of one month (UTC, whatever
-- the session's zone), and legs are found by their crossings: nothing else is opened, and no month is read through.
create function return_payment(of_tenant uuid, payment uuid) returns boolean
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  of_month date;
  since timestamptz;
  until timestamptz;
  one text;
  told uuid[];
  moved bigint[] := '{}';
  rows bigint;
  total numeric;
begin
  select date_trunc('month', accepted_at at time zone 'UTC')::date into of_month
    from archive.payment_intake where tenant_id = of_tenant and payment_id = payment for update;
  if not found then return false; end if;
  since := of_month::timestamp at time zone 'UTC';
  until := (of_month + interval '1 month') at time zone 'UTC';
  execute 'select array_agg(crossing_id), coalesce(sum(micro), 0) from archive.crossing
    where tenant_id = $1 and payment_id = $2 and at >= $3 and at < $4' into told, total using of_tenant, payment, since, until;
  foreach one in array array['payment_intake', 'payment_state', 'crossing', 'leg'] loop
    execute format('with gone as (delete from archive.%1$I where tenant_id = $1 and %3$s and %4$I >= $3 and %4$I < $4 returning *)
      insert into public.%1$I (%2$s) select %2$s from gone', one, archive.columns_of(('public.' || one)::regclass),
      case one when 'leg' then 'crossing_id = any ($5)' else 'payment_id = $2' end,
      case when one in ('crossing', 'leg') then 'at' else 'accepted_at' end) using of_tenant, payment, since, until, told;
    get diagnostics rows = row_count;
    moved := moved || rows;
  end loop;
  update archive.month set payments = payments - 1, crossings = crossings - moved[3], legs = legs - moved[4], micro = micro - total
   where month = of_month;
  return true;
end $$;

revoke execute on function return_payment(uuid, uuid), archive.has_transfer(text, text, integer), archive.columns_of(regclass)
  from public;
grant usage on schema archive, ledger to svc_app;
grant select on all tables in schema archive, ledger to svc_app;
grant execute on function return_payment(uuid, uuid), archive.has_transfer(text, text, integer) to svc_app;
