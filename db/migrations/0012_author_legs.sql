-- Reports ask for authors only; a platform's wallet has a leg of every crossing and would be walked in vain. One index for both the
-- lines of an author and the question which authors there are (db/reports/authors.ts).
create index leg_by_author on leg (tenant_id, to_address, at desc) where role <> 'platform';
drop index leg_by_payee;
