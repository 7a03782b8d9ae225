-- The pepper a hash was made under, as a short check value of it (services/pepper.ts), never the pepper: says when a rotation is
-- over. Null: stored by a version that did not write it, whose statements still work.
alter table api_key_hash add column pepper_id text;
alter table owner_token add column pepper_id text;
alter table buyer_key add column pepper_id text;
alter table oauth_client add column pepper_id text;
alter table member_invite_hash add column pepper_id text;
