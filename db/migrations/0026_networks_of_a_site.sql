-- The networks a site takes payments on, by CAIP-2 id, as its owner chose them; null: never chosen, the first one configured.

alter table tenant add column networks text[] check (networks is null or cardinality(networks) between 1 and 20);
