-- Offers of licences belong to a tenant by their key, too: what refers to them can stand on the same shard (safety 25).
-- Statements of the version before work unchanged: nothing relied on offer_id alone being the key.
alter table licence drop constraint licence_offer_id_fkey;
alter table payment drop constraint payment_licence_offer_id_fkey;
alter table licence_offer drop constraint licence_offer_pkey;
alter table licence_offer add primary key (tenant_id, offer_id);
create index licence_offer_by_id on licence_offer (offer_id);
alter table licence add constraint licence_offer_fkey foreign key (tenant_id, offer_id) references licence_offer not valid;
alter table payment add constraint payment_licence_offer_fkey
  foreign key (tenant_id, licence_offer_id) references licence_offer not valid;
alter table licence validate constraint licence_offer_fkey;
alter table payment validate constraint payment_licence_offer_fkey;

-- What an operator has not dealt with yet; read by gauges on an interval.
create index operator_alert_open on operator_alert (kind) where resolved_at is null;
