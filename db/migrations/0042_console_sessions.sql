-- Sessions of the console. A cookie holds a random id and this its hash; what a session covers is read in each call from what it came
-- from: a user of an identity provider, or an owner's token, which takes its sessions with it.
create table console_session (
  session_hash bytea primary key,
  user_id text not null,
  issuer text,
  token_id uuid references owner_token (token_id) on delete cascade,
  created_at timestamptz(3) not null,
  used_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint console_session_origin check ((issuer is null) <> (token_id is null))
);
create index console_session_of_user on console_session (user_id, issuer);
create index console_session_of_token on console_session (token_id) where token_id is not null;
create index console_session_ended on console_session (expires_at);
grant select, insert, update, delete on console_session to svc_app;
