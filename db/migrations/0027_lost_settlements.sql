-- What our own relayer keys settled and a restored ledger has no row of: found on the chain by `admin recover`, by the nonces of a key that
-- no batch holds. It is a proof that we had taken this authorization in before its block, not a sale: which page was bought stands nowhere
-- but in the rows that are lost. Who shows the authorization again for a purchase of the same recipient and value, at a site that sold under
-- this recipient before, gets its row back.
create table lost_settlement (
  network text not null,
  asset text not null,
  payer text not null,
  nonce text not null,
  tx_hash text not null,
  relayer text not null,
  relayer_nonce bigint not null,
  block_number bigint not null,
  block_time timestamptz(3) not null,
  pay_to text not null,
  amount_micro numeric(78) not null check (amount_micro > 0),
  legs jsonb not null, -- payees of the value, as the call data names them
  tenant_ids uuid[] not null, -- sites with older live payments to pay_to, as the restored rows name them; empty: none does
  found_at timestamptz(3) not null default now(),
  primary key (network, asset, payer, nonce)
);
grant select, insert on lost_settlement to svc_app;
