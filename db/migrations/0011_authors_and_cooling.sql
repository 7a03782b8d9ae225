-- Reports ask for authors only; a platform's wallet has a leg of every crossing and would be walked in vain. One index for both the
-- lines of an author and the question which authors there are (db/reports/authors.ts).
create index leg_by_author on leg (tenant_id, to_address, at desc) where role <> 'platform';
drop index leg_by_payee;

-- An endpoint with `cooled_until` cools: its first attempts wait, and the time says when its recovery workflow probes next (safety 21).
create index webhook_endpoint_cooling on webhook_endpoint (cooled_until) where cooled_until is not null;
