-- Keys of agents that sign their requests, as their directories showed them. A directory is public and the same for every site, so these
-- rows belong to no tenant; what a site may learn of them is what it could read there itself. A key is known by the address it was read at
-- and its thumbprint together: the same key at another address says nothing.
create table agent_directory (
  address text primary key,
  type text not null,
  host text not null,
  -- when it last answered, and until when that is fresh; a failure changes neither
  read_at timestamptz(3) not null,
  fresh_until timestamptz(3) not null,
  -- what the agent says of itself; nobody vouches for it
  operator text,
  purpose text,
  card_at timestamptz(3),
  constraint agent_directory_bounds check (length(address) <= 2200 and length(operator) <= 120 and length(purpose) <= 120)
);
create index agent_directory_of_host on agent_directory (host) where type = 'directory';
create index agent_directory_read on agent_directory (read_at);

create table agent_key (
  address text not null references agent_directory on delete cascade,
  keyid text not null,
  jwk jsonb not null,
  primary key (address, keyid)
);

grant select, insert, update, delete on agent_directory, agent_key to svc_app;
