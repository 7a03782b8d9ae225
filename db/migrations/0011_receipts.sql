-- What a site said of the page that it served for a payment: once, and never changed. No row: it said nothing.
create table receipt_body (
  tenant_id uuid not null,
  payment_id uuid not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  bytes bigint not null check (bytes > 0),
  noted_at timestamptz(3) not null default now(),
  primary key (tenant_id, payment_id)
);
create constraint trigger names_payment after insert or update of tenant_id, payment_id on receipt_body
  for each row execute function names_payment();
grant select, insert on receipt_body to svc_app;
