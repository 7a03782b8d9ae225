-- What the version before decides is final by itself, as what it takes in is: it does not know of batches that are final, and a payment that the
-- new version settled, taken back and settled anew by the old one, would be final at once with a batch that is. Only that line is new here.
create or replace function payment_updated() returns trigger language plpgsql as $$
declare
  now_state payment_state;
begin
  select * into now_state from payment_state where tenant_id = old.tenant_id and payment_id = old.payment_id for update;
  if (now_state.state, now_state.batch_id, now_state.attempts, now_state.reason, now_state.recorded, now_state.failure_observed,
      now_state.watched, now_state.successor_id, now_state.tx_hash, now_state.log_position, now_state.block_number)
    is distinct from (old.state, old.batch_id, old.attempts, old.reason, old.recorded, old.failure_observed,
      old.watched, old.successor_id, old.tx_hash, old.log_position, old.block_number)
  then
    raise exception 'payment % was decided at the same time', old.payment_id using errcode = '40001';
  end if;
  if old.licence_jti is null and now_state.licence_jti is not null then
    new.licence_jti := now_state.licence_jti;
    new.licence_issued_at := now_state.licence_issued_at;
    new.licence_expires_at := now_state.licence_expires_at;
    new.licence_kid := now_state.licence_kid;
  end if;
  update payment_state set lane = case when new.lane <> old.lane then new.lane else lane end, settler = new.settler, state = new.state,
    attempts = new.attempts, batch_size = new.batch_size, recorded = new.recorded, failure_observed = new.failure_observed,
    own_finality = own_finality or new.state is distinct from old.state,
    watched = new.watched, batch_id = new.batch_id, successor_id = new.successor_id, reason = new.reason, raw_reason = new.raw_reason,
    sentence = new.sentence,
    unused_at_block = case when new.unused_at_block is distinct from old.unused_at_block then new.unused_at_block else unused_at_block end,
    tx_hash = new.tx_hash, log_position = new.log_position, block_number = new.block_number, block_time = new.block_time,
    decided_at = new.decided_at, settled_at = new.settled_at, final_at = new.final_at,
    checked_at = case when new.checked_at is distinct from old.checked_at then new.checked_at else checked_at end,
    licence_jti = new.licence_jti, licence_issued_at = new.licence_issued_at, licence_expires_at = new.licence_expires_at,
    licence_kid = new.licence_kid, review_closed_at = new.review_closed_at, review_closed_reason = new.review_closed_reason
   where tenant_id = old.tenant_id and payment_id = old.payment_id;
  if new.batch_id is not null and new.batch_id is distinct from old.batch_id then
    update settlement_batch set tenant_ids = tenant_ids || new.tenant_id, payment_ids = payment_ids || new.payment_id
     where batch_id = new.batch_id and not new.payment_id = any (payment_ids);
  end if;
  if new.agent <> old.agent and new.agent = old.agent || '{"ua": "removed"}' then
    perform remove_payment_agents(old.tenant_id, array[old.payment_id]);
  elsif (new.mode, new.network, new.asset, new.payer, new.pay_to, new.nonce, new.valid_after, new.valid_before, new.signature,
      new.x402_version, new.host, new.slug, new.resource, new.resource_key, new.kind, new.purpose, new.amount_micro, new.legs,
      new.leg_words, new.router, new.binding, new.agent, new.key_id, new.account_id, new.repeats_licence, new.accepted_at, new.at,
      new.licence_offer_id, new.planned_gas)
    is distinct from (old.mode, old.network, old.asset, old.payer, old.pay_to, old.nonce, old.valid_after, old.valid_before, old.signature,
      old.x402_version, old.host, old.slug, old.resource, old.resource_key, old.kind, old.purpose, old.amount_micro, old.legs,
      old.leg_words, old.router, old.binding, old.agent, old.key_id, old.account_id, old.repeats_licence, old.accepted_at, old.at,
      old.licence_offer_id, old.planned_gas)
  then
    update payment_intake set mode = new.mode, network = new.network, asset = new.asset, payer = new.payer, pay_to = new.pay_to,
      nonce = new.nonce, valid_after = new.valid_after, valid_before = new.valid_before, signature = new.signature,
      x402_version = new.x402_version, host = new.host, slug = new.slug, resource = new.resource, resource_key = new.resource_key,
      kind = new.kind, purpose = new.purpose, amount_micro = new.amount_micro, legs = new.legs, leg_words = new.leg_words,
      router = new.router, binding = new.binding, agent = new.agent, key_id = new.key_id, account_id = new.account_id,
      repeats_licence = new.repeats_licence, accepted_at = new.accepted_at, at = new.at, licence_offer_id = new.licence_offer_id,
      planned_gas = new.planned_gas
     where tenant_id = old.tenant_id and payment_id = old.payment_id;
    update payment_state set network = new.network, mode = new.mode, payer = new.payer, pay_to = new.pay_to,
      planned_gas = new.planned_gas, accepted_at = new.accepted_at
     where tenant_id = old.tenant_id and payment_id = old.payment_id;
  end if;
  return new;
end $$;
