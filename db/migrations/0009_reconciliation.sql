-- What the chain showed, how far it was read, and what the ledger has no row of.

-- Everything below `next_block` of a network was read when it was safe; reading begins a little below it again.
create table chain_cursor (
  network text primary key,
  next_block bigint check (next_block >= 0), -- null until it is first read
  compared_block bigint check (compared_block >= 0), -- below it two RPC URLs showed the same transfers; with one URL, as far as it was read
  safe_block bigint,
  corrected_block bigint not null default 0, -- flushes up to here are in the ledger to the micro
  read_at timestamptz(3),
  swept_at timestamptz(3), -- when the last round of the sweeper over its payments ended well
  -- the chain that this database was made for, where both may be lost separately; null: nobody compares it
  genesis_hash text,
  router text,
  router_code_hash text,
  check (num_nulls(genesis_hash, router, router_code_hash) in (0, 3))
);
grant select, insert, update, delete on chain_cursor to svc_app;

-- What the chain showed, as read: payers' and payees' transfers. log_index is the block's, as explorers show it.
create table chain_transfer (
  network text not null,
  tx_hash text not null,
  log_position integer not null,
  log_index integer not null,
  block_number bigint not null,
  block_hash bytea not null,
  block_time timestamptz(3) not null,
  token text not null,
  from_address text not null,
  to_address text not null,
  amount_micro numeric(78) not null,
  nonce text, -- of the sender's authorization, when its AuthorizationUsed log stands right before
  read_at timestamptz(3) not null default now(),
  primary key (network, tx_hash, log_position)
);
create index chain_transfer_to on chain_transfer (network, hashtext(to_address), block_number); -- whose address it is, who reads compares (ADR 0052)
create index chain_transfer_block on chain_transfer (network, block_number);
-- A payer's authorization is found by its nonce alone, which is random: 4 bytes an entry, not 130 (ADR 0052).
create index chain_transfer_nonce on chain_transfer using hash (nonce) where nonce is not null;
create index chain_transfer_out on chain_transfer (network, from_address, block_number) where nonce is null;
create index chain_transfer_time on chain_transfer using brin (block_time);
grant select, insert, update, delete on chain_transfer to svc_app;

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
